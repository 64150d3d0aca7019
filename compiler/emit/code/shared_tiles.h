// Tile functions that several steps have word for word: a network's layers often differ in their
// loops and their constants, not in what they do for one tile. Such a function is written once, in
// NAME_tiles.h. It stays an inlined one: a call for each tile would cost time. Functions of whole
// layers are shared before this (shared_bodies.h), which saves flash as well.
#pragma once

#include <string>
#include <vector>

#include "compiler/stage/recorder.h"

namespace etch {

// One step as the Recorder hands it over.
struct StepText {
  std::string name;                         // with which the names of its tile functions begin
  std::string kind;                         // with which those of shared ones begin
  std::vector<RecordedFunction> functions;  // tile functions, then its own
};

// Takes the tile functions that at least two of `steps` have out of them, renames what calls them
// and returns them, in the order of their first use. Their names tell kind and tile, and are told
// apart by a hash of the text where two of them differ in more than that.
std::vector<RecordedFunction> extract_shared_tiles(std::vector<StepText>& steps);

}  // namespace etch

// What a user probably meant who wrote a word that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace etch {

// The candidate with the fewest characters inserted, removed, replaced or exchanged with their
// neighbour (optimal string alignment), letters of either case alike; of several the first. Empty
// if more than a third of the word's characters, and more than one, would have to change.
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'WORD'?", or nothing where closest() finds nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace etch

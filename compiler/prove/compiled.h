// A network compiled again as a folder's was, and with other constants: what then differs shows
// which words of its arrays are biases and factors, and what these are for other factors.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/operand_views.h"
#include "compiler/program/step.h"
#include "compiler/prove/prove.h"

namespace etch::cli {

struct Compiled {
  Graph file;   // as imported
  Graph graph;  // after the passes
  OperandViewLog views;
  // Biases with tags, and scales twice as large; see find_words().
  std::unique_ptr<Program> program, tagged, doubled;
  // Where requantization is without floats: with kIntegerFactor, and with tagged biases, too.
  Graph set_graph;
  std::unique_ptr<Program> set, set_and_tagged;
  // With the second, third, ... of its factors for each product of two tensors.
  std::vector<std::unique_ptr<Program>> set_products;
  // With these factors for all layers of 16 bits, if there are any.
  std::vector<std::pair<float, std::unique_ptr<Program>>> set_words;
};

// Null after an error, or where that is not what the folder was made of.
std::unique_ptr<Compiled> compile_all(const ProofTask& task, Reporter& reporter);

bool is_without_floats(const Step& step);

// Null where there is none, or no program.
Step* step_named(const Program* program, const std::string& name);

// The code of a step without comments, which say how many channels have which formula, and with its
// own arrays: others are equal to another step's when all factors are one.
std::string statements_of(Step& step, const Program& program);

}  // namespace etch::cli

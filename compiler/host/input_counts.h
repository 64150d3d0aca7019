// Whether the number of executed instructions depends on the input: counted over many of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/host/network.h"
#include "compiler/host/reporter.h"
#include "compiler/ir/tensor.h"
#include "compiler/program/step.h"

namespace etch::cli {

// Of executed instructions.
struct CountRange {
  std::string name;  // "network", or of a step
  std::int64_t least = 0, most = 0;
};

// Input number `i` for a port: first all bytes alike, among them the least and the greatest values,
// then random ones.
Tensor varied_input(const Port& port, std::int64_t i);

// Of the network and each of its steps, over that many inputs. Null after an error.
std::optional<std::vector<CountRange>> count_inputs(const Network& network, std::int64_t inputs,
                                                    Reporter& reporter);

}  // namespace etch::cli

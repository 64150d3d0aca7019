// How a model is quantized, by counting what its nodes say. For people: nothing depends on it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace etch::cli {

struct Quantization {
  std::set<std::string> formats;           // "QDQ", "QOperator", "integer", "dynamic"
  std::map<std::string, int> activations;  // "uint8" -> tensors quantized to it
  std::map<std::string, int> weights;      // "int8 per channel" -> constant tensors
};

// `graph` as imported.
Quantization quantization_of(const Graph& graph);

// A sentence of the verdict, with what makes integers of a network that has none.
std::string with_advice(std::string_view sentence);

}  // namespace etch::cli

// A ConvInteger with constant weights, whose results are its sums, and layers of 16 bits, with the
// proof that steps compute them. Sums of 32 bits show themselves: nothing is substituted, only
// inputs are chosen. Those of 16 bits are shown by other biases and factors. docs/proof.md says
// what that shows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/prove/product_calls.h"
#include "compiler/prove/word_layer.h"

namespace etch::cli {

struct ConvSums {
  Layer layer;                       // without bias, factors and limits
  RunTimeProduct product;            // types, zero point and weights; no geometry
  std::optional<WordResults> words;  // of 16 bits; nothing: results are the sums
  bool rows = false;                 // tensors of any shape whose last axis are the channels
};

// Nothing, with the reason in `why`, for other nodes.
std::optional<ConvSums> conv_sums_of(const Graph& graph, const Node& node, std::string& why);

// The same of layers of 16 bits.
std::optional<ConvSums> word_sums_of(const Graph& graph, const Node& node, std::string& why);

// The parts of the proof: products, extremes, of 16 bits thresholds, random. Nothing, with the
// reason in `why`, where the step's tensors are not those of the layer.
std::optional<std::vector<PhaseResult>> prove_conv_sums(const ConvSums& sums,
                                                        const ProductSubject& subject,
                                                        const ProofRunner& runner, double most_work,
                                                        Reporter& reporter, std::string& why);

}  // namespace etch::cli

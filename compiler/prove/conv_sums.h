// A ConvInteger with constant weights, whose results are its sums, and the proof that steps compute
// it. Sums of 32 bits show themselves: nothing is substituted, only inputs are chosen.
// docs/proof.md says what that shows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/prove/product_calls.h"

namespace etch::cli {

struct ConvSums {
  Layer layer;             // without bias, factors and limits
  RunTimeProduct product;  // types, zero point and weights; no geometry
};

// Nothing, with the reason in `why`, for other nodes.
std::optional<ConvSums> conv_sums_of(const Graph& graph, const Node& node, std::string& why);

// The parts of the proof: products, extremes, random. Nothing, with the reason in `why`, where the
// step's tensors are not those of the layer.
std::optional<std::vector<PhaseResult>> prove_conv_sums(const ConvSums& sums,
                                                        const ProductSubject& subject,
                                                        const ProofRunner& runner, double most_work,
                                                        Reporter& reporter, std::string& why);

}  // namespace etch::cli

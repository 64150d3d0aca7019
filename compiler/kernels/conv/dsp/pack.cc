// See pack.h.
#include "compiler/kernels/conv/dsp/pack.h"

#include <numeric>
#include <utility>

#include "compiler/kernels/conv/dsp/stream.h"
#include "compiler/program/constants.h"
#include "compiler/program/requantization.h"

namespace etch {

namespace {

// What finish() reads, in the order of the channels.
ConstantArray pack_factors(const ConvProblem& problem, const IsaTraits& isa,
                           const PlannedDspConv& conv) {
  const Requantize& out = conv.plan.out;
  if (out.kind != Requantize::Kind::kInteger)
    return float_array("scale", problem.scale, "x_scale * w_scale / y_scale");
  std::vector<int> lanes(static_cast<std::size_t>(problem.geometry.out_channels));
  std::iota(lanes.begin(), lanes.end(), 0);
  return requantize_constants(conv.proof.requantized, out.integer, lanes, isa.lanes);
}

}  // namespace

ConstantArray pack_line(const SumLine& line, const AddResidual& add) {
  const auto offset = static_cast<std::uint64_t>(line.offset);
  const std::uint32_t own = add.residual_is_a ? line.b_factor : line.a_factor;
  const std::uint32_t other = add.residual_is_a ? line.a_factor : line.b_factor;
  std::vector<std::int32_t> words;
  for (const std::uint32_t word :
       {own, other, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32)}) {
    words.push_back(static_cast<std::int32_t>(word));
  }
  return int32_array("line", words,
                     "factors of both bytes and the offset of their sum, times a power of two");
}

PackedDspConv pack_dsp_conv(const ConvProblem& problem, const IsaTraits& isa,
                            const PlannedDspConv& conv) {
  PackedDspConv out;
  if (conv.line) out.constants.push_back(pack_line(*conv.line, *conv.plan.add));
  const PackedStream stream = pack_stream(problem, conv.plan, conv.proof.requantized);
  out.stream_words = stream.words_per_group;
  out.constants.push_back(int32_array("stream", stream.words,
                                      "per block of channels: biases, packed weights, factors"));
  if (conv.plan.finishes) out.constants.push_back(pack_factors(problem, isa, conv));
  return out;
}

}  // namespace etch

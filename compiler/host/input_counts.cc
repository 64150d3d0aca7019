// See input_counts.h.
#include "compiler/host/input_counts.h"

#include <algorithm>
#include <iterator>

#include "compiler/host/measure.h"

namespace etch::cli {

namespace {

// As floats: 0, the order of the greatest, of the least, and a negative number close to 0.
constexpr int kAlike[] = {0x00, 0x7F, 0xFE, 0x80};

}  // namespace

Tensor varied_input(const Port& port, std::int64_t i) {
  if (i >= std::ssize(kAlike)) return made_up(port, static_cast<std::uint32_t>(i));
  Tensor out(port.dtype, port.shape);
  // Of integers with more bits those are indices that no network takes.
  if (port.dtype == DType::kF32 || is_8bit(port.dtype))
    std::ranges::fill(out.mutable_bytes(), static_cast<std::byte>(kAlike[i]));
  return out;
}

std::optional<std::vector<CountRange>> count_inputs(const Network& network, std::int64_t inputs,
                                                    Reporter& reporter) {
  std::vector<CountRange> out = {{"network", 0, 0}};
  for (const auto& step : network.program().steps) out.push_back({step->name, 0, 0});
  for (std::int64_t i = 0; i < inputs; ++i) {
    std::vector<Tensor> sample;
    for (const Port& port : network.program().inputs) sample.push_back(varied_input(port, i));
    const std::optional<std::vector<std::int64_t>> counts = network.count(sample, reporter);
    if (!counts) return std::nullopt;
    for (std::size_t k = 0; k < out.size(); ++k) {
      out[k].least = i == 0 ? (*counts)[k] : std::min(out[k].least, (*counts)[k]);
      out[k].most = std::max(out[k].most, (*counts)[k]);
    }
  }
  return out;
}

}  // namespace etch::cli

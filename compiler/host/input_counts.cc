// See input_counts.h.
#include "compiler/host/input_counts.h"

#include <algorithm>
#include <iterator>

#include "compiler/host/measure.h"

namespace etch::cli {

namespace {

// Of one run of the program: to start an emulator can take longer than to execute an input, and
// runs have to end in time.
constexpr std::int64_t kMostInputs = 100, kMostMultiplications = 500'000'000;
// As floats: 0, the order of the greatest, of the least, and a negative number close to 0.
constexpr int kAlike[] = {0x00, 0x7F, 0xFE, 0x80};

std::int64_t inputs_of_a_run(const Program& program) {
  std::int64_t each = 1;
  for (const auto& step : program.steps) each += step->macs;
  return std::clamp<std::int64_t>(kMostMultiplications / each, 1, kMostInputs);
}

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
  const std::int64_t at_once = inputs_of_a_run(network.program());
  for (std::int64_t first = 0; first < inputs; first += at_once) {
    std::vector<std::vector<Tensor>> samples;
    for (std::int64_t i = first; i < std::min(inputs, first + at_once); ++i) {
      std::vector<Tensor>& sample = samples.emplace_back();
      for (const Port& port : network.program().inputs) sample.push_back(varied_input(port, i));
    }
    const auto counts = network.count(samples, reporter);
    if (!counts) return std::nullopt;
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (first == 0) out[k].least = counts->front()[k];
      for (const std::vector<std::int64_t>& each : *counts) {
        out[k].least = std::min(out[k].least, each[k]);
        out[k].most = std::max(out[k].most, each[k]);
      }
    }
  }
  return out;
}

}  // namespace etch::cli

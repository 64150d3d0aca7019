// The pipeline of a depthwise convolution along one axis for Helium; see lines.h.
#include "compiler/kernels/conv/helium/lines.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/helium/pack.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(MveLinesStep);

namespace {

constexpr int kVector = 16;   // taps
constexpr int kPixels = 8;    // of a tile: as many as there are sums
constexpr int kVectors = 16;  // of taps, at most
constexpr int kTogether = 8;  // channels

// ---- plan ----

// The axis that has all taps, of the three; the other two have one each.
struct AxisLine {
  ConvAxis along, across;
  std::int64_t x_along = 0, y_along = 0;  // bytes from position to position
  std::int64_t x_across = 0, y_across = 0;
};

bool is_plain(const ConvAxis& axis) {
  return axis.kernel == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
}

std::optional<AxisLine> line_of(const ConvProblem& problem) {
  if (problem.geometry.axes.size() > 2) return std::nullopt;
  const Axes3 axes = three_axes(problem);
  const int along = axes.axis[2].kernel > 1 ? 2 : 1;
  const int across = 3 - along;
  if (!is_plain(axes.axis[across]) || axes.axis[along].kernel == 1) return std::nullopt;
  return AxisLine{axes.axis[along],     axes.axis[across],     axes.x_stride[along],
                  axes.y_stride[along], axes.x_stride[across], axes.y_stride[across]};
}

// From the left padding on.
std::int64_t positions_read(const ConvAxis& axis) {
  return (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

// Of x.
std::int64_t positions_inside(const ConvAxis& axis) {
  return std::min(axis.in, positions_read(axis) - axis.pad_begin);
}

// All but functions.
MveLinesPlan sizes_of(const ConvProblem& problem, const AxisLine& line, const Requantize& out) {
  const ConvAxis& axis = line.along;
  const std::int64_t channels = problem.geometry.in_channels;
  MveLinesPlan p;
  p.images = static_cast<int>(problem.geometry.batch);
  p.lines = static_cast<int>(line.across.out);
  p.x_image = problem.x.stride[0];
  p.x_line = line.across.stride * line.x_across;
  p.y_image = problem.y.stride[0];
  p.y_line = line.y_across;
  p.y_phase = line.y_along;
  p.padding = problem.x_zero_point;
  p.pads = positions_inside(axis) < positions_read(axis);
  const std::int64_t phase_step = ceil_div(positions_read(axis), axis.dilation);
  const std::int64_t rounded = ceil_div(channels, kTogether) * kTogether;
  p.line = {static_cast<int>(positions_inside(axis)),
            static_cast<std::ptrdiff_t>(line.x_along),
            static_cast<int>(rounded),
            static_cast<std::ptrdiff_t>(axis.dilation * phase_step),
            static_cast<int>(axis.pad_begin % axis.dilation),
            static_cast<int>(axis.dilation),
            static_cast<std::ptrdiff_t>(phase_step)};
  p.start = p.line.first * phase_step + axis.pad_begin / axis.dilation;
  p.tile = {kPixels, static_cast<std::ptrdiff_t>(axis.stride), static_cast<int>(channels),
            p.line.channel_step, static_cast<int>(ceil_div(axis.kernel, kVector))};
  p.out = {false, out.zero_point, out.low, out.high,
           static_cast<std::ptrdiff_t>(axis.dilation * line.y_along)};
  // The last vector of taps may reach beyond its line.
  p.scratch_bytes = rounded * p.line.channel_step + std::int64_t{kVector} * p.tile.vectors;
  return p;
}

// Tiles of 8 pixels, of 4, and the rest.
MveLinePhases phases_of(std::int64_t first, std::int64_t count, std::int64_t pixels) {
  MveLinePhases out{static_cast<int>(first), static_cast<int>(count), {}};
  std::int64_t done = 0;
  const auto add = [&](std::int64_t tiles, std::int64_t size) {
    if (tiles == 0) return;
    out.tiles.push_back({static_cast<int>(tiles), static_cast<int>(size), done, ""});
    done += tiles * size;
  };
  add(pixels / kPixels, kPixels);
  add((pixels - done) / 4, 4);
  if (pixels > done) add(1, pixels - done);
  return out;
}

std::vector<MveLinePhases> phases_of(const ConvAxis& axis) {
  const std::int64_t longer = axis.out % axis.dilation, pixels = axis.out / axis.dilation;
  std::vector<MveLinePhases> out;
  if (longer > 0) out.push_back(phases_of(0, longer, pixels + 1));
  if (pixels > 0) out.push_back(phases_of(longer, axis.dilation - longer, pixels));
  return out;
}

// ---- pack ----

void append(const ConvProblem& problem, std::int64_t m, int vectors,
            std::vector<std::int32_t>& stream) {
  const auto weight = [&](std::int64_t tap) {
    return tap < problem.taps() ? problem.weight(m, tap, 0) : 0;
  };
  for (std::int64_t first = 0; first < std::int64_t{kVector} * vectors; first += 4) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i)
      word |= (static_cast<std::uint32_t>(weight(first + i)) & 0xffU) << (8 * i);
    stream.push_back(static_cast<std::int32_t>(word));
  }
  stream.push_back(mve_depthwise_bias(problem, m));
  stream.push_back(std::bit_cast<std::int32_t>(problem.scale[static_cast<std::size_t>(m)]));
}

// ---- describe ----

Description describe(const ConvProblem& problem, const MveLinesPlan& p) {
  Description out;
  out.macs = problem.macs();
  out.schedule = cat(counted(p.tile.pixels, "pixel"), " of a line in assembly");
  out.facts.push_back(cat("lines of x are split into channels in ",
                          counted(p.scratch_bytes, "byte"), " of scratch memory"));
  return out;
}

}  // namespace

bool mve_lines_serve(const ConvProblem& problem, const IsaTraits& isa) {
  const bool narrow = std::all_of(problem.weights.begin(), problem.weights.end(),
                                  [](int w) { return w >= -128 && w <= 127; });
  if (isa.assembly != Assembly::kMve || !is_depthwise(problem) || problem.scale.empty() || !narrow)
    return false;
  const std::optional<AxisLine> line = line_of(problem);
  if (!line || (line->along.stride > 1 && line->along.dilation > 1)) return false;
  constexpr std::int64_t kFewTaps = 5, kFewLines = 4;
  return line->along.kernel >= kFewTaps || line->along.dilation > 1 ||
         (line->along.kernel > 2 && line->across.out < kFewLines);
}

std::unique_ptr<MveLinesStep> make_mve_lines_step(const ConvProblem& problem,
                                                  const IsaTraits& isa) {
  const AxisLine line = line_of(problem).value();
  RangeProof proof = prove_range(problem, isa);
  if (proof.out.kind == Requantize::Kind::kInteger || positions_inside(line.along) <= 0 ||
      ceil_div(line.along.kernel, kVector) > kVectors)
    return nullptr;
  auto step = std::make_unique<MveLinesStep>();
  step->kind = "depthwise";
  MveLinesPlan& p = step->plan;
  p = sizes_of(problem, line, proof.out);
  MveLineConv conv{p.tile, p.out};
  if (!fits(conv) || !fits(p.line)) return nullptr;
  p.split = use(mve_split_line(p.line), step->assembly);
  p.phases = phases_of(line.along);
  for (MveLinePhases& phases : p.phases) {
    for (MveLineTiles& tiles : phases.tiles) {
      conv.tile.pixels = tiles.pixels;
      tiles.function = use(mve_line_tile(conv), step->assembly);
    }
  }
  std::vector<std::int32_t> stream;
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m)
    append(problem, m, p.tile.vectors, stream);
  p.stream_words = static_cast<std::int64_t>(stream.size());
  Description description = describe(problem, p);
  assemble(*step, std::move(proof),
           {int32_array("stream", stream, "per channel: packed weights, bias, scale")},
           std::move(description));
  return step;
}

}  // namespace etch

// The pipeline of a depthwise convolution along one axis for Helium; see lines.h.
#include "compiler/kernels/conv/helium/lines.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/helium/parts.h"
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

constexpr std::int64_t kFewChannels = 16;  // of a block for --optimize ram

// ---- plan ----

std::int64_t phase_step_of(const ConvAxis& axis) {
  return ceil_div(positions_read(axis), axis.dilation);
}

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

// All but blocks and their functions.
MveLinesPlan sizes_of(const ConvProblem& problem, const AxisLine& line, const Requantize& out) {
  const ConvAxis& axis = line.along;
  MveLinesPlan p;
  p.images = static_cast<int>(problem.geometry.batch);
  p.lines = static_cast<int>(line.across.out);
  p.x_image = problem.x.stride[0];
  p.x_line = line.across.stride * line.x_across;
  p.y_image = problem.y.stride[0] / bytes_of(problem.y.dtype);
  p.y_line = line.y_across;
  p.y_phase = line.y_along;
  p.padding = problem.x_zero_point;
  p.pads = positions_inside(axis) < positions_read(axis);
  p.start = axis.pad_begin % axis.dilation * phase_step_of(axis) + axis.pad_begin / axis.dilation;
  p.out = mve_store(out, axis.dilation * line.y_along);
  return p;
}

// All but functions and phases.
MveLineBlocks block_of(const ConvProblem& problem, const AxisLine& line, std::int64_t first,
                       std::int64_t count, std::int64_t channels) {
  const ConvAxis& axis = line.along;
  const std::int64_t phase_step = phase_step_of(axis);
  MveLineBlocks b;
  b.first = static_cast<int>(first);
  b.count = static_cast<int>(count);
  b.line = {static_cast<int>(positions_inside(axis)),
            static_cast<std::ptrdiff_t>(line.x_along),
            static_cast<int>(round_up(channels, kTogether)),
            static_cast<std::ptrdiff_t>(axis.dilation * phase_step),
            static_cast<int>(axis.pad_begin % axis.dilation),
            static_cast<int>(axis.dilation),
            static_cast<std::ptrdiff_t>(phase_step)};
  b.tile = {kPixels,
            static_cast<std::ptrdiff_t>(axis.stride),
            static_cast<int>(channels),
            b.line.channel_step,
            static_cast<int>(ceil_div(axis.kernel, kVector)),
            mve_parts(problem)};
  return b;
}

// All channels at once, or few where memory counts more than the instructions around each call.
std::vector<MveLineBlocks> blocks_of(const ConvProblem& problem, const AxisLine& line,
                                     const IsaTraits& isa) {
  const std::int64_t channels = problem.geometry.in_channels;
  const std::int64_t most = isa.objective == Objective::kRam ? kFewChannels : channels;
  std::vector<MveLineBlocks> out;
  const std::int64_t whole = channels / most;
  if (whole > 0) out.push_back(block_of(problem, line, 0, whole, most));
  const std::int64_t rest = channels % most;
  if (rest > 0) out.push_back(block_of(problem, line, channels - rest, 1, rest));
  return out;
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

// Adds the functions; false where one would be out of reach.
bool add_functions(const ConvAxis& axis, const rt::MveStore& out, MveLineBlocks& block,
                   std::vector<AssemblyFunction>& assembly) {
  MveLineConv conv{block.tile, out};
  if (!fits(conv) || !fits(block.line)) return false;
  block.stream_words = conv.stream_words();
  block.stream = std::int64_t{block.first} * conv.channel_words();
  block.split = use(mve_split_line(block.line), assembly);
  block.phases = phases_of(axis);
  for (MveLinePhases& phases : block.phases) {
    for (MveLineTiles& tiles : phases.tiles) {
      conv.tile.pixels = tiles.pixels;
      tiles.function = use(mve_line_tile(conv), assembly);
    }
  }
  return true;
}

// False where an offset would be out of reach, or the scratch memory too large.
bool add_blocks(const ConvProblem& problem, const AxisLine& line, const IsaTraits& isa,
                MveLinesStep& step) {
  MveLinesPlan& p = step.plan;
  p.blocks = blocks_of(problem, line, isa);
  for (MveLineBlocks& block : p.blocks) {
    if (!add_functions(line.along, p.out, block, step.assembly)) return false;
    // The last vector of taps may reach beyond its line.
    p.scratch_bytes = std::max(p.scratch_bytes, block.line.channels * block.line.channel_step +
                                                    std::int64_t{kVector} * block.tile.vectors);
  }
  return p.scratch_bytes <= INT32_MAX;
}

// ---- pack ----

void append(const ConvProblem& problem, std::int64_t m, const rt::MveLineTile& tile,
            std::vector<std::int32_t>& stream) {
  const auto weight = [&](std::int64_t tap, int part) {
    return tap < problem.taps() ? mve_part(problem.weight(m, tap, 0), part) : 0;
  };
  for (int i = 0; i < tile.vectors * tile.parts; ++i) {
    for (int word = 0; word < kVector / 4; ++word) {
      std::uint32_t bits = 0;
      for (int byte = 0; byte < 4; ++byte) {
        const int w = weight(i / tile.parts * kVector + 4 * word + byte, i % tile.parts);
        bits |= (static_cast<std::uint32_t>(w) & 0xffU) << (8 * byte);
      }
      stream.push_back(static_cast<std::int32_t>(bits));
    }
  }
  append_mve_factors(problem, m, stream);
}

// ---- describe ----

Description describe(const ConvProblem& problem, const MveLinesPlan& p) {
  Description out;
  out.macs = problem.macs();
  out.schedule = cat(counted(kPixels, "pixel"), " of a line in assembly");
  out.facts.push_back(cat("lines of x are split into channels in ",
                          counted(p.scratch_bytes, "byte"), " of scratch memory"));
  return out;
}

}  // namespace

bool mve_lines_serve(const ConvProblem& problem, const IsaTraits& isa) {
  if (isa.assembly != Assembly::kMve || !is_depthwise(problem) || problem.weights.empty())
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
  step->plan = sizes_of(problem, line, proof.out);
  if (!add_blocks(problem, line, isa, *step)) return nullptr;
  std::vector<std::int32_t> stream;
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m)
    append(problem, m, step->plan.blocks.front().tile, stream);
  Description description = describe(problem, step->plan);
  assemble(*step, std::move(proof),
           {int32_array("stream", stream, "per channel: packed weights, bias, scale")},
           std::move(description));
  return step;
}

}  // namespace etch

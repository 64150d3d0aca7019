// Which convolutions read zeros in place of the padding: tiles of pixels wherever they are, and
// lines of depthwise ones; see plan.h.
#include <algorithm>

#include "compiler/kernels/products/floats/plan.h"
#include "runtime/etch_float_indirect.h"

namespace etch {

namespace {

// Cycles, estimated, of a tile of `pixels` of four vectors per weight of a column: products and
// sums, or the time that weights take to arrive, from a second-level cache where they are many (AMD
// EPYC: two tiles of 2 and 1 pixels take as long as two of 6).
struct TileCosts {
  int least;
  double of(int pixels) const { return 1 + std::max(4 * pixels, least); }
};

TileCosts costs_of(const rt::FloatConvShape& s) {
  constexpr std::int64_t kFirstLevel = 24 << 10;
  const std::int64_t panel = std::int64_t{s.axis[1].kernel} * s.axis[2].kernel * s.in *
                             std::min(s.out, rt::kPanel) * std::int64_t{sizeof(float)};
  return {panel > kFirstLevel ? 20 : 8};
}

// Of `n` neighbours, in tiles of `most` and smaller ones (next_pixels()).
double cycles_of_neighbours(const TileCosts& costs, int n, int most) {
  double cycles = 0;
  for (int pixels = most; pixels >= 1; pixels = pixels > 4 ? 4 : pixels / 2) {
    const int tiles = n / pixels;
    cycles += tiles * costs.of(pixels);
    n %= pixels;
  }
  return cycles;
}

double cycles_of_even_tiles(const TileCosts& costs, std::int64_t n, int most) {
  const std::int64_t tiles = (n + most - 1) / most, larger = n % tiles;
  const auto pixels = static_cast<int>(n / tiles);
  return static_cast<double>(larger) * costs.of(pixels + 1) +
         static_cast<double>(tiles - larger) * costs.of(pixels);
}

// Of all positions of two axes per weight of a tap, times the taps inside, as float_conv() goes
// about it.
double cycles_of_rows(const TileCosts& costs, const rt::FloatConvShape& s, int most) {
  const rt::ConvAxis &lines = s.axis[1], &line = s.axis[2];
  const rt::Interior across = rt::interior_of(line, false), down = rt::interior_of(lines, false);
  const bool turned = rt::has_turned_border(s, {1, 1, 0, 1, 0}, across);
  const double inner = cycles_of_neighbours(costs, across.last - across.first, most) * line.kernel;
  double border = 0;  // taps inside at positions of a line beside the inner ones
  for (int w = 0; w < line.out; ++w) {
    if (w < across.first || w >= across.last) border += rt::taps_inside(line, false, w).count;
  }
  double cycles = 0;
  for (int h = 0; h < lines.out; ++h) {
    const bool alone = !turned || h < down.first || h >= down.last;
    cycles += rt::taps_inside(lines, false, h).count * (inner + (alone ? border * costs.of(1) : 0));
  }
  if (turned)
    cycles += cycles_of_neighbours(costs, down.last - down.first, most) * lines.kernel * border;
  return cycles;
}

}  // namespace

bool takes_indirect_tiles(const FloatProductPlan& plan, int lanes) {
  const rt::FloatConvShape& s = plan.shape;
  const rt::ConvAxis &lines = s.axis[1], &line = s.axis[2];
  const std::int64_t outputs = std::int64_t{lines.out} * line.out;
  const bool follow = lines.out == 1 || lines.y_step == line.out * line.y_step;
  if (plan.kind != FloatProductKind::kColumns || s.transposed || !has_images(s) || !follow ||
      s.x_channel != 1 || s.panel != 0 || outputs < rt::kLeastIndirect)
    return false;
  const int most = lanes >= 16 ? 6 : (lanes >= 8 ? 3 : 2);
  const double taps = double{1} * lines.kernel * line.kernel;
  // An address per pixel and tap.
  const double addresses = 2.5 * static_cast<double>(outputs) * taps / s.in;
  const TileCosts costs = costs_of(s);
  return cycles_of_even_tiles(costs, outputs, most) * taps + addresses <
         0.95 * cycles_of_rows(costs, s, most);
}

bool takes_depthwise_lines(const FloatProductPlan& plan) {
  const rt::FloatConvShape& s = plan.shape;
  const rt::ConvAxis& a = s.axis[2];
  constexpr int kLeastChannels = 4, kLeastOutputs = 3;
  return plan.kind == FloatProductKind::kDepthwise && has_images(s) && !s.transposed &&
         (a.kernel == 3 || a.kernel == 5 || a.kernel == 7) && a.stride <= 2 && a.dilation == 1 &&
         s.group >= kLeastChannels && a.out >= kLeastOutputs;
}

}  // namespace etch

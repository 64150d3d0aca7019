// See dsp_winograd.h.
#include "compiler/kernels/conv/winograd/winograd.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/winograd/functions.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(DspWinogradStep);

namespace {

constexpr int kPositions = 16;
constexpr int kColumns = DspWinogradPlan::kColumns;

bool is_3x3(const ConvGeometry& g) {
  return g.axes.size() == 2 && g.group == 1 &&
         std::all_of(g.axes.begin(), g.axes.end(), [](const ConvAxis& axis) {
           return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
         });
}

// Sums wrap on the way, but four times the sum of products has to be an int32 to be divided.
bool fits_four_times(const ConvProblem& problem) {
  const std::int64_t terms = problem.taps() * problem.geometry.in_per_group();
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < terms; ++i)
      sum += std::abs(problem.weights[static_cast<std::size_t>(m * terms + i)]);
    if (4 * 255 * sum > std::numeric_limits<std::int32_t>::max()) return false;
  }
  return true;
}

std::int64_t row_bytes_of(const ConvGeometry& g) {
  return (ceil_div(g.axes[1].out, kColumns) * kColumns + 2) * g.in_channels;
}

bool is_served(const ConvProblem& problem, const DspConvPlan& direct) {
  const ConvGeometry& g = problem.geometry;
  const Axes3 axes = three_axes(problem);
  const std::int64_t in = g.in_channels;
  return direct.form == DspConvPlan::Form::kTiles && direct.halves &&
         direct.store.result != rt::kDspInt32 && in % 4 == 0 && in <= kMostWinogradChannels &&
         g.out_channels % 2 == 0 && axes.x_stride[2] == in &&
         3 * row_bytes_of(g) + 3 * in <= kWinogradReach &&
         axes.y_stride[1] + axes.y_stride[2] <= kWinogradReach &&
         axes.r_stride[1] + axes.r_stride[2] + 1 <= kWinogradReach && fits_four_times(problem);
}

// Instructions except those that both have: loops of compiler/kernels/conv/dsp/tile_function.cc and
// gather_function.cc, and those of functions.cc beside this file.
bool is_faster(const ConvGeometry& g) {
  const std::int64_t in = g.in_channels, pairs = g.out_channels / 2;
  const std::int64_t rows = g.axes[0].out, columns = g.axes[1].out;
  const std::int64_t direct = rows * ceil_div(columns, 4) * (36 * in + pairs * (117 * in / 2));
  const std::int64_t tiles = ceil_div(rows, 2) * ceil_div(columns, 2);
  const std::int64_t fours = ceil_div(rows, 2) * ceil_div(columns, kColumns);
  const std::int64_t winograd =
      fours * (168 * in + pairs * kPositions * (11 * in / 2 + 4)) + tiles * pairs * 75;
  return winograd < direct;
}

class Builder {
 public:
  Builder(const ConvProblem& problem, const DspConvStep& direct)
      : problem_(problem), direct_(direct), axes_(three_axes(problem)) {}

  std::unique_ptr<DspWinogradStep> build() {
    step_ = std::make_unique<DspWinogradStep>();
    take_over();
    add_sizes();
    add_pairs();
    add_functions();
    pack();
    add_overlap();
    return std::move(step_);
  }

 private:
  DspWinogradPlan& plan() { return step_->plan; }
  const ConvAxis& rows() const { return axes_.axis[1]; }
  const ConvAxis& cols() const { return axes_.axis[2]; }

  void take_over() {
    step_->kind = direct_.kind;
    step_->macs = direct_.macs;
    step_->accumulators = direct_.accumulators;
    step_->requantized = direct_.requantized;
    step_->facts = direct_.facts;
    std::erase_if(step_->facts, [](const std::string& fact) {
      return fact.find("rows are copied") != std::string::npos;
    });
    for (const ConstantArray& each : direct_.constants) {
      if (each.suffix == "line") step_->constants.push_back(each);
    }
    step_->schedule = "Winograd F(2x2, 3x3), 4 tiles x 2 channels in assembly";
    step_->facts.emplace_back(
        "weights are transformed to 16 per 9, four times the sum of products fits int32: exact");
  }

  void add_sizes() {
    DspWinogradPlan& p = plan();
    const ConvGeometry& g = problem_.geometry;
    p.images = static_cast<int>(g.batch);
    p.x_image = problem_.x.stride[0];
    p.y_image = problem_.y.stride[0];
    p.r_image = problem_.residual ? problem_.residual->view.stride[0] : 0;
    p.columns = static_cast<int>(cols().out);
    p.in = static_cast<int>(g.in_channels);
    p.out = static_cast<int>(g.out_channels);
    p.y_step = axes_.y_stride[2];
    p.y_row = axes_.y_stride[1];
    p.r_step = axes_.r_stride[2];
    p.r_row = axes_.r_stride[1];
    p.row_bytes = row_bytes_of(g);
    p.left = cols().pad_begin * p.in;
    p.copied = std::clamp<std::int64_t>(cols().out + 2 - cols().pad_begin, 0, cols().in) * p.in;
    p.padding = problem_.x_zero_point;
    p.store = direct_.plan.store;
    p.line = direct_.plan.line;
    p.zero_point = direct_.plan.out.zero_point;
    p.rows = p.line ? 2 : 1;
    p.transformed = p.rows + 1;
    p.y = p.rows + 2;
    step_->rows_bytes = 4 * p.row_bytes;
    step_->transformed_words = kPositions * p.position_words();
  }

  // Pairs of rows one below the other that read the same of their four rows of x.
  void add_pairs() {
    DspWinogradPlan& p = plan();
    for (std::int64_t first = 0; first < rows().out; first += 2) {
      DspWinogradPlan::Pairs each;
      each.rows = static_cast<int>(std::min<std::int64_t>(2, rows().out - first));
      for (int row = 0; row < each.rows + 2 && p.copied > 0; ++row) {
        const std::int64_t at = first - rows().pad_begin + row;
        if (at >= 0 && at < rows().in)
          each.segment.kernel_rows.emplace_back(row, at * axes_.x_stride[1]);
      }
      each.segment.y_first = first * p.y_row;
      each.segment.r_first = first * p.r_row;
      each.segment.x_advance = 2 * axes_.x_stride[1];
      if (!p.pairs.empty() && continues(p.pairs.back(), each)) {
        ++p.pairs.back().segment.rows;
      } else {
        p.pairs.push_back(std::move(each));
      }
    }
  }

  static bool continues(const DspWinogradPlan::Pairs& before, const DspWinogradPlan::Pairs& next) {
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    return before.rows == next.rows &&
           std::equal(before.segment.kernel_rows.begin(), before.segment.kernel_rows.end(),
                      next.segment.kernel_rows.begin(), next.segment.kernel_rows.end(), same);
  }

  std::string use(AssemblyFunction function) {
    std::string name = function.name;
    const bool known = std::any_of(step_->assembly.begin(), step_->assembly.end(),
                                   [&](const AssemblyFunction& each) { return each.name == name; });
    if (!known) step_->assembly.push_back(std::move(function));
    return name;
  }

  void add_functions() {
    DspWinogradPlan& p = plan();
    if (p.copied > 0) {
      const bool aligned = axes_.x_stride[1] % 4 == 0 && p.x_image % 4 == 0 &&
                           problem_.x.offset % 4 == 0;  // and whole pixels are
      p.copy = use(dsp_copy({p.copied, aligned}));
    }
    p.input = use(winograd_input({p.in, p.row_bytes}));
    for (DspWinogradPlan::Pairs& each : p.pairs) {
      if (p.whole() > 0) each.multiply = use(tiles(each.rows, kColumns));
      if (p.rest() > 0) each.last = use(tiles(each.rows, p.rest()));
    }
  }

  AssemblyFunction tiles(int rows, int columns) const {
    const DspWinogradPlan& p = step_->plan;
    WinogradTiles out{p.in, p.out, rows, columns, p.y_row, p.r_row, direct_.epilogue, std::nullopt};
    if (p.line) out.residual = DspResidual{p.line->step, p.line->low, p.line->high, p.line->shift};
    return winograd_tiles(out);
  }

  // (2G) g (2G)^T, position after position down the columns.
  int transformed(std::int64_t m, std::int64_t c, int position) const {
    constexpr int kTwiceG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
    int sum = 0;
    for (int row = 0; row < 3; ++row) {
      for (int col = 0; col < 3; ++col) {
        sum += kTwiceG[position % 4][row] * kTwiceG[position / 4][col] *
               problem_.weight(m, 3 * row + col, c);
      }
    }
    return sum;
  }

  // Biases and factors are those of the direct stream, after the weights of each block.
  void pack() {
    const auto direct =
        std::find_if(direct_.constants.begin(), direct_.constants.end(),
                     [](const ConstantArray& each) { return each.suffix == "stream"; });
    ETCH_CHECK(direct != direct_.constants.end());
    const auto word = [&](std::int64_t at) {
      std::uint32_t out = 0;
      for (std::int64_t i = 3; i >= 0; --i)
        out = out << 8 |
              std::to_integer<std::uint32_t>(direct->bytes[static_cast<std::size_t>(4 * at + i)]);
      return static_cast<std::int32_t>(out);
    };
    const std::int64_t blocks = plan().out / 2;
    const std::int64_t block = std::ssize(direct->bytes) / 4 / blocks;
    const std::int64_t factors = plan().store.result == rt::kDspFloat ? 2 : 8;
    std::vector<std::int32_t> stream;
    for (std::int64_t b = 0; b < blocks; ++b) {
      for (int position = 0; position < kPositions; ++position)
        pack_position(stream, 2 * b, position);
      for (std::int64_t i = 0; i < 2; ++i) stream.push_back(word(b * block + i));
      for (std::int64_t i = 0; i < factors; ++i)
        stream.push_back(word((b + 1) * block - factors + i));
    }
    plan().stream_words = std::ssize(stream);
    step_->constants.push_back(int32_array(
        "stream", stream, "per two channels: transformed weights by position, biases, factors"));
  }

  void pack_position(std::vector<std::int32_t>& stream, std::int64_t first, int position) const {
    for (int pair = 0; pair < step_->plan.in / 2; ++pair) {
      const std::int64_t c = pair / 2 * 4 + pair % 2;
      for (std::int64_t m = first; m < first + 2; ++m) {
        const auto low = static_cast<std::uint32_t>(transformed(m, c, position));
        const auto high = static_cast<std::uint32_t>(transformed(m, c + 2, position));
        stream.push_back(static_cast<std::int32_t>((low & 0xffff) | high << 16));
      }
    }
  }

  // All that a pair of rows reads is copied before it is written.
  void add_overlap() {
    const DspWinogradPlan& p = plan();
    if (p.images > 1 || p.copied == 0) return;
    std::int64_t distance = -p.x_image - 4 * p.row_bytes;
    std::int64_t unread = std::numeric_limits<std::int64_t>::max();
    for (auto each = p.pairs.rbegin(); each != p.pairs.rend(); ++each) {
      for (int pair = each->segment.rows - 1; pair >= 0; --pair) {
        const std::int64_t y = each->segment.y_first + pair * 2 * p.y_row +
                               (each->rows - 1) * p.y_row + (p.columns - 1) * p.y_step + p.out;
        if (unread != std::numeric_limits<std::int64_t>::max())
          distance = std::max(distance, y - unread);
        for (const auto& [row, offset] : each->segment.kernel_rows)
          unread = std::min(unread, offset + pair * each->segment.x_advance);
      }
    }
    step_->overlaps.push_back({p.y, 0, distance + problem_.y.offset - problem_.x.offset});
    if (!p.line || p.r_step != p.y_step || p.r_row != p.y_row) return;
    // While a row is written, the row above may still be unread, of the same four tiles.
    const std::int64_t ahead = p.y_row + kColumns * p.y_step;
    step_->overlaps.push_back({p.y, 1, ahead + problem_.y.offset - problem_.residual->view.offset});
  }

  const ConvProblem& problem_;
  const DspConvStep& direct_;
  Axes3 axes_;
  std::unique_ptr<DspWinogradStep> step_;
};

}  // namespace

bool dsp_winograd_serves(const ConvProblem& problem, const IsaTraits& isa) {
  return isa.objective == Objective::kSpeed && isa.assembly == Assembly::kDsp &&
         dsp_conv_serves(problem, isa) && is_3x3(problem.geometry) && is_faster(problem.geometry);
}

std::unique_ptr<DspWinogradStep> make_dsp_winograd_step(const ConvProblem& problem,
                                                        const DspConvStep& direct) {
  if (!is_served(problem, direct.plan)) return nullptr;
  return Builder(problem, direct).build();
}

}  // namespace etch

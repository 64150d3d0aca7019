// See dsp_conv.h.
#include "compiler/kernels/conv/dsp/conv.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/dsp/mla.h"
#include "compiler/kernels/conv/dsp/overlap.h"
#include "compiler/kernels/conv/dsp/stream.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/regions.h"
#include "compiler/program/constants.h"
#include "compiler/program/requantization.h"
#include "compiler/program/requantize/sum_line.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(DspConvStep);

namespace {

using Form = DspConvPlan::Form;
using Result = DspEpilogue::Result;

bool is_per_channel(const ConvGeometry& g) {
  return g.group > 1 && g.group == g.in_channels && g.out_channels == g.in_channels;
}

// Whether the taps of a kernel row are contiguous.
bool has_whole_rows(const ConvProblem& problem) {
  const ConvAxis& axis = problem.geometry.axes.back();
  return axis.kernel == 1 ||
         (axis.dilation == 1 && problem.x.stride.back() == problem.geometry.in_per_group());
}

// What tiles need that read x in place: runs at one distance, pixels within reach.
bool is_direct(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  const std::int64_t x_step = problem.x.stride.back() * g.axes.back().stride;
  return 3 * x_step <= kMostMlaReach && (is_per_channel(g) || has_whole_rows(problem) ||
                                         g.axes.size() == 1 || g.axes.front().kernel == 1);
}

bool is_served(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  const bool narrow = std::all_of(problem.weights.begin(), problem.weights.end(),
                                  [](int w) { return w >= -128 && w <= 127; });
  const bool channels_last =
      problem.x.stride[1] == 1 && problem.y.stride[1] == bytes_of(problem.y.dtype);
  // One channel per group wastes half of every product except in the kernel made for it.
  const bool grouped = g.group == 1 || (is_per_channel(g) && g.in_channels % 4 == 0) ||
                       (g.in_per_group() >= 4 && g.out_per_group() >= 2);
  // Each band of rows that see the same taps has statements of its own.
  constexpr std::size_t kMostBands = 512;
  const auto is_simple = [](const ConvAxis& axis) {
    return count_segments(axis, ConvDirection::kForward, 0, 0, kMostBands).segments <= kMostBands;
  };
  return g.direction == ConvDirection::kForward && g.axes.size() <= 2 && narrow && channels_last &&
         grouped && (g.axes.size() < 2 || is_simple(g.axes[0]));
}

class Builder {
 public:
  Builder(const ConvProblem& problem, const IsaTraits& isa)
      : problem_(problem), isa_(isa), axes_(three_axes(problem)) {}

  std::unique_ptr<DspConvStep> build() {
    step_ = std::make_unique<DspConvStep>();
    plan().out = problem_.out;
    prove_range(problem_, isa_, plan().out, *step_);
    choose_form();
    add_loops();
    add_rows();
    flatten();
    choose_result();
    choose_gather();
    add_functions();
    number_operands();
    pack();
    pack_factors();
    describe();
    add_overlaps();
    step_->epilogue = epilogue_;
    return std::move(step_);
  }

 private:
  DspConvPlan& plan() { return step_->plan; }
  const ConvGeometry& geometry() const { return problem_.geometry; }
  const ConvAxis& rows() const { return axes_.axis[1]; }
  const ConvAxis& cols() const { return axes_.axis[2]; }
  std::int64_t y_bytes() const { return bytes_of(problem_.y.dtype); }

  void choose_form() {
    const bool per_channel = is_per_channel(geometry());
    std::int64_t pixels = 1;
    for (const ConvAxis& axis : geometry().axes) pixels *= axis.out;
    plan().halves = isa_.assembly == Assembly::kDsp;
    plan().form = per_channel      ? Form::kDepthwise
                  : !plan().halves ? Form::kDirect
                  : pixels == 1    ? Form::kRow
                                   : Form::kTiles;
    step_->kind = per_channel ? "depthwise" : "conv";
    plan().channels =
        static_cast<int>(per_channel ? geometry().out_channels : geometry().out_per_group());
    if (problem_.residual) plan().add = problem_.residual->add;
  }

  void add_loops() {
    const auto r_stride = [&](std::size_t d) {
      return problem_.residual ? problem_.residual->view.stride[d] : 0;
    };
    if (geometry().batch > 1) {
      plan().axes.push_back({"image", static_cast<int>(geometry().batch), problem_.x.stride[0],
                             problem_.y.stride[0] / y_bytes(), r_stride(0), false});
    }
    if (geometry().group > 1 && plan().form != Form::kDepthwise) {
      plan().axes.push_back({"group", static_cast<int>(geometry().group), geometry().in_per_group(),
                             geometry().out_per_group(), geometry().out_per_group() * r_stride(1),
                             true});
    }
  }

  // Columns of x that a row of the output reads, from the left padding on.
  std::int64_t columns_read() const {
    return (cols().out - 1) * cols().stride + (cols().kernel - 1) * cols().dilation + 1;
  }

  void add_rows() {
    DspConvPlan& p = plan();
    const std::vector<Segment> down = plan_segments(rows(), ConvDirection::kForward, 0, 0);
    const std::vector<Segment> across = plan_segments(cols(), ConvDirection::kForward, 0, 0, 1);
    p.copies = down.size() > 1 || across.size() > 1 ||
               std::ssize(down.front().taps) < rows().kernel ||
               std::ssize(across.front().taps) < cols().kernel;
    p.kernel_rows = static_cast<int>(rows().kernel);
    p.padding = problem_.x_zero_point;
    p.columns = static_cast<int>(cols().out);
    p.x_step = cols().stride * axes_.x_stride[2];
    p.y_step = axes_.y_stride[2];
    p.y_row = axes_.y_stride[1];
    p.r_step = axes_.r_stride[2];
    p.r_row = axes_.r_stride[1];
    for (const Segment& segment : down) add_segment(segment);
    p.row_bytes = p.copies ? 0 : rows().dilation * axes_.x_stride[1];
    if (p.copies) lay_out_copies();
  }

  void add_segment(const Segment& segment) {
    DspSegment out;
    out.rows = static_cast<int>(segment.count);
    out.y_first = segment.first * axes_.y_stride[1];
    out.r_first = segment.first * axes_.r_stride[1];
    out.x_advance = segment.advance * axes_.x_stride[1];
    for (const SegmentTap& tap : segment.taps)
      out.kernel_rows.emplace_back(tap.kernel, tap.input * axes_.x_stride[1]);
    plan().segments.push_back(std::move(out));
  }

  // Only whole pixels are copied: of a group its own channels would do, but rows are as cheap.
  void lay_out_copies() {
    DspConvPlan& p = plan();
    const std::int64_t pixel = axes_.x_stride[2];
    const std::int64_t inside =
        std::clamp<std::int64_t>(columns_read() - cols().pad_begin, 0, cols().in);
    p.copied = inside == 0 ? 0
                           : (inside - 1) * pixel +
                                 geometry().in_per_group() *
                                     (plan().form == Form::kDepthwise ? geometry().group : 1);
    p.left = cols().pad_begin * pixel;
    p.row_bytes = round_up(columns_read() * pixel, 4);
    p.rows_bytes = p.kernel_rows * p.row_bytes;
    if (inside == 0) {
      for (DspSegment& segment : p.segments) segment.kernel_rows.clear();
    }
  }

  static std::int64_t round_up(std::int64_t value, std::int64_t to) {
    return (value + to - 1) / to * to;
  }

  // Rows that follow each other without a gap are one row.
  void flatten() {
    DspConvPlan& p = plan();
    const bool dense = p.columns * p.x_step == p.segments.front().x_advance &&
                       p.columns * p.y_step == p.y_row && p.columns * p.r_step == p.r_row;
    if (p.copies || p.segments.size() != 1 || !dense) return;
    p.columns *= p.segments.front().rows;
    p.segments.front().rows = 1;
  }

  // The assembly rounds if floats do or one product and a shift serve every channel.
  void choose_result() {
    DspConvPlan& p = plan();
    const bool float_kind =
        p.out.kind == Requantize::Kind::kFloat || p.out.kind == Requantize::Kind::kFloatClamp;
    const bool high = p.out.kind == Requantize::Kind::kInteger && p.out.integer.high &&
                      p.out.integer.exceptions == 0 && !p.out.integer.emulated;
    const bool rounds = (p.halves && float_kind) || high;
    if (p.add && rounds) find_line();
    p.finishes = (p.add && !p.line) || (p.out.kind != Requantize::Kind::kInt32 && !rounds);
    epilogue_.result = p.finishes || p.out.kind == Requantize::Kind::kInt32 ? Result::kInt32
                       : high                                               ? Result::kHigh
                                                                            : Result::kFloat;
    if (epilogue_.result != Result::kInt32) {
      epilogue_.narrow = results_are_narrow();
      epilogue_.zero_point = p.out.zero_point != 0;
      epilogue_.low = p.out.low;
      epilogue_.high = p.out.high;
    }
    epilogue_.y_step = p.finishes ? p.channels : p.y_step;
    p.store = {epilogue_.result == Result::kInt32   ? rt::kDspInt32
               : epilogue_.result == Result::kFloat ? rt::kDspFloat
                                                    : rt::kDspHigh,
               epilogue_.low, epilogue_.high, static_cast<std::ptrdiff_t>(epilogue_.y_step)};
  }

  // The residual is added in assembly along a line, if there is one, to bytes that no activation
  // has clamped.
  void find_line() {
    DspConvPlan& p = plan();
    const bool reached = 3 * p.r_step + 1 <= 4095;
    if (p.form != Form::kTiles || p.out.low != 0 || p.out.high != 255 || !reached) return;
    const AddResidual& add = *p.add;
    const auto found = find_sum_line(add.factors, {add.low, add.high});
    if (!found) return;
    p.line =
        rt::DspResidual{static_cast<std::ptrdiff_t>(p.r_step), add.low, add.high, found->shift};
    const auto offset = static_cast<std::uint64_t>(found->offset);
    const std::uint32_t own = add.residual_is_a ? found->b_factor : found->a_factor;
    const std::uint32_t other = add.residual_is_a ? found->a_factor : found->b_factor;
    std::vector<std::int32_t> line;
    for (const std::uint32_t word : {own, other, static_cast<std::uint32_t>(offset),
                                     static_cast<std::uint32_t>(offset >> 32)}) {
      line.push_back(static_cast<std::int32_t>(word));
    }
    step_->constants.push_back(int32_array(
        "line", line, "factors of both bytes and the offset of their sum, times a power of two"));
    step_->facts.emplace_back("the sum is a line in integers, equal for all pairs of bytes");
  }

  // Whether no rounded result can leave int16 before the zero point is added.
  bool results_are_narrow() const {
    constexpr double kMost = 32000;
    if (epilogue_.result == Result::kHigh) {
      const auto at = [](const RequantizedChannel& each, std::int64_t acc) {
        return std::fabs(static_cast<double>(evaluate(each.form, static_cast<std::int32_t>(acc))));
      };
      return std::all_of(step_->requantized.begin(), step_->requantized.end(),
                         [&](const RequantizedChannel& each) {
                           return at(each, each.channel.least) <= kMost &&
                                  at(each, each.channel.most) <= kMost;
                         });
    }
    for (std::int64_t m = 0; m < geometry().out_channels; ++m) {
      const AccumulatorRange range = accumulator_range(problem_, m);
      const double scale = problem_.scale[static_cast<std::size_t>(m)];
      const double reach = std::max(std::fabs(static_cast<double>(range.low)),
                                    std::fabs(static_cast<double>(range.high)));
      if (reach * scale > kMost) return false;
    }
    return true;
  }

  void choose_gather() {
    DspConvPlan& p = plan();
    const std::int64_t pixel = axes_.x_stride[2];
    const std::int64_t channels = geometry().in_per_group();
    if (p.form == Form::kDepthwise) {
      p.taps = {static_cast<int>(rows().kernel), static_cast<int>(cols().kernel),
                static_cast<std::ptrdiff_t>(p.row_bytes),
                static_cast<std::ptrdiff_t>(cols().dilation * pixel)};
      return;
    }
    const bool one_run = cols().kernel == 1 || (cols().dilation == 1 && pixel == channels);
    const std::int64_t run_elements = one_run ? cols().kernel * channels : channels;
    p.words = static_cast<int>(ceil_div(run_elements, 4));
    p.pieces = one_run ? 1 : static_cast<int>(rows().kernel);
    p.piece_step = one_run ? 0 : p.row_bytes;
    p.runs = static_cast<int>(one_run ? rows().kernel : cols().kernel);
    p.run_step = one_run ? p.row_bytes : cols().dilation * pixel;
    if (p.form != Form::kDirect) return;
    ETCH_CHECK(p.pieces == 1);
    p.direct = {static_cast<int>(run_elements), p.runs, static_cast<std::ptrdiff_t>(p.run_step)};
  }

  void add_functions() {
    DspConvPlan& p = plan();
    p.tile = functions(std::min(most_pixels(), p.columns));
    if (p.columns % p.tile.pixels != 0) p.rest = functions(p.columns % p.tile.pixels);
    if (p.copies && p.copied > 0) {
      const bool aligned = p.left % 4 == 0 && axes_.x_stride[1] % 4 == 0 &&
                           problem_.x.offset % 4 == 0 &&
                           std::all_of(p.axes.begin(), p.axes.end(),
                                       [](const ConvLoop& loop) { return loop.x_step % 4 == 0; });
      p.copy = use(dsp_copy({p.copied, aligned}));
    }
  }

  // Depthwise, the second pixel is read at an offset from the first one.
  int most_pixels() const {
    const DspConvPlan& p = step_->plan;
    if (p.form == Form::kDepthwise) return p.x_step <= kMostDepthwiseStep ? 2 : 1;
    return p.form == Form::kRow ? 1 : 4;
  }

  DspFunctions functions(int pixels) {
    DspConvPlan& p = plan();
    DspFunctions out{pixels, "", ""};
    if (p.form == Form::kDepthwise) {
      const DspDepthwise tile{pixels,          p.x_step,        p.taps.rows, p.taps.cols,
                              p.taps.row_step, p.taps.col_step, p.channels,  epilogue_};
      out.multiply = use(p.halves ? dsp_depthwise(tile) : mla_depthwise(tile));
      return out;
    }
    if (p.form == Form::kDirect) {
      out.multiply = use(mla_tile(
          {pixels, p.x_step, p.direct.bytes, p.direct.runs, p.run_step, p.channels, epilogue_}));
      return out;
    }
    out.gather = use(dsp_gather({pixels, p.x_step, p.words, p.runs, p.run_step}));
    out.multiply = p.form == Form::kRow
                       ? use(dsp_row({p.groups(), p.channels, epilogue_}))
                       : use(dsp_tile({pixels, 2 * p.groups(), p.channels, epilogue_, residual()}));
    return out;
  }

  std::optional<DspResidual> residual() const {
    const auto& line = step_->plan.line;
    if (!line) return std::nullopt;
    return DspResidual{line->step, line->low, line->high, line->shift};
  }

  std::string use(AssemblyFunction function) {
    std::string name = function.name;
    step_->assembly.push_back(std::move(function));
    return name;
  }

  void number_operands() {
    DspConvPlan& p = plan();
    int next = p.add ? 2 : 1;
    if (p.form == Form::kTiles || p.form == Form::kRow) {
      p.gathered = next++;
      step_->gathered_words = 2 * p.tile.pixels * p.groups();
    }
    if (p.copies) {
      p.rows = next++;
      step_->rows_bytes = p.rows_bytes + 4;  // the last word of a run may reach beyond it
    }
    if (p.finishes) {
      p.sums = next++;
      step_->sums_words = p.tile.pixels * p.channels;
    }
    p.y = next;
  }

  void pack() {
    step_->constants.push_back(
        int32_array("stream", pack_stream(problem_, plan(), step_->requantized),
                    "per block of channels: biases, packed weights, factors"));
  }

  // What finish() reads, in the order of the channels.
  void pack_factors() {
    if (!plan().finishes) return;
    std::vector<int> lanes;
    for (int m = 0; m < geometry().out_channels; ++m) lanes.push_back(m);
    step_->constants.push_back(
        plan().out.kind == Requantize::Kind::kInteger
            ? requantize_constants(*step_, plan().out.integer, lanes, isa_.lanes)
            : float_array("scale", problem_.scale, "x_scale * w_scale / y_scale"));
  }

  void describe() {
    const DspConvPlan& p = plan();
    const std::int64_t pixels = element_count(problem_.y.shape) / problem_.y.shape[1];
    step_->macs = pixels * geometry().out_channels * geometry().in_per_group() * problem_.taps();
    const int together = channels_of_block(p);
    step_->schedule =
        cat("tiles of ", p.tile.pixels, " pixels x ", together, " channels in assembly");
    if (p.copies)
      step_->facts.push_back(cat("rows are copied between padding, ", p.rows_bytes, " bytes"));
  }

  // ---- overlaps ----
  void add_overlaps() {
    DspConvPlan& p = plan();
    if (!p.axes.empty() || y_bytes() != 1) return;
    step_->overlaps.push_back(
        {p.y, 0,
         overlap_distance(p, problem_.x.stride[0]) + problem_.y.offset - problem_.x.offset});
    if (!p.add) return;
    // Channels are read before the sum is written in their place, pixel after pixel.
    const View& residual = problem_.residual->view;
    if (p.r_step != p.y_step || p.r_row != p.y_row) return;
    // Along a line, two channels of all pixels of a tile are written before the next are read.
    const std::int64_t ahead = p.line ? (p.tile.pixels - 1) * p.y_step : 0;
    step_->overlaps.push_back({p.y, 1, ahead + problem_.y.offset - residual.offset});
  }

  const ConvProblem& problem_;
  const IsaTraits& isa_;
  Axes3 axes_;
  DspEpilogue epilogue_;
  std::unique_ptr<DspConvStep> step_;
};

}  // namespace

bool dsp_conv_serves(const ConvProblem& problem, const IsaTraits& isa) {
  const bool direct = isa.assembly == Assembly::kMla;
  if (!(direct || isa.assembly == Assembly::kDsp) || !is_served(problem)) return false;
  return !direct || is_direct(problem);
}

std::unique_ptr<DspConvStep> make_dsp_conv_step(const ConvProblem& problem, const IsaTraits& isa) {
  ETCH_CHECK(dsp_conv_serves(problem, isa));
  return Builder(problem, isa).build();
}

}  // namespace etch

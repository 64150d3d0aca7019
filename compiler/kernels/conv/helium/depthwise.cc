// See mve_depthwise.h.
#include "compiler/kernels/conv/helium/depthwise.h"

#include <algorithm>
#include <bit>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/regions.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(MveDepthwiseStep);

namespace {

constexpr int kWord = 4;     // rows, and columns of a vector
constexpr int kVector = 16;  // bytes

class Builder {
 public:
  Builder(const ConvProblem& problem, const IsaTraits& isa)
      : problem_(problem), isa_(isa), axes_(three_axes(problem)) {}

  std::unique_ptr<MveDepthwiseStep> build() {
    step_ = std::make_unique<MveDepthwiseStep>();
    step_->kind = "depthwise";
    Requantize out = problem_.out;
    prove_range(problem_, isa_, out, *step_);
    if (out.kind == Requantize::Kind::kInteger || !place()) return nullptr;
    choose_tile(out);
    choose_rows();
    if (!add_functions()) return nullptr;
    pack();
    describe();
    return std::move(step_);
  }

 private:
  MveDepthwisePlan& plan() { return step_->plan; }
  const ConvAxis& rows() const { return axes_.axis[1]; }
  const ConvAxis& cols() const { return axes_.axis[2]; }
  int channels() const { return static_cast<int>(problem_.geometry.in_channels); }

  // False where the columns read nothing of x.
  bool place() {
    MveDepthwisePlan& p = plan();
    p.images = static_cast<int>(problem_.geometry.batch);
    p.cols = static_cast<int>(cols().out);
    p.x_image = problem_.x.stride[0];
    p.y_image = problem_.y.stride[0];
    p.padding = problem_.x_zero_point;
    p.left = cols().pad_begin * kWord;
    columns_ = std::min(cols().in, columns_read() - cols().pad_begin);
    p.pads_columns = columns_ < columns_read();
    return columns_ > 0;
  }

  // From the left padding on.
  std::int64_t columns_read() const { return (cols().out - 1) * cols().stride + cols().kernel; }

  void choose_tile(const Requantize& out) {
    MveDepthwisePlan& p = plan();
    const auto taps = static_cast<int>(rows().kernel);
    const bool pair = rows().stride == 1 && rows().dilation == 1 && taps < kWord && rows().out > 1;
    rt::MveDepthwise& t = p.tile;
    t.pixels = std::min(4, p.cols);
    t.x_step = static_cast<std::ptrdiff_t>(cols().stride * kWord);
    t.rows = pair ? 2 : 1;
    t.y_row = static_cast<std::ptrdiff_t>(axes_.y_stride[1]);
    t.channels = channels();
    t.channel_step = static_cast<std::ptrdiff_t>(columns_read() * kWord);
    t.row_groups = static_cast<int>(ceil_div(taps, kWord));
    t.group_step = static_cast<std::ptrdiff_t>(padded_channels() * t.channel_step);
    t.column_groups = static_cast<int>(ceil_div(cols().kernel, kWord));
    p.rest_pixels = p.cols % t.pixels;
    p.out = {false, out.zero_point, out.low, out.high,
             static_cast<std::ptrdiff_t>(axes_.y_stride[2])};
    // The last vector of a row may reach beyond its columns.
    p.scratch_bytes = t.row_groups * t.group_step + kVector;
  }

  std::int64_t padded_channels() const { return ceil_div(channels(), kVector) * kVector; }

  // Rows or pairs of the output; an odd row is computed together with the one before, once more.
  void choose_rows() {
    MveDepthwisePlan& p = plan();
    const int n = p.tile.rows;
    p.x_step = n * rows().stride * axes_.x_stride[1];
    p.y_step = n * axes_.y_stride[1];
    for (std::int64_t row = 0; row < rows().out; row += n) {
      const bool odd = row + n > rows().out;
      MveDepthwiseRows next = rows_at(odd ? rows().out - n : row);
      if (!odd && !p.rows.empty() && continues(p.rows.back(), next)) {
        ++p.rows.back().count;
      } else {
        p.rows.push_back(std::move(next));
      }
    }
  }

  MveDepthwiseRows rows_at(std::int64_t row) const {
    const MveDepthwisePlan& p = step_->plan;
    const auto all = static_cast<int>(rows().kernel) + p.tile.rows - 1;
    MveDepthwiseRows out;
    out.y = row * axes_.y_stride[1];
    for (int first = 0; first < all; first += kWord) {
      MveDepthwiseRows::Group group;
      rt::MveRows& r = group.rows;
      r = {0,
           0,
           p.padding,
           static_cast<std::ptrdiff_t>(rows().dilation * axes_.x_stride[1]),
           static_cast<int>(columns_),
           static_cast<std::ptrdiff_t>(axes_.x_stride[2]),
           static_cast<int>(padded_channels()),
           p.tile.channel_step};
      for (int i = 0; i < std::min(kWord, all - first); ++i) {
        const std::int64_t from =
            row * rows().stride + (first + i) * rows().dilation - rows().pad_begin;
        if (from < 0 || from >= rows().in) continue;
        if (r.count++ > 0) continue;
        r.first = i;
        group.x = from * axes_.x_stride[1];
      }
      out.groups.push_back(std::move(group));
    }
    return out;
  }

  bool continues(const MveDepthwiseRows& before, const MveDepthwiseRows& next) const {
    for (std::size_t g = 0; g < next.groups.size(); ++g) {
      const MveDepthwiseRows::Group& a = before.groups[g];
      const MveDepthwiseRows::Group& b = next.groups[g];
      if (a.rows.first != b.rows.first || a.rows.count != b.rows.count) return false;
      if (a.rows.count > 0 && b.x - a.x != before.count * step_->plan.x_step) return false;
    }
    return true;
  }

  std::string use(AssemblyFunction function) {
    std::string name = function.name;
    step_->assembly.push_back(std::move(function));
    return name;
  }

  bool add_functions() {
    MveDepthwisePlan& p = plan();
    MveDepthwiseConv conv{p.tile, p.out};
    if (!fits(conv)) return false;
    p.stream_words = conv.stream_words();
    for (MveDepthwiseRows& segment : p.rows) {
      for (MveDepthwiseRows::Group& group : segment.groups)
        group.function = use(mve_interleave(group.rows));
    }
    p.whole = use(mve_depthwise(conv));
    conv.tile.pixels = p.rest_pixels;
    if (p.rest_pixels > 0) p.rest = use(mve_depthwise(conv));
    return true;
  }

  void pack() {
    const rt::MveDepthwise& t = plan().tile;
    std::vector<int> taps;
    for (int tap = 0; tap < problem_.taps(); ++tap) taps.push_back(tap);
    std::vector<std::int32_t> stream;
    for (int m = 0; m < t.channels; ++m) {
      for (int g = 0; g < t.row_groups; ++g) {
        for (int h = 0; h < t.column_groups; ++h) {
          for (int row = 0; row < t.rows; ++row) pack_vector(stream, m, kWord * g - row, kWord * h);
        }
      }
      std::uint32_t sum = 0;  // bytes of x are moved by -128
      for (const int tap : taps) sum += static_cast<std::uint32_t>(problem_.weight(m, tap, 0));
      const auto bias = static_cast<std::uint32_t>(folded_bias(problem_, m, taps));
      stream.push_back(static_cast<std::int32_t>(bias + 128 * sum));
      stream.push_back(std::bit_cast<std::int32_t>(problem_.scale[static_cast<std::size_t>(m)]));
    }
    step_->constants.push_back(
        int32_array("stream", stream, "per channel: packed weights, bias, scale"));
  }

  // Four columns of four rows of taps.
  void pack_vector(std::vector<std::int32_t>& stream, int m, int first_row, int first_col) const {
    for (int col = first_col; col < first_col + kWord; ++col) {
      std::uint32_t word = 0;
      for (int i = 0; i < kWord; ++i) {
        const int row = first_row + i;
        const bool inside = row >= 0 && row < rows().kernel && col < cols().kernel;
        const int weight = inside ? problem_.weight(m, row * cols().kernel + col, 0) : 0;
        word |= (static_cast<std::uint32_t>(weight) & 0xffU) << (8 * i);
      }
      stream.push_back(static_cast<std::int32_t>(word));
    }
  }

  void describe() {
    const MveDepthwisePlan& p = plan();
    step_->macs = element_count(problem_.y.shape) * problem_.taps();
    step_->schedule = cat(p.tile.rows, p.tile.rows == 1 ? " row" : " rows", " x ", p.tile.pixels,
                          p.tile.pixels == 1 ? " pixel" : " pixels", " in assembly");
    step_->facts.push_back(
        cat("rows of x are interleaved in ", p.scratch_bytes, " bytes of scratch memory"));
  }

  const ConvProblem& problem_;
  const IsaTraits& isa_;
  Axes3 axes_;
  std::int64_t columns_ = 0;  // of x that are read
  std::unique_ptr<MveDepthwiseStep> step_;
};

}  // namespace

bool mve_depthwise_serves(const ConvProblem& problem, const IsaTraits& isa) {
  if (isa.assembly != Assembly::kMve || problem.residual || !is_depthwise(problem, isa))
    return false;
  const ConvAxis& cols = problem.geometry.axes.back();
  return cols.dilation == 1 || cols.kernel == 1;
}

std::unique_ptr<MveDepthwiseStep> make_mve_depthwise_step(const ConvProblem& problem,
                                                          const IsaTraits& isa) {
  return Builder(problem, isa).build();
}

}  // namespace etch

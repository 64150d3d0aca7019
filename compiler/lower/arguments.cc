// Arguments of steps; see arguments.h.
#include "compiler/lower/arguments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/base/check.h"

namespace etch {

std::vector<std::int64_t> steps_of(const View& view) {
  std::vector<std::int64_t> out;
  for (const std::int64_t stride : view.stride) out.push_back(stride / bytes_of(view.dtype));
  return out;
}

std::vector<std::int64_t> Input::steps(const Shape& shape) const {
  std::vector<std::int64_t> out(shape.size(), 0);
  const std::vector<std::int64_t> own = steps_of(view);
  const std::size_t missing = shape.size() - own.size();
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (view.shape[d] != 1) out[missing + d] = own[d];
  }
  return out;
}

rt::Stored stored_as(const View& view) {
  if (view.dtype == DType::kS8) return {128, 128};
  return {0, view.flipped ? 128 : 0};
}

std::int64_t extent_of(const View& view) {
  std::int64_t extent = 1;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 0) return 0;
    extent += (view.shape[d] - 1) * view.stride[d] / bytes_of(view.dtype);
  }
  return extent;
}

namespace {
constexpr const char* kAsInModel = "row-major, as in the model";

DType in_bytes(DType type) {
  return type == DType::kS8 || type == DType::kBool ? DType::kU8 : type;
}
}  // namespace

Input StepArguments::data(const Tensor& tensor, const char* name, std::string comment) {
  Input out;
  out.view.dtype = tensor.dtype();
  out.view.shape = tensor.shape();
  lay_out(out.view, row_major(out.view.rank()));
  out.argument = {name, -1, std::max<std::int64_t>(1, tensor.size()), stored_as(out.view)};
  std::vector<std::byte> bytes(tensor.bytes().begin(), tensor.bytes().end());
  if (bytes.empty()) bytes.resize(static_cast<std::size_t>(bytes_of(tensor.dtype())));
  step_.constants.push_back({name, in_bytes(tensor.dtype()), std::move(bytes), std::move(comment)});
  return out;
}

Input StepArguments::memory(const View& view, const char* name) {
  Input out;
  out.view = view;
  out.argument = {name, static_cast<int>(operands_.size()), extent_of(view), stored_as(view)};
  views_.push_back(view);
  views_.back().dtype = in_bytes(view.dtype);
  operands_.emplace_back(name, &views_.back());
  return out;
}

Input StepArguments::input(int i, const char* name, DType omitted) {
  ETCH_CHECK(outputs_ == 0 && scratch_ == 0);
  const auto at = static_cast<std::size_t>(i);
  if (at >= node_.inputs.size() || node_.inputs[at] == kNoValue) {
    return data(Tensor(omitted, {}), name, kAsInModel);
  }
  if (lowering_.is_constant(node_, i)) return data(lowering_.constant(node_, i), name, kAsInModel);
  return memory(lowering_.view(node_, i), name);
}

Input StepArguments::parameter(int i, const char* name, DType omitted) {
  const auto at = static_cast<std::size_t>(i);
  const bool in_memory =
      at < node_.inputs.size() && node_.inputs[at] != kNoValue && !lowering_.is_constant(node_, i);
  if (!in_memory) return input(i, name, omitted);
  const View view = lowering_.view(node_, i);
  const Order order = row_major(view.rank());
  return memory(is_contiguous(view, order) ? view : lowering_.contiguous(node_, i, order), name);
}

int StepArguments::scratch(const char* name, const View& view) {
  ETCH_CHECK(outputs_ == 0);
  views_.push_back(view);
  operands_.emplace_back(name, &views_.back());
  ++scratch_;
  return operands() - 1;
}

int StepArguments::output(const char* name, const View& view) {
  views_.push_back(view);
  operands_.emplace_back(name, &views_.back());
  ++outputs_;
  return static_cast<int>(operands_.size()) - 1;
}

void StepArguments::add(std::unique_ptr<Step> step) {
  lowering_.add(node_, std::move(step), operands_, outputs_, scratch_);
}

namespace {
bool follows(const RowAxis& outer, const RowAxis& inner) {
  for (std::size_t o = 0; o < kRowOperands; ++o) {
    if (outer.step[o] != inner.step[o] * inner.count) return false;
  }
  return true;
}
}  // namespace

RowNest make_rows(const Shape& shape, const std::vector<std::vector<std::int64_t>>& steps) {
  const std::size_t out = steps.size() - 1;
  std::vector<RowAxis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    RowAxis axis;
    axis.count = static_cast<int>(shape[d]);
    for (std::size_t o = 0; o < steps.size(); ++o) axis.step[o] = steps[o][d];
    axes.push_back(axis);
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [&](const RowAxis& a, const RowAxis& b) { return a.step[out] > b.step[out]; });
  RowNest nest;
  for (const RowAxis& axis : axes) {
    if (!nest.axes.empty() && follows(nest.axes.back(), axis)) {
      const int count = nest.axes.back().count * axis.count;
      nest.axes.back() = axis;
      nest.axes.back().count = count;
    } else {
      nest.axes.push_back(axis);
    }
  }
  if (nest.axes.empty() || nest.axes.back().step[out] != 1) return nest;
  nest.n = nest.axes.back().count;
  nest.step = nest.axes.back().step;
  nest.axes.pop_back();
  return nest;
}

Order order_like(const View& view) {
  const Order row = row_major(view.rank());
  return has_order(view, row) ? row : channels_last(view.rank());
}

}  // namespace etch

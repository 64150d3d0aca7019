// The parts of lowering that know regions: loops and branches. What is cached between steps, such
// as copies in another order, holds only where the steps that made it have run.
#include <memory>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"
#include "compiler/lower/layout_steps.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/nest.h"
#include "compiler/program/constants.h"

namespace etch {

void Lowering::begin_region(const Region& region) {
  OpenRegion open;
  open.number = program_.regions.size();
  open.copies = copies_;
  open.unfilled_at_run_time = unfilled_at_run_time_;
  open.macs = program_.macs;
  open.float_macs = program_.float_macs;
  open_regions_.push_back(std::move(open));
  program_.regions.push_back(region);
  program_.regions.back().first = static_cast<int>(program_.steps.size());
}

const Region& Lowering::innermost_region() const {
  ETCH_CHECK(!open_regions_.empty());
  return program_.regions[open_regions_.back().number];
}

void Lowering::end_region() {
  ETCH_CHECK(!open_regions_.empty());
  OpenRegion open = std::move(open_regions_.back());
  open_regions_.pop_back();
  Region& region = program_.regions[open.number];
  region.last = static_cast<int>(program_.steps.size()) - 1;
  copies_ = std::move(open.copies);
  unfilled_at_run_time_.insert(open.unfilled_at_run_time.begin(), open.unfilled_at_run_time.end());
  for (const ValueId id : open.materialized) views_[static_cast<std::size_t>(id)].reset();
  // Products of the steps in it were counted once.
  const auto all = [&](std::int64_t before, std::int64_t now) {
    const std::int64_t own = checked_mul(now - before, region.trips).value_or(INT64_MAX / 2);
    return checked_add(before, own).value_or(INT64_MAX / 2);
  };
  program_.macs = all(open.macs, program_.macs);
  program_.float_macs = all(open.float_macs, program_.float_macs);
  if (region.last < region.first) program_.regions.pop_back();
}

void Lowering::copy_view(const Node& node, const View& from, const View& to, const char* summary) {
  auto step = std::make_unique<CopyStep>();
  step->kind = "carry";
  step->summary = summary;
  step->plan = make_copy(from, to);
  View x = from, y = to;
  x.dtype = y.dtype = DType::kU8;
  add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

void Lowering::copy_constant(const Node& node, const Tensor& from, const View& to,
                             const char* summary) {
  auto step = std::make_unique<CopyStep>();
  step->kind = "carry";
  step->summary = summary;
  View x;
  x.dtype = from.dtype();
  x.shape = from.shape();
  lay_out(x, row_major(x.rank()));
  step->plan = make_copy(x, to);
  step->plan.x_is_constant = true;
  step->constants.push_back(raw_array("data", from, isa_, "row-major"));
  View y = to;
  y.dtype = DType::kU8;
  add(node, std::move(step), {{"y", &y}});
}

void Lowering::copy_to(const Node& node, int i, const View& to, const char* summary) {
  if (is_constant(node, i)) {
    copy_constant(node, constant(node, i), to, summary);
  } else {
    copy_view(node, view(node, i), to, summary);
  }
}

}  // namespace etch

// Segments of functions of 16-bit values, and their step; see word_table.h.
#include "compiler/kernels/rows/word_table.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/memory_order.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(WordTableStep);

namespace {
constexpr int kSlopeBits = 14;  // of runtime/etch_word_table.h
constexpr int kMostAdded = 3;

class WordSegments {
 public:
  WordSegments(std::span<const std::int32_t> results, int bits) {
    table_.bits = bits;
    table_.added.assign(kWordValues / 4, 0);
    const std::size_t size = std::size_t{1} << bits;
    for (std::size_t first = 0; first < results.size(); first += size)
      add(results.subspan(first, size), first);
    if (table_.listed.empty()) table_.listed.push_back(0);
  }
  WordTable take() { return std::move(table_); }

 private:
  void add(std::span<const std::int32_t> results, std::size_t first) {
    // From the first to the last result: less than 2^16 steps in all, so that products fit 31 bits.
    const auto last = static_cast<std::int32_t>(results.size()) - 1;
    const std::int32_t slope = (results.back() - results.front()) * (1 << kSlopeBits) / last;
    const auto above = [&](std::size_t i) {
      return results[i] - ((slope * static_cast<std::int32_t>(i)) >> kSlopeBits);
    };
    std::int32_t least = above(0), most = least;
    for (std::size_t i = 0; i < results.size(); ++i) {
      least = std::min(least, above(i));
      most = std::max(most, above(i));
    }
    if (most - least > kMostAdded) {
      table_.segments.push_back(static_cast<std::int32_t>(table_.listed.size()));
      table_.segments.push_back(rt::kListedSegment);
      table_.listed.insert(table_.listed.end(), results.begin(), results.end());
      return;
    }
    table_.segments.push_back(least);
    table_.segments.push_back(slope);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::size_t at = first + i;
      const auto more = static_cast<unsigned>(above(i) - least);
      table_.added[at / 4] =
          static_cast<std::uint8_t>(table_.added[at / 4] | more << (2 * (at % 4)));
    }
  }

  WordTable table_;
};

// Of the type of the values.
Tensor listed_values(const WordTable& table, DType type) {
  Tensor out(type, {static_cast<std::int64_t>(table.listed.size())});
  for (std::size_t i = 0; i < table.listed.size(); ++i) {
    if (type == DType::kU16) {
      out.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(table.listed[i]);
    } else {
      out.as<std::int16_t>()[i] = static_cast<std::int16_t>(table.listed[i]);
    }
  }
  return out;
}

template <class T>
Tensor vector_of(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values);
}
}  // namespace

std::int64_t WordTable::bytes() const {
  return static_cast<std::int64_t>(4 * segments.size() + added.size() + 2 * listed.size());
}

WordTable word_table(std::span<const std::int32_t> results) {
  ETCH_CHECK(results.size() == kWordValues);
  constexpr int kLeastBits = 4, kMostBits = 10;
  WordTable best = WordSegments(results, kMostBits).take();
  for (int bits = kMostBits - 1; bits >= kLeastBits; --bits) {
    WordTable smaller = WordSegments(results, bits).take();
    if (smaller.bytes() < best.bytes()) best = std::move(smaller);
  }
  return best;
}

void add_word_table(Lowering& lowering, const Node& node, const WordTable& table,
                    std::string summary) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<WordTableStep>();
  step->kind = "table";
  step->summary = std::move(summary);
  StepArguments arguments(lowering, node, *step);
  const View before = lowering.view(node, 0);
  const View y = lowering.new_output(node, 0, memory_order(before));
  const Input x = arguments.memory(lowering.ordered(node, 0, memory_order(y)), "x");
  WordTablePlan& plan = step->plan;
  plan.is_unsigned = y.dtype == DType::kU16;
  plan.bits = table.bits;
  plan.listed = static_cast<std::int64_t>(table.listed.size());
  plan.x = x.argument;
  plan.segments =
      arguments.data(vector_of(table.segments), "segments", "result and slope of each").argument;
  plan.added = arguments.data(vector_of(table.added), "added", "two bits for each value").argument;
  plan.list =
      arguments.data(listed_values(table, y.dtype), "listed", "results of other segments").argument;
  plan.y = arguments.output("y", y);
  plan.rows = make_rows(y.shape, {steps_of(x.view), steps_of(y)});
  arguments.add(std::move(step));
}

}  // namespace etch

// The index of pieces of functions of 16-bit values, and their step; see word_table.h.
#include "compiler/kernels/rows/word_table.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/rows/word_cubics.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/memory_order.h"
#include "compiler/program/certificate.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(WordTableStep);

namespace {
using WordPiecesList = std::vector<WordCubic>;

// Which pieces the blocks of 2^bits values begin in, and how many more they have at most.
struct WordBlocks {
  std::vector<std::size_t> first;
  std::size_t more = 0;
};

WordBlocks blocks_of(const WordPiecesList& pieces, int bits) {
  WordBlocks out;
  std::size_t piece = 0;
  for (std::int32_t start = 0; start < kWordValues; start += 1 << bits) {
    while (pieces[piece].last < start) ++piece;
    out.first.push_back(piece);
    std::size_t end = piece;
    while (pieces[end].last < start + (1 << bits) - 1) ++end;
    out.more = std::max(out.more, end - piece);
  }
  return out;
}

// The largest blocks for which so many steps are enough; none if there are too many pieces.
std::optional<WordBlocks> largest_blocks(const WordPiecesList& pieces, int steps, int& bits) {
  for (bits = kWordBlockBits; bits > 0; --bits) {
    if (pieces.size() > std::size_t{1} << (16 - bits)) continue;
    WordBlocks blocks = blocks_of(pieces, bits);
    if (blocks.more <= 2 * static_cast<std::size_t>(steps) + (steps == 0 ? 1 : 0)) return blocks;
  }
  return {};
}

std::int32_t upper_and_lower(std::int32_t upper, std::int32_t lower) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(upper) << 16 |
                                   static_cast<std::uint16_t>(lower));
}

// Fills `out`, whose blocks these are, for values from `least` on.
WordTable table_of(const WordPiecesList& pieces, const WordBlocks& blocks, std::int32_t least,
                   WordTable out) {
  const std::int32_t along_block = (1 << out.bits) - 1;
  for (std::size_t i = 0; i < blocks.first.size(); ++i) {
    const std::int32_t start = static_cast<std::int32_t>(i) << out.bits;
    const std::int32_t last = std::min(pieces[blocks.first[i]].last - start, along_block);
    out.index.push_back(static_cast<std::uint16_t>(blocks.first[i] << out.bits |
                                                   static_cast<std::size_t>(along_block - last)));
  }
  for (const WordCubic& piece : pieces) {
    const auto& f = piece.factors;
    const std::int32_t word = upper_and_lower(f[3] + piece.shift, least + piece.last);
    out.cubics.insert(out.cubics.end(), {word, f[2], f[1], f[0]});
  }
  // A step looks at the piece `steps` - 1 after the one that it begins with.
  for (int i = 1; i < out.steps; ++i)
    out.cubics.insert(out.cubics.end(), {upper_and_lower(0, least + kWordValues - 1), 0, 0, 0});
  return out;
}

WordTable smallest_table(const WordPiecesList& pieces, std::int32_t least) {
  WordTable best;
  for (const int steps : {0, 1, 2, 4}) {
    int bits = 0;
    const auto blocks = largest_blocks(pieces, steps, bits);
    if (!blocks) continue;
    WordTable table = table_of(pieces, *blocks, least, {bits, steps, 0, {}, {}});
    // Steps take time for every value.
    if (best.index.empty() || 3 * table.bytes() < 2 * best.bytes()) best = std::move(table);
  }
  ETCH_CHECK(!best.index.empty());
  return best;
}

template <class T>
Tensor vector_of(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values);
}
}  // namespace

std::int64_t WordTable::bytes() const {
  return static_cast<std::int64_t>(2 * index.size() + 4 * cubics.size());
}

WordTable word_table(std::span<const std::int32_t> results, std::int32_t least) {
  ETCH_CHECK(results.size() == kWordValues);
  // A line of half a step for each value has so many ties that only rounding to even fits it.
  constexpr std::size_t kMany = 256;
  WordPiecesList pieces = word_cubics(results, WordRounding::kDown);
  int even = 0;
  if (pieces.size() > kMany) {
    WordPiecesList others = word_cubics(results, WordRounding::kToEven);
    even = others.size() < pieces.size() ? 1 : 0;
    if (even != 0) pieces = std::move(others);
  }
  WordTable best = smallest_table(pieces, least);
  best.even = even;
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
  plan.steps = table.steps;
  plan.even = table.even;
  plan.pieces = static_cast<std::int64_t>(table.cubics.size()) / 4;
  plan.x = x.argument;
  plan.index =
      arguments.data(vector_of(table.index), "index", "piece of each block, and its end").argument;
  plan.cubics =
      arguments.data(vector_of(table.cubics), "cubics", "last value, shift, factors").argument;
  plan.y = arguments.output("y", y);
  plan.rows = make_rows(y.shape, {steps_of(x.view), steps_of(y)});
  const Step& made = *step;
  arguments.add(std::move(step));
  certify(made, [&] {
    const std::string& name = lowering.value(node.inputs[0]).name;
    return WordTableCertificate{name,       y.dtype,     table.bits,  table.steps,
                                table.even, table.index, table.cubics};
  });
}

}  // namespace etch

// Functions of networks that work on a stream: what they keep from step to step comes in and goes
// out as a tensor.
//   CausalConvWithState  y = activation(Conv of one channel each over the state and x), the state
//                        being the last k - 1 positions
//   TensorScatter        the cache with rows of the update in place of those from an index on
#include <string>

#include "compiler/base/text.h"
#include "compiler/passes/functions/functions.h"

namespace etch {

namespace {

constexpr std::int64_t kMostPlaces = 1 << 20;

// What the attribute says; "" after a report.
std::string take_one_of(Parts& parts, const char* name, const char* fallback,
                        std::initializer_list<const char*> known) {
  std::string given = parts.take<std::string>(name, fallback);
  std::string words;
  for (const char* const word : known) {
    if (given == word) return given;
    words += cat(words.empty() ? "" : " or ", word);
  }
  parts.fail(DiagKind::kAttr, cat(name, ": must be ", words, ", got '", printable(given), "'"));
  return "";
}

// Where the update begins in each cache of the batch, of `shape`, which has rank `rank`; zeros
// where the node does not say it.
ValueId first_places(Parts& parts, std::int64_t batch, std::size_t rank) {
  if (!parts.has_input(2)) return parts.number(DType::kS64, 0);
  Shape shape(rank, 1);
  shape[0] = batch;
  return parts.reshape(parts.input(2), shape);
}

}  // namespace

void write_causal_conv_with_state(Parts& parts) {
  const std::string activation =
      take_one_of(parts, "activation", "none", {"none", "silu", "swish"});
  if (activation.empty() || !parts.expects(0, DType::kF32, {-1, -1, -1})) return;
  const Shape x = parts.shape(0);
  if (!parts.expects(1, DType::kF32, {x[1], 1, -1})) return;
  const std::int64_t kept = parts.shape(1)[2] - 1;
  if (kept < 0) return parts.fail(DiagKind::kShape, "input 1 must have at least one position");
  if (!parts.allows(2, DType::kF32, {x[1]}) || !parts.allows(3, DType::kF32, {x[0], x[1], kept}))
    return;
  // Without a state there are zeros.
  const ValueId all = parts.has_input(3)
                          ? parts.concat({parts.input(3), parts.input(0)}, 2)
                          : parts.add("Pad", {parts.input(0), parts.ints({0, 0, kept, 0, 0, 0})});
  ValueId y = parts.add("Conv", {all, parts.input(1), parts.input(2)}, {{"group", x[1]}});
  if (activation != "none") y = parts.add("Swish", {y});
  parts.give(0, y);
  parts.give(1, parts.slice(all, 2, x[2], x[2] + kept));
}

void write_tensor_scatter(Parts& parts) {
  const std::string mode = take_one_of(parts, "mode", "linear", {"linear", "circular"});
  if (mode.empty() || !parts.needs(1)) return;
  const Shape cache = parts.shape(0), update = parts.shape(1);
  const std::int64_t axis = parts.take_axis("axis", -2, cache.size());
  if (axis < 0) return;
  const auto at = static_cast<std::size_t>(axis);
  Shape expected = cache;
  if (update.size() == cache.size() && update[at] <= cache[at]) expected[at] = update[at];
  if (axis == 0 || update != expected) {
    return parts.fail(DiagKind::kShape, cat("an update of shape ", to_string(update),
                                            " does not fit a cache of shape ", to_string(cache),
                                            " along axis ", axis));
  }
  if (!parts.allows(2, DType::kS64, {cache[0]})) return;
  if (!has_at_most({update[at]}, kMostPlaces))
    return parts.fail(DiagKind::kLimit, cat("more than ", kMostPlaces, " places in an update"));
  if (cache[at] == 0) return parts.give(0, parts.input(0));  // "circular" divides by it
  const ValueId first = first_places(parts, cache[0], cache.size());
  const ValueId steps =
      parts.positions(DType::kS64, 0, update[at], along(cache.size(), at, update[at]));
  ValueId places = parts.add("Add", {first, steps});
  if (mode == "circular") places = parts.add("Mod", {places, parts.number(DType::kS64, cache[at])});
  places = parts.add("Expand", {places, parts.ints(update)});
  parts.give(
      0, parts.add("ScatterElements", {parts.input(0), places, parts.input(1)}, {{"axis", axis}}));
}

}  // namespace etch

// LinearAttention: attention that keeps, for each head, a matrix of keys by values in place of the
// keys and values themselves. Positions follow one another, in a loop where there are several:
//   gated          state = state * exp(decay)
//   delta          v = beta * (v - k state)
//   always         state = state + k v (an outer product), y = scale * (q state)
#include <cmath>
#include <string>

#include "compiler/base/text.h"
#include "compiler/ir/op_def.h"
#include "compiler/passes/functions/functions.h"

namespace etch {

namespace {

constexpr std::int64_t kMostOfState = 1 << 25;

class LinearAttention {
 public:
  explicit LinearAttention(Parts& parts) : parts_(parts) {}

  void write() {
    if (!read() || !read_gates()) return;
    const ValueId past = parts_.has_input(3)
                             ? parts_.input(3)
                             : parts_.constant(Tensor(DType::kF32, {batch_, heads_, key_, value_}));
    const ValueId y = steps_ == 1 ? step(kNoValue, past) : loop(past);
    parts_.give(0, parts_.reshape(y, {batch_, steps_, groups_ * heads_ * value_}));
    parts_.give(1, state_);
  }

 private:
  bool read() {
    for (const std::size_t i : {0U, 1U, 2U}) {
      if (!parts_.expects(i, DType::kF32, {-1, -1, -1})) return false;
    }
    parts_.take<std::int64_t>("chunk_size", 64);  // of other ways to compute the same
    const auto q_heads = parts_.take<std::int64_t>("q_num_heads", 0);
    heads_ = parts_.take<std::int64_t>("kv_num_heads", 0);
    scale_ = parts_.take<float>("scale", 0);
    rule_ = parts_.take<std::string>("update_rule", "gated_delta");
    if (rule_ != "linear" && rule_ != "gated" && rule_ != "delta" && rule_ != "gated_delta") {
      return fail(DiagKind::kAttr, cat("update_rule: must be linear, gated, delta or gated_delta, "
                                       "got '",
                                       printable(rule_), "'"));
    }
    if (heads_ < 1 || q_heads < 1 || q_heads % heads_ != 0) {
      return fail(DiagKind::kAttr, cat("q_num_heads must be a multiple of kv_num_heads, got ",
                                       q_heads, " and ", heads_));
    }
    const Shape q = parts_.shape(0), v = parts_.shape(2);
    batch_ = q[0];
    steps_ = q[1];
    groups_ = q_heads / heads_;
    key_ = q[2] / q_heads;
    value_ = v[2] / heads_;
    if (key_ * q_heads != q[2] || value_ * heads_ != v[2] || element_count(q) == 0 ||
        element_count(v) == 0) {
      return fail(DiagKind::kShape,
                  cat("queries ", to_string(q), " and values ", to_string(v),
                      " do not divide into ", q_heads, " and ", heads_, " heads"));
    }
    if (!has_at_most({batch_, heads_, key_, value_}, kMostOfState)) {
      return fail(DiagKind::kLimit, cat("its state would have the shape ",
                                        to_string(Shape{batch_, heads_, key_, value_}),
                                        ", of its elements at most ", kMostOfState));
    }
    if (scale_ == 0) scale_ = static_cast<float>(1.0 / std::sqrt(static_cast<double>(key_)));
    return parts_.expects(1, DType::kF32, {batch_, steps_, heads_ * key_}) &&
           parts_.expects(2, DType::kF32, {batch_, steps_, heads_ * value_}) &&
           parts_.allows(3, DType::kF32, {batch_, heads_, key_, value_});
  }

  // Decay and beta are there if the rule has them.
  bool read_gates() {
    const bool gated = rule_.starts_with("gated"), delta = rule_.ends_with("delta");
    if (parts_.has_input(4) != gated || parts_.has_input(5) != delta) {
      return fail(DiagKind::kGraph, cat("update_rule '", rule_, "' ", gated ? "needs" : "has no",
                                        " decay and ", delta ? "needs" : "has no", " beta"));
    }
    if (gated) {
      if (!parts_.expects(4, DType::kF32, {batch_, steps_, -1})) return false;
      decays_ = parts_.shape(4)[2] / heads_;
      if (parts_.shape(4)[2] % heads_ != 0 || (decays_ != 1 && decays_ != key_))
        return fail(DiagKind::kShape, "decay must have one number for each head or each key");
    }
    if (delta) {
      if (!parts_.expects(5, DType::kF32, {batch_, steps_, -1})) return false;
      betas_ = parts_.shape(5)[2];
      if (betas_ != 1 && betas_ != heads_)
        return fail(DiagKind::kShape, "beta must have one number, or one for each head");
    }
    return true;
  }

  bool fail(DiagKind kind, std::string what) {
    parts_.fail(kind, std::move(what));
    return false;
  }

  // Of input i what belongs to one position, in this shape after the batch.
  ValueId at(ValueId trip, std::size_t i, const Shape& shape) {
    Shape one{batch_};
    one.insert(one.end(), shape.begin(), shape.end());
    const ValueId x = trip == kNoValue ? parts_.input(i) : parts_.gather(parts_.input(i), trip, 1);
    return parts_.reshape(x, one);
  }

  // The result of one position [batch, heads, groups, value]; state_ is what it leaves.
  ValueId step(ValueId trip, ValueId state) {
    const ValueId k = at(trip, 1, {heads_, key_, 1});
    ValueId v = at(trip, 2, {heads_, 1, value_});
    if (decays_ > 0)
      state = parts_.add("Mul", {state, parts_.add("Exp", {at(trip, 4, {heads_, decays_, 1})})});
    if (betas_ > 0) {
      const ValueId row = parts_.reshape(k, {batch_, heads_, 1, key_});
      const ValueId known = parts_.add("MatMul", {row, state});
      v = parts_.add("Mul", {at(trip, 5, {betas_, 1, 1}), parts_.add("Sub", {v, known})});
    }
    state_ = parts_.add("Add", {state, parts_.add("Mul", {k, v})});
    const ValueId y = parts_.add("MatMul", {at(trip, 0, {heads_, groups_, key_}), state_});
    return parts_.add("Mul", {y, parts_.scalar(scale_)});
  }

  // The results of all positions, side by side.
  ValueId loop(ValueId past) {
    const ValueId trip = parts_.new_value(), state = parts_.new_value();
    Node begin, end;
    begin.domain = end.domain = kEtch;
    begin.op_type = "Loop";
    begin.inputs = {parts_.number(DType::kS64, steps_), kNoValue, past};
    begin.outputs = {trip, state};
    begin.attributes = {{"carried", std::int64_t{1}}};
    parts_.add(std::move(begin));
    const ValueId y = step(trip, state);
    end.op_type = "LoopEnd";
    end.inputs = {trip, kNoValue, state, state_, y};
    const ValueId last = parts_.new_value(), all = parts_.new_value();
    end.outputs = {last, all};
    end.attributes = {{"carried", std::int64_t{1}},
                      {"previous", std::int64_t{1}},
                      {"axes", Ints{1}},
                      {"directions", Ints{0}}};
    parts_.add(std::move(end));
    state_ = last;
    return all;
  }

  Parts& parts_;
  std::string rule_;
  std::int64_t batch_ = 1, steps_ = 1, heads_ = 1, key_ = 1, value_ = 1;
  std::int64_t groups_ = 1;              // heads of queries for each of keys and values
  std::int64_t decays_ = 0, betas_ = 0;  // of a head, and of all heads; 0: the rule has none
  float scale_ = 1;
  ValueId state_ = kNoValue;  // as the last step leaves it
};

}  // namespace

void write_linear_attention(Parts& parts) { LinearAttention(parts).write(); }

}  // namespace etch

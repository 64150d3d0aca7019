// An expression over elements, evaluated in registers: what a chain of elementwise operators
// computes, in one pass over memory. Every value is a vector of L elements; operands that repeat
// along the run are spread over the lanes once per run, and those that repeat everywhere once.
// Each operation is one operator's arithmetic, rounded as that operator rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "templates/external/convert.h"
#include "templates/kernels/arguments.h"
#include "templates/stage.h"

namespace etch {

// One value of an expression: an operand, a literal, or an operation on earlier values. Values are
// float32 (real) or int32.
struct ExpressionValue {
  enum class Kind {
    kRealInput,     // float32 elements of operand `input`
    kIntegerInput,  // int32 elements
    kByteInput,     // bytes, zero-extended to int32
    kReal,          // `real`
    kInteger,       // `integer`
    kToReal,        // an int32, to nearest even
    kDifference,    // int32 a - b, wraps
    kAdd,           // from here on of reals
    kSub,
    kMul,
    kDiv,
    kMax,  // NaN of either stays
    kMin,
    kNeg,
    kAbs,
    kAtLeast,         // a < b ? b : a
    kAtMost,          // b < a ? b : a
    kUnlessNegative,  // a >= 0 ? a : b
    kRound,           // to int32, |a| < 2^31
  };
  // How often it is computed.
  enum class When { kOnce, kPerRun, kPerVector };
  Kind kind = Kind::kReal;
  int a = -1, b = -1;  // earlier values
  int input = -1;
  float real = 0;
  int integer = 0;
  When when = When::kOnce;
};

// An operand that is read. Steps count elements; along the run 0 or 1.
struct ExpressionInput {
  Argument argument;
  std::int64_t run_step = 0;
};

struct ExpressionAxis {
  int count = 1;
  std::vector<std::int64_t> step;  // per input, then of y
};

struct ExpressionPlan {
  std::vector<ExpressionInput> inputs;
  std::vector<ExpressionValue> values;
  int result = 0;      // real, or for bytes a rounded int32
  bool bytes = false;  // y is uint8: the result plus zero_point, saturated
  int zero_point = 0;  // as stored
  int y = 0;           // operand of the step
  // DynamicQuantizeLinear's parameters for y, float32: 2 L floats of scratch, and where they go.
  struct Range {
    int lanes = 0, scale = 0, zero_point = 0;  // operands of the step
  };
  std::optional<Range> range;
  std::vector<ExpressionAxis> axes;  // outermost first
  int run = 1;                       // elements that are neighbours in y
};

namespace expression_detail {

inline const char* stem_of(ExpressionValue::Kind kind) {
  using Kind = ExpressionValue::Kind;
  switch (kind) {
    case Kind::kRealInput:
    case Kind::kIntegerInput:
    case Kind::kByteInput:
      return "x";
    case Kind::kReal:
    case Kind::kInteger:
      return "constant";
    case Kind::kToReal:
      return "real";
    case Kind::kDifference:
      return "centred";
    case Kind::kAdd:
      return "sum";
    case Kind::kSub:
      return "difference";
    case Kind::kMul:
      return "product";
    case Kind::kDiv:
      return "quotient";
    case Kind::kRound:
      return "rounded";
    default:
      return "value";
  }
}

// Scale and zero point for the range of all lanes, which goes through `lanes`. 0 is always in it.
template <class S>
void finish_range(S& s, const typename S::F32& low, const typename S::F32& high, int lanes,
                  int scale, int zero_point) {
  const auto both = s.template operand<float>(lanes);
  s.store_f32(both, low);
  s.store_f32(both + typename S::Index(s.isa().lanes), high);
  s.call(external::DynamicRange{}, s.template operand<const float>(lanes),
         s.template operand<float>(scale), s.template operand<std::uint8_t>(zero_point),
         2 * s.isa().lanes);
}

template <class S>
class Evaluation {
 public:
  using Index = typename S::Index;
  using Kind = ExpressionValue::Kind;
  using When = ExpressionValue::When;
  using Place = std::vector<Index>;  // where the run begins, per input and for y

  Evaluation(S& s, const ExpressionPlan& plan)
      : s_(s), plan_(plan), reals_(plan.values.size()), integers_(plan.values.size()) {}

  void run() {
    const Place start(plan_.inputs.size() + 1, Index(0));
    compute(When::kOnce, start, Index(0), "once", 0, s_.isa().lanes);
    if (plan_.range) {
      low_ = s_.splat_f32("low", 0.0F);
      high_ = s_.splat_f32("high", 0.0F);
    }
    walk(0, start);
    if (plan_.range) {
      finish_range(s_, low_, high_, plan_.range->lanes, plan_.range->scale,
                   plan_.range->zero_point);
    }
  }

 private:
  int lanes() const { return s_.isa().lanes; }

  void walk(std::size_t axis, const Place& at) {
    static constexpr const char* kNames[] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    if (axis == plan_.axes.size()) {
      s_.block([&] { whole_run(at); });
      return;
    }
    s_.loop(kNames[axis], plan_.axes[axis].count, [&](const Index& i) {
      Place inner = at;
      for (std::size_t o = 0; o < at.size(); ++o) inner[o] = at[o] + i * plan_.axes[axis].step[o];
      walk(axis + 1, inner);
    });
  }

  void whole_run(const Place& at) {
    compute(When::kPerRun, at, Index(0), "run", 0, lanes());
    const int chunk = plan_.bytes ? 4 * lanes() : lanes();
    const int full = plan_.run / chunk;
    const auto scoped = [&](int first, int n) { s_.block([&] { piece(at, Index(first), n); }); };
    if (full == 1) scoped(0, chunk);
    if (full > 1) {
      s_.loop("chunk", full, [&](const Index& c) { piece(at, c * chunk, chunk); });
    }
    if (plan_.run % chunk != 0) scoped(full * chunk, plan_.run % chunk);
  }

  // Elements [first, first + n) of the run, n at most a vector, or four for bytes.
  void piece(const Place& at, const Index& first, int n) {
    if (!plan_.bytes) {
      compute(When::kPerVector, at, first, "v", 0, n);
      const auto y = s_.template operand<float>(plan_.y) + at.back() + first;
      const auto& result = reals_[static_cast<std::size_t>(plan_.result)];
      if (n == lanes()) {
        s_.store_f32(y, result);
      } else {
        s_.store_f32_n(y, result, n);
      }
      if (plan_.range) widen_range(result, n);
      return;
    }
    std::vector<typename S::I32> q;
    for (int v = 0; v < 4; ++v) {
      const int left = std::min(lanes(), n - v * lanes());
      if (left > 0) {
        compute(When::kPerVector, at, first + Index(v * lanes()), "v", v, left);
        q.push_back(integers_[static_cast<std::size_t>(plan_.result)]);
      } else {
        q.push_back(q.back());
      }
    }
    const auto y = s_.template operand<std::uint8_t>(plan_.y) + at.back() + first;
    const auto packed = s_.narrow4("packed", q[0], q[1], q[2], q[3], plan_.zero_point);
    const auto bytes = s_.arrange1("bytes", packed);
    if (n == 4 * lanes()) {
      s_.store_bytes(y, bytes);
    } else {
      s_.store_slice(y, bytes, 0, n);
    }
  }

  // Lanes without an element count as 0, which is in every range.
  void widen_range(const typename S::F32& result, int n) {
    typename S::F32 value = result;
    if (n != lanes()) {
      s_.store_f32_n(s_.template operand<float>(plan_.range->lanes), result, n);
      value = s_.load_f32_n("ends", s_.template operand<const float>(plan_.range->lanes), n);
    }
    s_.fall_to(low_, value);
    s_.rise_to(high_, value);
  }

  // The values that are computed `when`; those of a vector for its n elements from `first` on.
  void compute(When when, const Place& at, const Index& first, const char* axis, int vector,
               int n) {
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      const ExpressionValue& value = plan_.values[i];
      if (value.when != when) continue;
      const Name name = Name(stem_of(value.kind)).at("", static_cast<int>(i)).at(axis, vector);
      switch (value.kind) {
        case Kind::kRealInput:
          reals_[i] = real_input(name, value, at, first, n);
          break;
        case Kind::kIntegerInput:
          integers_[i] = integer_input(name, value, at, first, n);
          break;
        case Kind::kByteInput:
          integers_[i] = byte_input(name, value, at, first, n);
          break;
        default:
          operation(i, name, value);
      }
    }
  }

  template <class Element>
  auto place_of(const ExpressionValue& value, const Place& at, const Index& first) {
    const auto input = static_cast<std::size_t>(value.input);
    const auto p = pointer_to<Element>(s_, plan_.inputs[input].argument) + at[input];
    return value.when == When::kPerVector ? p + first : p;
  }

  typename S::F32 real_input(const Name& name, const ExpressionValue& value, const Place& at,
                             const Index& first, int n) {
    const auto p = place_of<float>(value, at, first);
    if (value.when != When::kPerVector) return s_.repeat_f32(name, p);
    return n == lanes() ? s_.load_f32(name, p) : s_.load_f32_n(name, p, n);
  }

  // Always of a vector: nothing repeats an int32.
  typename S::I32 integer_input(const Name& name, const ExpressionValue& value, const Place& at,
                                const Index& first, int n) {
    return s_.load_i32_n(name, place_of<std::int32_t>(value, at, first), n);
  }

  typename S::I32 byte_input(const Name& name, const ExpressionValue& value, const Place& at,
                             const Index& first, int n) {
    const auto p = place_of<std::uint8_t>(value, at, first);
    if (value.when != When::kPerVector) return s_.repeat_u8(name, p);
    return n == lanes() ? s_.load_u8(name, p) : s_.load_u8_n(name, p, n);
  }

  void operation(std::size_t i, const Name& name, const ExpressionValue& value) {
    const auto a = static_cast<std::size_t>(std::max(value.a, 0));
    const auto b = static_cast<std::size_t>(std::max(value.b, 0));
    switch (value.kind) {
      case Kind::kInteger:
        integers_[i] = s_.splat_i32(name, value.integer);
        break;
      case Kind::kDifference:
        integers_[i] = s_.sub_i32(name, integers_[a], integers_[b]);
        break;
      case Kind::kRound:
        integers_[i] = s_.round_i32(name, reals_[a]);
        break;
      case Kind::kReal:
        reals_[i] = s_.splat_f32(name, value.real);
        break;
      case Kind::kToReal:
        reals_[i] = s_.to_f32(name, integers_[a]);
        break;
      default:
        reals_[i] = of_reals(name, value.kind, reals_[a], reals_[b]);
    }
  }

  typename S::F32 of_reals(const Name& name, Kind kind, const typename S::F32& a,
                           const typename S::F32& b) {
    switch (kind) {
      case Kind::kAdd:
        return s_.add_f32(name, a, b);
      case Kind::kSub:
        return s_.sub_f32(name, a, b);
      case Kind::kMul:
        return s_.mul_f32(name, a, b);
      case Kind::kDiv:
        return s_.div_f32(name, a, b);
      case Kind::kMax:
        return s_.max_f32(name, a, b);
      case Kind::kMin:
        return s_.min_f32(name, a, b);
      case Kind::kNeg:
        return s_.neg_f32(name, a);
      case Kind::kAbs:
        return s_.abs_f32(name, a);
      case Kind::kAtLeast:
        return s_.at_least_f32(name, a, b);
      case Kind::kAtMost:
        return s_.at_most_f32(name, a, b);
      default:
        return s_.unless_negative(name, a, b);
    }
  }

  S& s_;
  const ExpressionPlan& plan_;
  std::vector<typename S::F32> reals_;
  std::vector<typename S::I32> integers_;
  typename S::F32 low_, high_;  // of the results so far
};

}  // namespace expression_detail

template <class S>
void expression_kernel(S& s, const ExpressionPlan& plan) {
  expression_detail::Evaluation<S>(s, plan).run();
}

// DynamicQuantizeLinear's parameters. Operands: x, lanes (2 L floats of scratch), scale, zero
// point.
struct DynamicRangePlan {
  int n = 1;
};

// The range of vectors, then that of their lanes. 0 is always in it, so lanes without an element
// change nothing, nor does the order of the elements: a zero of either sign replaces none.
template <class S>
void dynamic_range_kernel(S& s, const DynamicRangePlan& plan) {
  using Index = typename S::Index;
  constexpr int kTogether = 4;
  const int lanes = s.isa().lanes;
  const auto x = s.template operand<const float>(0);
  std::vector<typename S::F32> low, high;
  for (int v = 0; v < kTogether; ++v) {
    low.push_back(s.splat_f32(Name("low").at("v", v), 0.0F));
    high.push_back(s.splat_f32(Name("high").at("v", v), 0.0F));
  }
  const auto widen = [&](const Index& first, int n) {
    for (int v = 0; v * lanes < n; ++v) {
      const auto at = static_cast<std::size_t>(v);
      const int left = std::min(lanes, n - v * lanes);
      const auto p = x + first + Index(v * lanes);
      const Name name = Name("x").at("v", v);
      const auto value = left == lanes ? s.load_f32(name, p) : s.load_f32_n(name, p, left);
      s.fall_to(low[at], value);
      s.rise_to(high[at], value);
    }
  };
  const int chunk = kTogether * lanes;
  const int full = plan.n / chunk;
  const int rest = plan.n % chunk;
  if (full == 1) s.block([&] { widen(Index(0), chunk); });
  if (full > 1) s.loop("chunk", full, [&](const Index& c) { widen(c * chunk, chunk); });
  if (rest != 0) s.block([&] { widen(Index(full * chunk), rest); });
  for (std::size_t v = 1; v < kTogether; ++v) {
    s.fall_to(low[0], low[v]);
    s.rise_to(high[0], high[v]);
  }
  expression_detail::finish_range(s, low[0], high[0], 1, 2, 3);
}

}  // namespace etch

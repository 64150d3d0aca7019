// Elementwise kernels on float32 and wider integers that call the runtime row by row: arithmetic
// with broadcasting, functions of one element, conversions, and quantization with parameters that
// are known at run time, per axis or per block.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "compiler/ir/dtype.h"
#include "templates/external/convert.h"
#include "templates/external/rows.h"
#include "templates/kernels/arguments.h"

namespace etch {

// y = a op b; operands of the nest: a, b, y.
struct CombinePlan {
  enum class Kind {
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMax,
    kMin,
    kMod,
    kRemainder,
    kPRelu,
    kBitAnd,
    kBitOr,
    kBitXor,
    kShiftLeft,
    kShiftRight,
    kDivByDoubles  // kDiv of kS32 in vectors of doubles
  };
  Kind kind = Kind::kAdd;
  // Or kS32, kS64; kPRelu: always kF32, kMod and bits: never. kU8: both 8-bit types, as stored; not
  // for what shifts.
  DType type = DType::kF32;
  Argument a, b;
  int y = 0;  // operand of the step
  rt::Stored y_stored{0, 0};
  RowNest rows;
};

namespace arithmetic_detail {

template <class T, class Function, class S>
void combine_by(S& s, const CombinePlan& plan, const Function& function) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(function, pointer_to<T>(s, plan.a) + at[0], static_cast<int>(rows.step[0]),
           pointer_to<T>(s, plan.b) + at[1], static_cast<int>(rows.step[1]),
           s.template operand<T>(plan.y) + at[2], rows.n);
  });
}

template <class T, class Operation, class S>
void combine(S& s, const CombinePlan& plan) {
  combine_by<T>(s, plan, external::Combine<Operation, T>{});
}

template <class T, class S>
void combine_bits(S& s, const CombinePlan& plan) {
  if (plan.kind == CombinePlan::Kind::kBitAnd)
    return combine_by<T>(s, plan, external::CombineBits<rt::BitAnd, T>{});
  if (plan.kind == CombinePlan::Kind::kBitOr)
    return combine_by<T>(s, plan, external::CombineBits<rt::BitOr, T>{});
  if (plan.kind == CombinePlan::Kind::kBitXor)
    return combine_by<T>(s, plan, external::CombineBits<rt::BitXor, T>{});
  if (plan.kind == CombinePlan::Kind::kShiftLeft)
    return combine_by<T>(s, plan, external::CombineBits<rt::ShiftLeft, T>{});
  combine_by<T>(s, plan, external::CombineBits<rt::ShiftRight, T>{});
}

template <class T, class S>
void combine(S& s, const CombinePlan& plan) {
  switch (plan.kind) {
    case CombinePlan::Kind::kAdd:
      return combine<T, rt::Add>(s, plan);
    case CombinePlan::Kind::kSub:
      return combine<T, rt::Sub>(s, plan);
    case CombinePlan::Kind::kMul:
      return combine<T, rt::Mul>(s, plan);
    case CombinePlan::Kind::kDiv:
      return combine<T, rt::Div>(s, plan);
    case CombinePlan::Kind::kDivByDoubles:
      return combine_by<std::int32_t>(s, plan, external::Combine<rt::DivByDoubles, std::int32_t>{});
    case CombinePlan::Kind::kMax:
      return combine<T, rt::Max>(s, plan);
    case CombinePlan::Kind::kMin:
      return combine<T, rt::Min>(s, plan);
    case CombinePlan::Kind::kMod:
      if constexpr (!std::is_same_v<T, float>) combine<T, rt::Mod>(s, plan);
      return;
    case CombinePlan::Kind::kRemainder:
      return combine<T, rt::Remainder>(s, plan);
    case CombinePlan::Kind::kPRelu:
      return combine_by<float>(s, plan, external::PRelu{});
    default:
      if constexpr (!std::is_same_v<T, float>) combine_bits<T>(s, plan);
  }
}

template <class Operation, class S>
void combine_bytes(S& s, const CombinePlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::CombineBytes<Operation>{}, pointer_to<std::uint8_t>(s, plan.a) + at[0],
           static_cast<int>(rows.step[0]), plan.a.stored,
           pointer_to<std::uint8_t>(s, plan.b) + at[1], static_cast<int>(rows.step[1]),
           plan.b.stored, s.template operand<std::uint8_t>(plan.y) + at[2], plan.y_stored, rows.n);
  });
}

template <class S>
void combine_bytes(S& s, const CombinePlan& plan) {
  switch (plan.kind) {
    case CombinePlan::Kind::kAdd:
      return combine_bytes<rt::Add>(s, plan);
    case CombinePlan::Kind::kSub:
      return combine_bytes<rt::Sub>(s, plan);
    case CombinePlan::Kind::kMul:
      return combine_bytes<rt::Mul>(s, plan);
    case CombinePlan::Kind::kDiv:
      return combine_bytes<rt::Div>(s, plan);
    case CombinePlan::Kind::kMod:
      return combine_bytes<rt::Mod>(s, plan);
    case CombinePlan::Kind::kRemainder:
      return combine_bytes<rt::TruncatedMod>(s, plan);
    case CombinePlan::Kind::kMax:
      return combine_bytes<rt::Max>(s, plan);
    case CombinePlan::Kind::kMin:
      return combine_bytes<rt::Min>(s, plan);
    case CombinePlan::Kind::kBitAnd:
      return combine_bytes<rt::BitAnd>(s, plan);
    case CombinePlan::Kind::kBitOr:
      return combine_bytes<rt::BitOr>(s, plan);
    default:
      return combine_bytes<rt::BitXor>(s, plan);
  }
}

}  // namespace arithmetic_detail

template <class S>
void combine_kernel(S& s, const CombinePlan& plan) {
  if (plan.type == DType::kU8) return arithmetic_detail::combine_bytes(s, plan);
  if (plan.type == DType::kS64) {
    arithmetic_detail::combine<std::int64_t>(s, plan);
  } else if (plan.type == DType::kS32) {
    arithmetic_detail::combine<std::int32_t>(s, plan);
  } else {
    arithmetic_detail::combine<float>(s, plan);
  }
}

// y = f(x); operand 0 is x, operand 1 y, and so in the nest.
struct MapPlan {
  enum class Kind { kRelu, kLeakyRelu, kSigmoid, kRoundEven, kAtLeast, kAtMost, kClip };
  Kind kind = Kind::kRelu;
  DType type = DType::kF32;       // limits also kS32 and kU8
  float alpha = 0;                // of kLeakyRelu
  float low = 0, high = 0;        // limits on floats
  int int_low = 0, int_high = 0;  // limits on integers, as stored
  RowNest rows;
};

namespace arithmetic_detail {

template <class T, class Operation, class S, class Parameter>
void map(S& s, const MapPlan& plan, Parameter parameter) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::Map<Operation, T>{}, s.template operand<const T>(0) + at[0],
           static_cast<int>(rows.step[0]), s.template operand<T>(1) + at[1], rows.n, parameter);
  });
}

template <class T, class S, class Limit>
void clip(S& s, const MapPlan& plan, Limit low, Limit high) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::Clip<T>{}, s.template operand<const T>(0) + at[0],
           static_cast<int>(rows.step[0]), s.template operand<T>(1) + at[1], rows.n, low, high);
  });
}

template <class T, class S, class Limit>
void limit(S& s, const MapPlan& plan, Limit low, Limit high) {
  if (plan.kind == MapPlan::Kind::kAtLeast) {
    map<T, rt::AtLeast>(s, plan, low);
  } else if (plan.kind == MapPlan::Kind::kAtMost) {
    map<T, rt::AtMost>(s, plan, high);
  } else {
    clip<T>(s, plan, low, high);
  }
}

template <class S>
void map_floats(S& s, const MapPlan& plan) {
  switch (plan.kind) {
    case MapPlan::Kind::kRelu:
      return map<float, rt::Relu>(s, plan, 0.0F);
    case MapPlan::Kind::kLeakyRelu:
      return map<float, rt::LeakyRelu>(s, plan, plan.alpha);
    case MapPlan::Kind::kSigmoid:
      return map<float, rt::Sigmoid>(s, plan, 0.0F);
    case MapPlan::Kind::kRoundEven:
      return map<float, rt::RoundEven>(s, plan, 0.0F);
    default:
      return limit<float>(s, plan, plan.low, plan.high);
  }
}

}  // namespace arithmetic_detail

template <class S>
void map_kernel(S& s, const MapPlan& plan) {
  if (plan.type == DType::kU8) {
    arithmetic_detail::limit<std::uint8_t>(s, plan, plan.int_low, plan.int_high);
  } else if (plan.type == DType::kS32) {
    arithmetic_detail::limit<std::int32_t>(s, plan, plan.int_low, plan.int_high);
  } else {
    arithmetic_detail::map_floats(s, plan);
  }
}

// y = x in another type; operand 0 is x, operand 1 y, and so in the nest. Types are those of the
// model; 8-bit elements and bool are kept in uint8.
struct CastPlan {
  DType from = DType::kS32;
  DType to = DType::kF32;
  rt::Stored x{0, 0}, y{0, 0};
  RowNest rows;
};

namespace arithmetic_detail {

template <class From, class To, class Kept, class S>
void cast_rows(S& s, const CastPlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::Cast<To, From, Kept>{}, s.template operand<const From>(0) + at[0],
           static_cast<int>(rows.step[0]), plan.x, s.template operand<Kept>(1) + at[1], plan.y,
           rows.n);
  });
}

template <class From, class S>
void cast_from(S& s, const CastPlan& plan) {
  switch (plan.to) {
    case DType::kF32:
      return cast_rows<From, float, float>(s, plan);
    case DType::kS64:
      return cast_rows<From, std::int64_t, std::int64_t>(s, plan);
    case DType::kS32:
      return cast_rows<From, std::int32_t, std::int32_t>(s, plan);
    case DType::kS16:
      return cast_rows<From, std::int16_t, std::int16_t>(s, plan);
    case DType::kU16:
      return cast_rows<From, std::uint16_t, std::uint16_t>(s, plan);
    case DType::kS8:
      return cast_rows<From, std::int8_t, std::uint8_t>(s, plan);
    case DType::kU8:
      return cast_rows<From, std::uint8_t, std::uint8_t>(s, plan);
    default:
      return cast_rows<From, bool, std::uint8_t>(s, plan);
  }
}

}  // namespace arithmetic_detail

template <class S>
void cast_kernel(S& s, const CastPlan& plan) {
  switch (plan.from) {
    case DType::kF32:
      return arithmetic_detail::cast_from<float>(s, plan);
    case DType::kS64:
      return arithmetic_detail::cast_from<std::int64_t>(s, plan);
    case DType::kS32:
      return arithmetic_detail::cast_from<std::int32_t>(s, plan);
    case DType::kS16:
      return arithmetic_detail::cast_from<std::int16_t>(s, plan);
    case DType::kU16:
      return arithmetic_detail::cast_from<std::uint16_t>(s, plan);
    default:
      return arithmetic_detail::cast_from<std::uint8_t>(s, plan);
  }
}

// QuantizeLinear and DequantizeLinear with any parameters. Operands of the nests: x, scale, zero
// point, y. Parts differ where the last block of a blocked axis is shorter.
struct ScalePlan {
  DType type = DType::kU8;  // of the integers: kU8 (for both 8-bit types), kU16, kS16, kS32
  Argument x, scale, zero_point;
  int y = 0;                // operand of the step
  rt::Stored y_as{0, 0};    // QuantizeLinear
  rt::Range range{0, 255};  // QuantizeLinear
  bool by_factors = false;  // QuantizeLinear: `scale` holds the reciprocals
  std::vector<RowNest> parts;
};

namespace arithmetic_detail {

template <class Row, class T, class S>
void quantize_rows(S& s, const ScalePlan& plan) {
  for (const RowNest& rows : plan.parts) {
    walk_rows(s, rows, [&](const RowPlace<S>& at) {
      s.call(Row{}, pointer_to<float>(s, plan.x) + at[0], static_cast<int>(rows.step[0]),
             pointer_to<float>(s, plan.scale) + at[1], static_cast<int>(rows.step[1]),
             pointer_to<T>(s, plan.zero_point) + at[2], static_cast<int>(rows.step[2]),
             plan.zero_point.stored, s.template operand<T>(plan.y) + at[3], plan.y_as, plan.range,
             rows.n);
    });
  }
}

template <class T, class S>
void quantize_rows(S& s, const ScalePlan& plan) {
  if (plan.by_factors) return quantize_rows<external::QuantizeRowByFactors<T>, T>(s, plan);
  quantize_rows<external::QuantizeRow<T>, T>(s, plan);
}

template <class T, class S>
void dequantize_rows(S& s, const ScalePlan& plan) {
  for (const RowNest& rows : plan.parts) {
    walk_rows(s, rows, [&](const RowPlace<S>& at) {
      s.call(external::DequantizeRow<T>{}, pointer_to<T>(s, plan.x) + at[0],
             static_cast<int>(rows.step[0]), plan.x.stored,
             pointer_to<float>(s, plan.scale) + at[1], static_cast<int>(rows.step[1]),
             pointer_to<T>(s, plan.zero_point) + at[2], static_cast<int>(rows.step[2]),
             plan.zero_point.stored, s.template operand<float>(plan.y) + at[3], rows.n);
    });
  }
}

}  // namespace arithmetic_detail

template <class S>
void quantize_rows_kernel(S& s, const ScalePlan& plan) {
  if (plan.type == DType::kU16) return arithmetic_detail::quantize_rows<std::uint16_t>(s, plan);
  if (plan.type == DType::kS16) return arithmetic_detail::quantize_rows<std::int16_t>(s, plan);
  arithmetic_detail::quantize_rows<std::uint8_t>(s, plan);
}

template <class S>
void dequantize_rows_kernel(S& s, const ScalePlan& plan) {
  if (plan.type == DType::kU16) return arithmetic_detail::dequantize_rows<std::uint16_t>(s, plan);
  if (plan.type == DType::kS16) return arithmetic_detail::dequantize_rows<std::int16_t>(s, plan);
  if (plan.type == DType::kS32) return arithmetic_detail::dequantize_rows<std::int32_t>(s, plan);
  arithmetic_detail::dequantize_rows<std::uint8_t>(s, plan);
}

}  // namespace etch

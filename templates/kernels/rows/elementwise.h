// Kernels that treat elements one by one: copies between layouts, int8 to uint8 flips,
// QuantizeLinear, DequantizeLinear, QLinearAdd and QLinearMul. All walk a Nest: loops over axes
// with a stride per operand around an innermost run that the chunk body handles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/etch_mve.h"
#include "templates/external/move.h"
#include "templates/external/ops.h"
#include "templates/kernels/rows/nest.h"
#include "templates/kernels/rows/product.h"
#include "templates/kernels/rows/sum.h"
#include "templates/kernels/rows/transpose.h"
#include "templates/stage.h"

namespace etch {

namespace nest_detail {

// Calls body(at, n, begin(start of the run)) for chunks of at most `chunk` elements along the run.
template <class S, class Begin, class Body>
void chunks_of_runs(S& s, const Nest& nest, int chunk, Begin begin, Body body) {
  At<S> start;
  for (int o = 0; o < kNestOperands; ++o) start.i[o] = typename S::Index(nest.offset[o]);
  walk(s, nest, 0, start, [&](const At<S>& at) {
    const auto moved = [&](const typename S::Index& elements) {
      At<S> out = at;
      for (int o = 0; o < kNestOperands; ++o) {
        if (!nest.repeats[o])
          out.i[o] = at.i[o] + elements * (o == kNestOperands - 1 ? nest.out_step : 1);
      }
      return out;
    };
    const int full = nest.run / chunk;
    const auto common = begin(at);
    const auto scoped = [&](const typename S::Index& first, int n) {
      s.block([&] { body(moved(first), n, common); });
    };
    if (full == 1) scoped(typename S::Index(0), chunk);
    if (full > 1) {
      s.loop("chunk", full,
             [&](const typename S::Index& c) { body(moved(c * chunk), chunk, common); });
    }
    if (nest.run % chunk != 0) scoped(typename S::Index(full * chunk), nest.run % chunk);
  });
}

// Calls body(at, n) for chunks of at most `chunk` elements along the run.
template <class S, class Body>
void chunks(S& s, const Nest& nest, int chunk, Body body) {
  chunks_of_runs(
      s, nest, chunk, [](const At<S>&) { return 0; },
      [&](const At<S>& at, int n, int) { body(at, n); });
}

template <class S>
typename S::Bytes load(S& s, const Name& name,
                       const typename S::template Ptr<const std::uint8_t>& p, int n) {
  return n == 4 * s.isa().lanes ? s.load_bytes(name, p) : s.load_bytes_n(name, p, n);
}

template <class S>
void store(S& s, const Nest& nest, const typename S::template Ptr<std::uint8_t>& p,
           const typename S::Bytes& bytes, int n) {
  if (nest.out_step != 1) {
    s.store_spread(p, bytes, static_cast<int>(nest.out_step), n);
  } else if (n == 4 * s.isa().lanes) {
    s.store_bytes(p, bytes);
  } else {
    s.store_slice(p, bytes, 0, n);
  }
}

// Runs that are copied by words from any place, or by Helium's vectors, which verbs do not say. Of
// loops that flip bits gcc makes words where it may.
inline bool is_run_for_words(const Nest& nest, int flip, const IsaTraits& isa) {
  constexpr int kLeast = 16;
  const bool words = isa.assembly == Assembly::kDsp && flip == 0;
  return (words || isa.assembly == Assembly::kMve) && nest.run >= kLeast && nest.out_step == 1;
}

template <class S>
void copy_run(S& s, const typename S::template Ptr<const std::uint8_t>& x,
              const typename S::template Ptr<std::uint8_t>& y, int n, int flip) {
  if (flip == 0) {
    s.call(external::CopyRun{}, x, y, n);
  } else {
    s.call(external::FlipRun{}, x, y, n, flip);
  }
}

// Calls load(name, place, n or 0 for a full vector) -> I32 for each plane of the chunk at `at`, and
// stores their elements side by side, `zero_point` added and saturated.
template <class S, class Load>
void store_planes(S& s, const Nest& nest, const At<S>& at, int n, int zero_point, int flip,
                  const typename S::template Ptr<std::uint8_t>& y, Load load) {
  std::vector<typename S::I32> q;
  q.reserve(4);
  for (int p = 0; p < nest.planes; ++p) {
    q.push_back(
        load(p, at.i[0] + typename S::Index(p * nest.plane_step), n == s.isa().lanes ? 0 : n));
  }
  while (q.size() < 4) q.push_back(q.back());
  const auto packed = s.narrow4("packed", q[0], q[1], q[2], q[3], zero_point);
  auto bytes = s.interleave("bytes", packed, nest.planes);
  if (flip != 0) bytes = s.xor_bytes("flipped", bytes, s.splat_bytes("flip", flip));
  if (n * nest.planes == 4 * s.isa().lanes) {
    s.store_bytes(y, bytes);
  } else {
    s.store_slice(y, bytes, 0, n * nest.planes);
  }
}

}  // namespace nest_detail

// Operands: 0 = x, 1 = y. In a nest, x is operand 0 and y the last. Elements larger than a byte
// are copied as bytes: the nest then counts bytes.
struct CopyPlan {
  Nest nest;
  int flip = 0;                // xor of every byte; 128 turns int8 into stored uint8 and back
  bool x_is_constant = false;  // x is the constant array "data", and y operand 0
  bool backwards = false;      // from the last byte of each run to the first; see copy_backwards()
};

// Runs from their end, in pieces that are read before they are written: y may overlap x, starting
// after it. The nest's steps are negative, so that the last rows come first.
template <class S>
void copy_backwards(S& s, const CopyPlan& plan) {
  using Index = typename S::Index;
  constexpr int kTogether = 4;
  const int chunk = 4 * s.isa().lanes;
  nest_detail::At<S> start;
  for (int o = 0; o < kNestOperands; ++o) start.i[o] = Index(plan.nest.offset[o]);
  nest_detail::walk(s, plan.nest, 0, start, [&](const nest_detail::At<S>& at) {
    const auto x = s.template operand<const std::uint8_t>(0) + at.i[0];
    const auto y = s.template operand<std::uint8_t>(1) + at.i[kNestOperands - 1];
    const auto piece = [&](const Index& first, int n) {
      std::vector<typename S::Bytes> bytes;
      for (int c = 0; c < n; c += chunk) {
        bytes.push_back(nest_detail::load(s, Name("bytes").at("c", c / chunk), x + first + Index(c),
                                          std::min(chunk, n - c)));
      }
      for (int c = 0; c < n; c += chunk) {
        nest_detail::store(s, plan.nest, y + first + Index(c),
                           bytes[static_cast<std::size_t>(c / chunk)], std::min(chunk, n - c));
      }
    };
    const int together = kTogether * chunk;
    const int full = plan.nest.run / together;
    const int rest = plan.nest.run % together;
    if (rest != 0) s.block([&] { piece(Index(full * together), rest); });
    if (full == 1) s.block([&] { piece(Index(0), together); });
    if (full <= 1) return;
    s.loop("piece", full, [&](const Index& i) {
      piece(Index(std::int64_t{full - 1} * together) + i * -together, together);
    });
  });
}

template <class S>
void copy_planes(S& s, const CopyPlan& plan) {
  const int lanes = s.isa().lanes;
  nest_detail::chunks(s, plan.nest, lanes, [&](const nest_detail::At<S>& at, int n) {
    const auto x = s.template operand<const std::uint8_t>(0);
    const auto y = s.template operand<std::uint8_t>(1) + at.i[kNestOperands - 1];
    nest_detail::store_planes(
        s, plan.nest, at, n, 0, plan.flip, y, [&](int p, const typename S::Index& i, int part) {
          const Name name = Name("x").at("p", p);
          return part == 0 ? s.load_u8(name, x + i) : s.load_u8_n(name, x + i, part);
        });
  });
}

template <class S>
void copy_kernel(S& s, const CopyPlan& plan) {
  if (plan.nest.planes > 1) return copy_planes(s, plan);
  if (plan.backwards) return copy_backwards(s, plan);
  if (const auto part = nest_detail::transposed_part(plan.nest, plan.flip, s.isa())) {
    const auto x = plan.x_is_constant ? s.template constant<const std::uint8_t>("data")
                                      : s.template operand<const std::uint8_t>(0);
    nest_detail::transpose(s, plan.nest, *part, plan.flip, x,
                           s.template operand<std::uint8_t>(plan.x_is_constant ? 0 : 1));
    return;
  }
  const bool whole = nest_detail::is_run_for_words(plan.nest, plan.flip, s.isa());
  const int chunk = whole ? plan.nest.run : 4 * s.isa().lanes;
  nest_detail::chunks(s, plan.nest, chunk, [&](const nest_detail::At<S>& at, int n) {
    const auto x = plan.x_is_constant ? s.template constant<const std::uint8_t>("data")
                                      : s.template operand<const std::uint8_t>(0);
    const auto y =
        s.template operand<std::uint8_t>(plan.x_is_constant ? 0 : 1) + at.i[kNestOperands - 1];
    if (whole) return nest_detail::copy_run(s, x + at.i[0], y, n, plan.flip);
    auto bytes = nest_detail::load(s, "bytes", x + at.i[0], n);
    if (plan.flip != 0) bytes = s.xor_bytes("flipped", bytes, s.splat_bytes("flip", plan.flip));
    nest_detail::store(s, plan.nest, y, bytes, n);
  });
}

// x float32, y stored uint8. docs/spec/quantization.md section 2.3: true division, clamp in float,
// round, add.
struct QuantizePlan {
  Nest nest;
  float scale = 1;
  int low = 0, high = 255;  // qmin - zero point, qmax - zero point of the logical type
  int zero_point = 0;       // as stored
  std::string function;     // in assembly, for a whole run; empty: there is none
};

// `n` elements at x, or a full vector for 0, quantized except for the zero point.
template <class S>
typename S::I32 quantize_vector(S& s, const QuantizePlan& plan, const char* axis, int position,
                                const typename S::template Ptr<const float>& x, int n) {
  const auto named = [&](const char* stem) { return Name(stem).at(axis, position); };
  const auto real = n == 0 ? s.load_f32(named("x"), x) : s.load_f32_n(named("x"), x, n);
  const auto scaled = s.div_f32(named("scaled"), real, s.splat_f32(named("scale"), plan.scale));
  const auto inside = s.clamp_f32(named("inside"), scaled, static_cast<float>(plan.low),
                                  static_cast<float>(plan.high));
  return s.round_i32(named("q"), inside);
}

template <class S>
void quantize_planes(S& s, const QuantizePlan& plan) {
  nest_detail::chunks(s, plan.nest, s.isa().lanes, [&](const nest_detail::At<S>& at, int n) {
    const auto x = s.template operand<const float>(0);
    const auto y = s.template operand<std::uint8_t>(1) + at.i[kNestOperands - 1];
    nest_detail::store_planes(s, plan.nest, at, n, plan.zero_point, 0, y,
                              [&](int p, const typename S::Index& i, int part) {
                                return quantize_vector(s, plan, "p", p, x + i, part);
                              });
  });
}

template <class S>
void quantize_runs(S& s, const QuantizePlan& plan) {
  const Nest& nest = plan.nest;
  const rt::MveQuantize run{nest.run,   static_cast<std::ptrdiff_t>(nest.out_step),
                            plan.scale, plan.low,
                            plan.high,  plan.zero_point};
  const auto native = [run](const float* x, std::uint8_t* y) { rt::mve_quantize(x, y, run); };
  nest_detail::chunks(s, nest, nest.run, [&](const nest_detail::At<S>& at, int n) {
    s.call(assembly_call({plan.function, "etch_mve.h", FloatUse::kUsed}, native,
                         std::int64_t{4} * n, (n - 1) * nest.out_step + 1),
           s.template operand<const float>(0) + at.i[0],
           s.template operand<std::uint8_t>(1) + at.i[kNestOperands - 1]);
  });
}

template <class S>
void quantize_kernel(S& s, const QuantizePlan& plan) {
  if (!plan.function.empty()) return quantize_runs(s, plan);
  if (plan.nest.planes > 1) return quantize_planes(s, plan);
  const int lanes = s.isa().lanes;
  nest_detail::chunks(s, plan.nest, 4 * lanes, [&](const nest_detail::At<S>& at, int n) {
    const auto x = s.template operand<const float>(0) + at.i[0];
    const auto y = s.template operand<std::uint8_t>(1) + at.i[kNestOperands - 1];
    std::vector<typename S::I32> q;
    for (int v = 0; v < 4; ++v) {
      const int left = n - v * lanes;
      q.push_back(left > 0
                      ? quantize_vector(s, plan, "v", v, x + v * lanes, left >= lanes ? 0 : left)
                      : q.back());
    }
    const auto packed = s.narrow4("packed", q[0], q[1], q[2], q[3], plan.zero_point);
    nest_detail::store(s, plan.nest, y, s.arrange1("bytes", packed), n);
  });
}

// x stored uint8, y float32. docs/spec/quantization.md section 2.4: integer subtract, one product.
struct DequantizePlan {
  Nest nest;  // out_step must be 1
  float scale = 1;
  int zero_point = 0;  // as stored
};

template <class S>
void dequantize_kernel(S& s, const DequantizePlan& plan) {
  const int lanes = s.isa().lanes;
  nest_detail::chunks(s, plan.nest, lanes, [&](const nest_detail::At<S>& at, int n) {
    const auto x = s.template operand<const std::uint8_t>(0) + at.i[0];
    const auto y = s.template operand<float>(1) + at.i[kNestOperands - 1];
    auto q = n == lanes ? s.load_u8("q", x) : s.load_u8_n("q", x, n);
    s.add_i32(q, s.splat_i32("zero_point", -plan.zero_point));
    // First: in which order arguments are computed, and so recorded, is up to the compiler.
    const auto scale = s.splat_f32("scale", plan.scale);
    const auto real = s.mul_f32("real", s.to_f32("centred", q), scale);
    if (n == lanes) {
      s.store_f32(y, real);
    } else {
      s.store_f32_n(y, real, n);
    }
  });
}

// QLinearAdd and QLinearMul. Operands: a and b unless constant, then y.
template <class Factors>
struct BinaryPlan {
  Nest nest;
  Factors factors;
  bool a_is_constant = false, b_is_constant = false;  // constant arrays "a" and "b"
  int low = 0, high = 255;                            // limits of y, as stored
};

// What rt::add_bytes() and, in int32, rt::add_bytes_narrow() and rt::add_bytes_to_even() take;
// templates/kernels/rows/sum.h has the rule that they equal.
struct SumLineArguments {
  rt::SumForm form = rt::kWideSum;
  int a_factor = 0, b_factor = 0, offset_low = 0, offset_high = 0, bits = 32;
};
struct AddPlan : BinaryPlan<SumFactors> {
  std::optional<SumLineArguments> line;  // rows are added without floats
};
using MultiplyPlan = BinaryPlan<ProductFactors>;

namespace nest_detail {

template <class S>
struct BinaryPtrs {
  typename S::template Ptr<const std::uint8_t> a, b;
  typename S::template Ptr<std::uint8_t> y;
};

template <class S, class Plan>
BinaryPtrs<S> operands_at(S& s, const Plan& plan, const At<S>& at) {
  int operand = 0;
  const auto input = [&](bool constant, const char* name) {
    return constant ? s.template constant<const std::uint8_t>(name)
                    : s.template operand<const std::uint8_t>(operand++);
  };
  const auto a = input(plan.a_is_constant, "a") + at.i[0];
  const auto b = input(plan.b_is_constant, "b") + at.i[1];
  return {a, b, s.template operand<std::uint8_t>(operand) + at.i[2]};
}

// body(a, b, y, n): pointers to runs of at most `chunk` elements.
template <class S, class Plan, class Body>
void both(S& s, const Plan& plan, int chunk, Body body) {
  chunks(s, plan.nest, chunk, [&](const At<S>& at, int n) {
    const BinaryPtrs<S> p = operands_at(s, plan, at);
    body(p.a, p.b, p.y, n);
  });
}

template <class S, class Plan>
typename S::Bytes limited(S& s, const Plan& plan, typename S::Bytes bytes) {
  if (plan.low > 0) bytes = s.max_bytes("above", bytes, s.splat_bytes("low", plan.low));
  if (plan.high < 255) bytes = s.min_bytes("below", bytes, s.splat_bytes("high", plan.high));
  return bytes;
}

// y = combine(bytes of a, bytes of b), a vector at a time.
template <class S, class Plan, class Combine>
void binary(S& s, const Plan& plan, Combine combine) {
  both(s, plan, 4 * s.isa().lanes, [&](const auto& pa, const auto& pb, const auto& y, int n) {
    const bool* const repeats = plan.nest.repeats;
    const auto a = repeats[0] ? s.broadcast_bytes("a_bytes", pa) : load(s, "a_bytes", pa, n);
    const auto b = repeats[1] ? s.broadcast_bytes("b_bytes", pb) : load(s, "b_bytes", pb, n);
    store(s, plan.nest, y, limited(s, plan, combine(a, b)), n);
  });
}

// A sum whose second operand is one byte along the run: y could be where that is, so that compilers
// would read and convert it for every vector.
template <class S>
void add_repeated(S& s, const AddPlan& plan) {
  chunks_of_runs(
      s, plan.nest, 4 * s.isa().lanes,
      [&](const At<S>& at) {
        const auto b = s.broadcast_bytes("b_bytes", operands_at(s, plan, at).b);
        return addend_of_bytes(s, plan.factors, b);
      },
      [&](const At<S>& at, int n, const std::vector<typename S::F32>& addend) {
        const BinaryPtrs<S> p = operands_at(s, plan, at);
        const auto a = load(s, "a_bytes", p.a, n);
        store(s, plan.nest, p.y, limited(s, plan, sum_with_addend(s, plan.factors, a, addend)), n);
      });
}

// A sum without floats.
template <class S>
void add_along_line(S& s, const AddPlan& plan, const SumLineArguments& line) {
  both(s, plan, plan.nest.run, [&](const auto& a, const auto& b, const auto& y, int n) {
    if (line.form == rt::kWideSum) {
      s.call(external::AddBytes{}, a, b, y, n, line.a_factor, line.b_factor, line.offset_low,
             line.offset_high, 32 - line.bits, plan.low, plan.high);
    } else {
      s.call(external::AddBytesNarrow(line.form == rt::kSumToEven), a, b, y, n, line.a_factor,
             line.b_factor, line.offset_low, line.bits, plan.low, plan.high);
    }
  });
}

}  // namespace nest_detail

template <class S>
void add_kernel(S& s, const AddPlan& plan) {
  if (plan.line && plan.nest.out_step == 1) return nest_detail::add_along_line(s, plan, *plan.line);
  if (plan.nest.repeats[1] && !plan.nest.repeats[0]) return nest_detail::add_repeated(s, plan);
  nest_detail::binary(s, plan, [&](const auto& a, const auto& b) {
    return sum_of_bytes(s, plan.factors, nullptr, 0, a, b);
  });
}

template <class S>
void multiply_kernel(S& s, const MultiplyPlan& plan) {
  nest_detail::binary(s, plan, [&](const auto& a, const auto& b) {
    return product_of_bytes(s, plan.factors, a, b);
  });
}

}  // namespace etch

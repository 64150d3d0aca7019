// See wide_cases.h.
#include "tests/support/wide_cases.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {

namespace {

// Values of both signs, fractions where there are any.
Tensor spread(DType type, Shape shape) {
  Tensor out(type, std::move(shape));
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t value = (i * 167 + i / 31) % 509 - 254;
    switch (type) {
      case DType::kF32:
        out.as<float>()[at] = static_cast<float>(value) * 0.71F;
        break;
      case DType::kS32:
        out.as<std::int32_t>()[at] = static_cast<std::int32_t>(value * 70001);
        break;
      case DType::kS64:
        out.as<std::int64_t>()[at] = value * 7000100013;
        break;
      case DType::kS8:
        out.as<std::int8_t>()[at] = static_cast<std::int8_t>(value);
        break;
      default:
        out.as<std::uint8_t>()[at] = static_cast<std::uint8_t>(value);
    }
  }
  return out;
}

Case made(std::string name, const ModelBuilder& model, std::vector<Tensor> inputs) {
  return {std::move(name), model.bytes(), std::move(inputs)};
}

// One node of x and constants.
Case of_one(const std::string& name, const char* op, DType type, const Shape& shape,
            const std::map<std::string, Attribute>& attributes,
            const std::vector<std::pair<std::string, Tensor>>& constants = {}) {
  ModelBuilder model(18);
  std::vector<std::string> names{"x"};
  model.input("x", type, {shape.begin(), shape.end()});
  for (const auto& [constant, tensor] : constants) {
    if (!constant.empty()) model.initializer(constant, tensor);
    names.push_back(constant);
  }
  model.node(op, names, {"y"}, attributes).output("y");
  return made(cat(op, " ", name, " ", name_of(type), " ", to_string(shape)), model,
              {spread(type, shape)});
}

constexpr DType kTypes[] = {DType::kU8, DType::kS8, DType::kS32, DType::kF32};

// Beyond what other types hold: the low bits are kept, of floats those of the truncated value, or
// of -2^31 where that is no int32.
void add_extremes(std::vector<Case>& out) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr float kTwo31 = 2147483648.0F, kBelow = 2147483520.0F;
  const Tensor integers =
      s32({18}, {kMost, -kMost - 1, kMost - 64, 128 - kMost, 127, 128, -128, -129, 255, 256, -1, 0,
                 16777217, 16777219, -16777217, 33554433, kMost - 127, kMost - 128});
  const Tensor reals =
      f32({18}, {kTwo31, -kTwo31, kBelow, -kBelow, NAN, -NAN, INFINITY, -INFINITY, 127.9F, -128.9F,
                 255.5F, 256, -0.0F, -0.9F, 1e20F, -1e20F, 1e-45F, -300});
  for (const Tensor& x : {integers, reals}) {
    for (const std::int64_t to : {1, 2, 3, 6, 9}) {
      ModelBuilder model(18);
      model.input("x", x.dtype(), {18}).node("Cast", {"x"}, {"y"}, {{"to", to}}).output("y");
      out.push_back(made(cat("Cast of extremes ", name_of(x.dtype()), " ", to), model, {x}));
    }
  }
}

void add_conversions(std::vector<Case>& out) {
  for (const std::int64_t n : {16, 109}) {  // of AVX-512: vectors of all widths, one of bytes
    for (const DType from : kTypes) {
      for (const auto& [to, name] : {std::pair{1, "to float"},
                                     {2, "to uint8"},
                                     {3, "to int8"},
                                     {6, "to int32"},
                                     {9, "to bool"}})
        out.push_back(of_one(name, "Cast", from, {n}, {{"to", std::int64_t{to}}}));
    }
    out.push_back(
        of_one("", "Clip", DType::kU8, {n}, {}, {{"a", u8({}, {9})}, {"b", u8({}, {200})}}));
    out.push_back(
        of_one("", "Clip", DType::kS8, {n}, {}, {{"a", s8({}, {-99})}, {"b", s8({}, {50})}}));
    out.push_back(
        of_one("crossed", "Clip", DType::kU8, {n}, {}, {{"a", u8({}, {200})}, {"b", u8({}, {9})}}));
    out.push_back(of_one("", "Clip", DType::kS32, {n}, {},
                         {{"a", s32({}, {-900000})}, {"b", s32({}, {77777})}}));
  }
}

void add_reductions(std::vector<Case>& out) {
  for (const DType type : {DType::kU8, DType::kS8, DType::kS32}) {
    for (const char* op : {"ReduceMax", "ReduceMin"}) {
      out.push_back(of_one("of rows", op, type, {7, 5}, {}, {{"axes", s64({1}, {1})}}));
      out.push_back(of_one("of columns", op, type, {5, 9}, {}, {{"axes", s64({1}, {0})}}));
    }
  }
}

// Rows and columns that fill vectors, and where rows go on in the next one's lanes.
void add_long_reductions(std::vector<Case>& out) {
  const std::vector<std::pair<Ints, Shape>> places = {{{1}, {3, 200}},
                                                      {{0}, {5, 70}},
                                                      {{0, 2}, {3, 2, 37}},
                                                      {{0, 2}, {2, 3, 32}},
                                                      {{0, 2}, {4, 3, 7}}};
  for (const DType type : {DType::kU8, DType::kS8, DType::kS32, DType::kS64, DType::kF32}) {
    const bool is_byte = type == DType::kU8 || type == DType::kS8;
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd"}) {
      const bool folds = op[6] == 'S' || op[6] == 'P';
      for (const auto& [axes, shape] : places) {
        if (folds && is_byte) continue;
        const auto count = static_cast<std::int64_t>(axes.size());
        out.push_back(of_one("long", op, type, shape, {}, {{"axes", s64({count}, axes)}}));
        if (op[6] != 'P' || type != DType::kF32) continue;
        for (float& each : out.back().inputs[0].as<float>()) each = 1.0F + each / 1024.0F;
      }
    }
  }
}

void add_places(std::vector<Case>& out) {
  for (const DType type : {DType::kU8, DType::kS8, DType::kS32, DType::kS64, DType::kF32}) {
    for (const char* op : {"ArgMax", "ArgMin"}) {
      for (const std::int64_t last : {0, 1}) {
        for (const std::int64_t axis : {0, 1}) {
          out.push_back(of_one(cat("axis ", axis, last == 0 ? " first" : " last"), op, type,
                               {9, 150}, {{"axis", axis}, {"select_last_index", last}}));
          // Few different values: ties.
          for (std::byte& byte : out.back().inputs[0].mutable_bytes()) byte &= std::byte{3};
        }
      }
    }
  }
  out.push_back(
      of_one("that begin with NaN", "ArgMax", DType::kF32, {3, 40}, {{"axis", std::int64_t{1}}}));
  const auto values = out.back().inputs[0].as<float>();
  values[0] = values[57] = NAN;
  out.push_back(
      of_one("of zeros", "ReduceMax", DType::kF32, {2, 2, 20}, {}, {{"axes", s64({2}, {0, 2})}}));
  for (float& each : out.back().inputs[0].as<float>()) each = -std::abs(each);
  out.back().inputs[0].as<float>()[5] = -0.0F;
  out.back().inputs[0].as<float>()[41] = 0.0F;
}

void add_moves(std::vector<Case>& out) {
  for (const DType type : kTypes) {
    for (const std::int64_t channels : {2, 3, 4}) {
      for (const std::int64_t width : {16, 23}) {
        out.push_back(of_one("to pixels", "Transpose", type, {2, channels, 3, width},
                             {{"perm", Ints{0, 2, 3, 1}}}));
        out.push_back(of_one("to planes", "Transpose", type, {2, 3, width, channels},
                             {{"perm", Ints{0, 3, 1, 2}}}));
      }
    }
    const std::map<std::string, Attribute> nearest = {
        {"mode", std::string("nearest")},
        {"nearest_mode", std::string("floor")},
        {"coordinate_transformation_mode", std::string("asymmetric")}};
    for (const int width : {76, 114, 57}) {
      out.push_back(of_one(cat("to ", width), "Resize", type, {1, 2, 3, 38}, nearest,
                           {{"", {}}, {"", {}}, {"sizes", s64({4}, {1, 2, 6, width})}}));
    }
    for (const char* mode : {"reflect", "edge"}) {
      out.push_back(of_one(mode, "Pad", type, {2, 5, 41}, {{"mode", std::string(mode)}},
                           {{"pads", s64({6}, {0, 2, 3, 0, 1, 2})}}));
    }
  }
}

// More axes than a call has tables of positions for, all of them changed.
void add_many_axes(std::vector<Case>& out) {
  const auto list = [](const Ints& values) {
    return s64({static_cast<std::int64_t>(values.size())}, values);
  };
  for (const Shape& shape : {Shape{3, 2, 2, 3, 5}, Shape{2, 3, 2, 2, 2, 3}, Shape(8, 2)}) {
    const auto rank = static_cast<int>(shape.size());
    for (const DType type : kTypes) {
      Ints repeats, pads;
      for (int d = 0; d < rank; ++d) repeats.push_back(2 + d % 2 * (rank < 8));
      for (int d = 0; d < 2 * rank; ++d) pads.push_back(rank < 8 || d % 3 != 0);
      const std::pair<std::string, Tensor> times{"n", list(repeats)}, around{"pads", list(pads)};
      out.push_back(of_one("of all axes", "Tile", type, shape, {}, {times}));
      for (const char* mode : {"reflect", "edge"}) {
        out.push_back(of_one(mode, "Pad", type, shape, {{"mode", std::string(mode)}}, {around}));
      }
    }
  }
  // As a part of what another operator joins, along an axis inside.
  const Shape shape{2, 3, 2, 2, 3};
  for (const std::int64_t axis : {0, 2, 4}) {
    ModelBuilder model(18);
    model.input("x", DType::kF32, {shape.begin(), shape.end()});
    model.initializer("n", list(Ints(5, 2))).node("Tile", {"x", "n"}, {"t"});
    model.node("Neg", {"t"}, {"u"}).node("Concat", {"u", "t"}, {"y"}, {{"axis", axis}});
    model.output("y");
    out.push_back(made(cat("Tile in Concat ", axis), model, {spread(DType::kF32, shape)}));
  }
}

// One row, or few, times matrices that are transposed in the model.
Case single_row(const Shape& a, const Shape& b) {
  ModelBuilder model(18);
  model.input("a", DType::kF32, {a.begin(), a.end()}).input("b", DType::kF32, {b.begin(), b.end()});
  Ints perm;
  for (std::size_t d = 0; d < b.size(); ++d) perm.push_back(static_cast<std::int64_t>(d));
  std::swap(perm[perm.size() - 2], perm[perm.size() - 1]);
  model.node("Transpose", {"b"}, {"t"}, {{"perm", perm}}).node("MatMul", {"a", "t"}, {"y"});
  model.output("y");
  return made(cat("row ", to_string(a), " by ", to_string(b)), model,
              {spread(DType::kF32, a), spread(DType::kF32, b)});
}

void add_products(std::vector<Case>& out) {
  out.push_back(single_row({3, 1, 21}, {3, 45, 21}));
  out.push_back(single_row({2, 3, 1, 8}, {2, 3, 33, 8}));
  out.push_back(single_row({1, 1, 8}, {4, 33, 8}));
  out.push_back(single_row({4, 1, 8}, {1, 33, 8}));
  out.push_back(single_row({4, 2, 8}, {4, 33, 8}));
  out.push_back(single_row({1, 70}, {17, 70}));
  out.push_back(single_row({8}, {19, 8}));
  // Patches of images, and windows that overlap or have gaps.
  for (const std::int64_t stride : {2, 4, 5, -1}) {
    ModelBuilder model(18);
    model.input("x", DType::kF32, {1, 3, 13, 22});
    model.initializer("w", spread(DType::kF32, {18, 3, 4, 4}));
    model.node("Conv", {"x", "w"}, {"y"},
               stride < 0 ? std::map<std::string, Attribute>{{"dilations", Ints{1, 2}}}
                          : std::map<std::string, Attribute>{{"strides", Ints{stride, stride}}});
    model.output("y");
    out.push_back(made(cat("patches ", stride), model, {spread(DType::kF32, {1, 3, 13, 22})}));
  }
}

}  // namespace

std::vector<Case> wide_cases() {
  std::vector<Case> out;
  add_conversions(out);
  add_extremes(out);
  add_reductions(out);
  add_long_reductions(out);
  add_places(out);
  add_moves(out);
  add_many_axes(out);
  add_products(out);
  return out;
}

}  // namespace etch

// See select_cases.h.
#include "tests/support/select_cases.h"

#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {

DType any_type(Dice& dice) {
  return dice.pick<DType>(
      {DType::kU8, DType::kS8, DType::kF32, DType::kS32, DType::kS64, DType::kBool});
}

Shape any_select_shape(Dice& dice, std::int64_t least_rank, std::int64_t most_rank) {
  Shape out;
  const std::int64_t rank = dice.between(least_rank, most_rank);
  for (std::int64_t d = 0; d < rank; ++d) out.push_back(dice.one_in(5) ? 1 : dice.between(2, 6));
  return out;
}

// Few different values, so that comparisons find equal ones.
Tensor small_tensor(Dice& dice, DType type, Shape shape) {
  Tensor out(type, std::move(shape));
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t value = dice.between(-3, 3);
    if (type == DType::kF32) {
      out.as<float>()[at] = static_cast<float>(value) * 0.5F;
    } else if (type == DType::kS16) {
      out.as<std::int16_t>()[at] = static_cast<std::int16_t>(value * 999);
    } else if (type == DType::kU16) {
      out.as<std::uint16_t>()[at] = static_cast<std::uint16_t>(value * 999);
    } else if (type == DType::kU32) {
      out.as<std::uint32_t>()[at] = static_cast<std::uint32_t>(value);
    } else if (type == DType::kU64) {
      out.as<std::uint64_t>()[at] = static_cast<std::uint64_t>(value);
    } else if (type == DType::kS32) {
      out.as<std::int32_t>()[at] = static_cast<std::int32_t>(value);
    } else if (type == DType::kS64) {
      out.as<std::int64_t>()[at] = value;
    } else {
      const std::int64_t byte = type == DType::kBool ? value & 1 : value & 0xff;
      out.mutable_bytes()[at] = static_cast<std::byte>(byte);
    }
  }
  return out;
}

Tensor indices_of(Dice& dice, Shape shape, std::int64_t size) {
  const DType type = dice.one_in(2) ? DType::kS32 : DType::kS64;
  Tensor out(type, std::move(shape));
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const std::int64_t value = dice.between(-size, size - 1);
    if (type == DType::kS32) {
      out.as<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(value);
    } else {
      out.as<std::int64_t>()[static_cast<std::size_t>(i)] = value;
    }
  }
  return out;
}

Shape selected_along(Dice& dice, Shape shape) {
  for (std::int64_t& size : shape) size = dice.one_in(3) ? 1 : size;
  const auto drop = dice.one_in(2) ? 0 : dice.between(0, static_cast<std::int64_t>(shape.size()));
  shape.erase(shape.begin(), shape.begin() + drop);
  return shape;
}

// A model of one node, whose inputs are those of the graph or now and then constants.
class OneNodeModel {
 public:
  OneNodeModel(Dice& dice, std::int64_t opset) : dice_(dice), model_(opset) {}

  void input(Tensor tensor, int constant_one_in) {
    const std::string name = cat("x", names_.size());
    names_.push_back(name);
    if (constant_one_in > 0 && dice_.one_in(constant_one_in)) {
      model_.initializer(name, tensor);
      return;
    }
    model_.input(name, tensor.dtype(), declared_dims(tensor.shape()));
    inputs_.push_back(std::move(tensor));
  }

  Case finish(const std::string& op, int index,
              const std::map<std::string, Attribute>& attributes = {},
              const std::vector<std::string>& outputs = {"y"}) {
    model_.node(op, names_, outputs, attributes);
    for (const std::string& output : outputs) {
      if (!output.empty()) model_.output(output);
    }
    return {cat(op, "_", index), model_.bytes(), std::move(inputs_)};
  }

 private:
  Dice& dice_;
  ModelBuilder model_;
  std::vector<std::string> names_;
  std::vector<Tensor> inputs_;
};

std::int64_t any_axis(Dice& dice, const Shape& shape) {
  return dice.between(0, static_cast<std::int64_t>(shape.size()) - 1);
}

Case gather_case(int index, Dice& dice) {
  OneNodeModel model(dice, 13);
  const Shape shape = any_select_shape(dice, 1, 4);
  const std::int64_t axis = any_axis(dice, shape);
  model.input(small_tensor(dice, any_type(dice), shape), 4);
  model.input(indices_of(dice, any_select_shape(dice, 0, 2), shape[static_cast<std::size_t>(axis)]),
              2);
  return model.finish("Gather", index, {{"axis", axis}});
}

Case gather_elements_case(int index, Dice& dice) {
  OneNodeModel model(dice, 13);
  const Shape shape = any_select_shape(dice, 1, 4);
  const std::int64_t axis = any_axis(dice, shape);
  Shape picked = shape;
  for (std::int64_t& size : picked) size = dice.between(1, size);
  picked[static_cast<std::size_t>(axis)] = dice.between(1, 7);
  model.input(small_tensor(dice, any_type(dice), shape), 4);
  model.input(indices_of(dice, picked, shape[static_cast<std::size_t>(axis)]), 3);
  return model.finish("GatherElements", index, {{"axis", axis}});
}

Case where_case(int index, Dice& dice) {
  OneNodeModel model(dice, 13);
  const Shape shape = any_select_shape(dice, 0, 4);
  const bool is_16_bits = index % 3 == 0;
  const DType type = is_16_bits ? dice.pick<DType>({DType::kS16, DType::kU16}) : any_type(dice);
  model.input(small_tensor(dice, DType::kBool, selected_along(dice, shape)), 4);
  model.input(small_tensor(dice, type, selected_along(dice, shape)), 3);
  model.input(small_tensor(dice, type, shape), 0);
  return model.finish("Where", index);
}

Case compare_case(int index, Dice& dice) {
  const auto op = dice.pick<std::string>(
      {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor", "Not"});
  const bool logic = op == "And" || op == "Or" || op == "Xor" || op == "Not";
  OneNodeModel model(dice, 13);
  const Shape shape = any_select_shape(dice, 0, 4);
  const DType type = logic ? DType::kBool : any_type(dice);
  model.input(small_tensor(dice, type, shape), 0);
  if (op != "Not") model.input(small_tensor(dice, type, selected_along(dice, shape)), 3);
  return model.finish(op, index);
}

Case tile_case(int index, Dice& dice) {
  OneNodeModel model(dice, 13);
  const Shape shape = any_select_shape(dice, 1, 4);
  std::vector<std::int64_t> repeats;
  for (std::size_t d = 0; d < shape.size(); ++d) repeats.push_back(dice.between(1, 3));
  const auto rank = static_cast<std::int64_t>(shape.size());
  model.input(small_tensor(dice, any_type(dice), shape), 0);
  model.input(Tensor::of<std::int64_t>({rank}, repeats), 1);
  return model.finish("Tile", index);
}

Case block_case(int index, Dice& dice) {
  OneNodeModel model(dice, 13);
  const std::int64_t block = dice.between(1, 3);
  const std::int64_t channels = dice.between(1, 4);
  const std::int64_t height = dice.between(1, 4), width = dice.between(1, 4);
  const bool to_space = dice.one_in(2);
  const Shape shape = to_space ? Shape{2, channels * block * block, height, width}
                               : Shape{2, channels, height * block, width * block};
  model.input(small_tensor(dice, any_type(dice), shape), 0);
  std::map<std::string, Attribute> attributes{{"blocksize", block}};
  if (to_space) attributes["mode"] = std::string(dice.one_in(2) ? "DCR" : "CRD");
  return model.finish(to_space ? "DepthToSpace" : "SpaceToDepth", index, attributes);
}

// The positions may be omitted.
Case top_k_case(int index, Dice& dice) {
  OneNodeModel model(dice, 13);
  Shape shape = any_select_shape(dice, 1, 4);
  if (dice.one_in(3)) shape.back() = dice.between(16, 50);  // passed over together
  const std::int64_t axis = any_axis(dice, shape);
  const DType type =
      dice.pick<DType>({DType::kU8, DType::kS8, DType::kF32, DType::kS32, DType::kS64});
  model.input(small_tensor(dice, type, shape), 0);
  const std::int64_t k = dice.between(1, shape[static_cast<std::size_t>(axis)]);
  model.input(Tensor::of<std::int64_t>({1}, {k}), 1);
  const std::vector<std::string> outputs{"y", dice.one_in(4) ? "" : "i"};
  return model.finish("TopK", index, {{"axis", axis}, {"largest", dice.between(0, 1)}}, outputs);
}

// Coordinates at run time may be anything: they are limited to the axis.
Tensor wild_indices(Dice& dice, Shape shape, std::int64_t size) {
  Tensor out(DType::kS64, std::move(shape));
  for (std::int64_t& each : out.as<std::int64_t>())
    each = dice.one_in(9) ? dice.between(-99, 99) : dice.between(-size, size - 1);
  return out;
}

Case coordinates_case(int index, Dice& dice) {
  OneNodeModel model(dice, 18);
  const Shape shape = any_select_shape(dice, 1, 4);
  const DType type =
      dice.pick<DType>({DType::kU8, DType::kS8, DType::kF32, DType::kS32, DType::kS64});
  const std::int64_t count = dice.between(1, static_cast<std::int64_t>(shape.size()));
  const std::int64_t lists = dice.between(1, 5);
  const bool gathers = dice.one_in(3);
  model.input(small_tensor(dice, type, shape), gathers ? 0 : 4);
  model.input(wild_indices(dice, {lists, count}, 2), 0);
  if (gathers) return model.finish("GatherND", index);
  Shape updates{lists};
  updates.insert(updates.end(), shape.begin() + count, shape.end());
  model.input(small_tensor(dice, type, updates), 4);
  const auto how = dice.pick<std::string>({"none", "add", "mul", "max", "min"});
  return model.finish("ScatterND", index, {{"reduction", how}});
}

Case scatter_elements_case(int index, Dice& dice) {
  OneNodeModel model(dice, 18);
  const Shape shape = any_select_shape(dice, 1, 4);
  const std::int64_t axis = any_axis(dice, shape);
  Shape written = shape;
  for (std::int64_t& size : written) size = dice.between(1, size);
  const DType type = any_type(dice);
  model.input(small_tensor(dice, type, shape), 0);
  model.input(wild_indices(dice, written, shape[static_cast<std::size_t>(axis)]), 0);
  model.input(small_tensor(dice, type, written), 3);
  return model.finish("ScatterElements", index, {{"axis", axis}});
}

Case running_case(int index, Dice& dice) {
  OneNodeModel model(dice, 26);
  const Shape shape = any_select_shape(dice, 1, 4);
  const DType type = dice.pick<DType>({DType::kF32, DType::kS32, DType::kS64});
  model.input(small_tensor(dice, type, shape), 0);
  model.input(Tensor::of<std::int64_t>({}, {any_axis(dice, shape)}), 1);
  return model.finish(dice.one_in(2) ? "CumSum" : "CumProd", index,
                      {{"exclusive", dice.between(0, 1)}, {"reverse", dice.between(0, 1)}});
}

// Rows of fixed number, as the file declares them.
Case boxes_case(int index, Dice& dice) {
  const std::int64_t batches = dice.between(1, 2), classes = dice.between(1, 3);
  const std::int64_t count = dice.between(1, 9), rows = dice.between(1, 12);
  ModelBuilder model(13);
  const Tensor boxes = small_tensor(dice, DType::kF32, {batches, count, 4});
  const Tensor scores = small_tensor(dice, DType::kF32, {batches, classes, count});
  model.input("boxes", DType::kF32, declared_dims(boxes.shape()));
  model.input("scores", DType::kF32, declared_dims(scores.shape()));
  model.initializer("most", Tensor::of<std::int64_t>({1}, {dice.between(0, 4)}));
  model.initializer("overlap", Tensor::of<float>({1}, {dice.pick<float>({0, 0.25F, 0.5F})}));
  model.initializer("least", Tensor::of<float>({1}, {-0.5F}));
  std::vector<std::string> names{"boxes", "scores", "most", "overlap"};
  if (dice.one_in(2)) names.emplace_back("least");
  model.node("NonMaxSuppression", names, {"y"}, {{"center_point_box", dice.between(0, 1)}});
  model.output("y", DType::kS64, {rows, std::int64_t{3}});
  return {cat("NonMaxSuppression_", index), model.bytes(), {boxes, scores}};
}

// Boxes that begin and end inside and outside of the map, some without a size, some of no image.
Case roi_case(int index, Dice& dice) {
  const std::int64_t images = dice.between(1, 2), channels = dice.between(1, 3);
  const std::int64_t height = dice.between(1, 7), width = dice.between(1, 9);
  const std::int64_t count = dice.between(1, 4);
  ModelBuilder model(dice.one_in(2) ? 16 : 10);
  const Tensor x = small_tensor(dice, DType::kF32, {images, channels, height, width});
  std::vector<float> corners;
  std::vector<std::int64_t> image_of;
  for (std::int64_t r = 0; r < count; ++r) {
    for (int i = 0; i < 4; ++i)
      corners.push_back(static_cast<float>(dice.between(-40, 120)) * 0.125F);
    image_of.push_back(dice.between(dice.one_in(8) ? -1 : 0, images - 1));
  }
  const Tensor boxes = Tensor::of<float>({count, 4}, corners);
  const Tensor of = Tensor::of<std::int64_t>({count}, image_of);
  model.input("x", DType::kF32, declared_dims(x.shape()))
      .input("boxes", DType::kF32, declared_dims(boxes.shape()));
  model.input("of", DType::kS64, declared_dims(of.shape()));
  model.node("RoiAlign", {"x", "boxes", "of"}, {"y"},
             {{"mode", dice.pick<std::string>({"avg", "max"})},
              {"sampling_ratio", dice.between(0, 3)},
              {"output_height", dice.between(1, 3)},
              {"output_width", dice.between(1, 4)},
              {"spatial_scale", dice.pick<float>({1.0F, 0.7F})}});
  model.output("y");
  return {cat("RoiAlign_", index), model.bytes(), {x, boxes, of}};
}

Case bits_case(int index, Dice& dice) {
  OneNodeModel model(dice, 18);
  const auto op = dice.pick<std::string>({"BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift"});
  const bool shifts = op == "BitShift";
  const DType type =
      shifts ? DType::kU8 : dice.pick<DType>({DType::kU8, DType::kS8, DType::kS32, DType::kS64});
  const Shape shape = any_select_shape(dice, 0, 4);
  model.input(small_tensor(dice, type, shape), 0);
  model.input(small_tensor(dice, type, selected_along(dice, shape)), 3);
  if (!shifts) return model.finish(op, index);
  return model.finish(op, index, {{"direction", std::string(dice.one_in(2) ? "LEFT" : "RIGHT")}});
}

}  // namespace

std::vector<Case> select_cases(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 10'000'000);
    out.push_back(gather_case(index, dice));
    out.push_back(gather_elements_case(index, dice));
    out.push_back(where_case(index, dice));
    out.push_back(compare_case(index, dice));
    out.push_back(tile_case(index, dice));
    out.push_back(block_case(index, dice));
    out.push_back(top_k_case(index, dice));
    out.push_back(coordinates_case(index, dice));
    out.push_back(scatter_elements_case(index, dice));
    out.push_back(running_case(index, dice));
    out.push_back(boxes_case(index, dice));
    out.push_back(roi_case(index, dice));
    out.push_back(bits_case(index, dice));
  }
  return out;
}

std::vector<Case> wide_selections() {
  std::vector<Case> out;
  int index = 1000;
  for (const DType type :
       {DType::kF32, DType::kS32, DType::kS64, DType::kU32, DType::kU64, DType::kS16}) {
    for (const std::int64_t columns : {16, 37, 200}) {
      for (const int single : {0, 1, 2}) {  // the operand that is one element
        Dice dice(static_cast<std::uint64_t>(index));
        const Shape shape{2, columns}, one{1};
        OneNodeModel where(dice, 18);
        where.input(small_tensor(dice, DType::kBool, shape), 0);
        where.input(small_tensor(dice, type, single == 1 ? one : shape), 0);
        where.input(small_tensor(dice, type, single == 2 ? one : shape), 0);
        out.push_back(where.finish("Where", index));
        const auto op = dice.pick<std::string>({"Equal", "Less", "Greater", "GreaterOrEqual"});
        OneNodeModel compare(dice, 18);
        compare.input(small_tensor(dice, type, single == 1 ? one : shape), 0);
        compare.input(small_tensor(dice, type, single == 2 ? one : shape), 0);
        out.push_back(compare.finish(op, index++));
      }
    }
  }
  return out;
}

std::vector<Case> longer_choices() {
  std::vector<Case> all;
  for (const DType type : {DType::kF32, DType::kS32}) {
    Tensor condition(DType::kBool, {3, 37}), x(type, {3, 37}), y(type, {3, 37});
    for (std::size_t i = 0; i < 111; ++i) {
      condition.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * i % 7 % 2);
      x.mutable_bytes()[4 * i] = static_cast<std::byte>(i);
      y.mutable_bytes()[4 * i] = static_cast<std::byte>(255 - i);
    }
    ModelBuilder model(13);
    model.input("c", condition.dtype(), {3, 37});
    model.input("x", type, {3, 37});
    model.input("y", type, {3, 37});
    model.node("Where", {"c", "x", "y"}, {"z"}, {});
    model.output("z");
    all.push_back({"longer choice", model.bytes(), {condition, x, y}});
  }
  return all;
}

}  // namespace etch

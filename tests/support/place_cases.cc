// See place_cases.h.
#include "tests/support/place_cases.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/conv_node.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {

// A chain under construction: names values, and knows the shape of the one it has come to.
class Chain {
 public:
  Chain(DType type, Shape shape, Dice& dice, std::int64_t opset = 13)
      : dice_(dice), model_(opset), type_(type), shape_(std::move(shape)) {
    model_.input("x", type_, declared_dims(shape_));
    input_ = random_bytes(dice_, type_, shape_);
    add_activation(model_, "q", {type_, 0.05F, type_ == DType::kU8 ? 100 : -7});
    add_activation(model_, "p", {type_, 0.021F, type_ == DType::kU8 ? 60 : 5});
  }

  Dice& dice() { return dice_; }
  ModelBuilder& model() { return model_; }
  const Shape& shape() const { return shape_; }
  bool is_float() const { return is_float_; }
  std::size_t rank() const { return shape_.size(); }
  std::string next() { return cat("v", ++count_); }
  const std::string& now() const { return now_; }

  std::string ints(const Ints& values) {
    const std::string name = next();
    model_.initializer(
        name, Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
    return name;
  }
  std::string floats(const Shape& shape, const std::vector<float>& values) {
    const std::string name = next();
    model_.initializer(name, Tensor::of<float>(shape, values));
    return name;
  }
  // Another node; `more` follows the value as its inputs.
  void node(const std::string& op, const std::vector<std::string>& more = {},
            const std::map<std::string, Attribute>& attributes = {},
            const std::string& domain = "") {
    std::vector<std::string> inputs{now_};
    inputs.insert(inputs.end(), more.begin(), more.end());
    now_ = next();
    model_.node(op, inputs, {now_}, attributes, domain);
  }
  void dequantize() {
    node("DequantizeLinear", {"q_scale", "q_zero_point"});
    is_float_ = true;
  }
  void quantize(const std::string& as) {
    node("QuantizeLinear", {as + "_scale", as + "_zero_point"});
    is_float_ = false;
  }
  void set(std::string value, Shape shape) {
    now_ = std::move(value);
    shape_ = std::move(shape);
  }
  void slice(std::size_t axis, std::int64_t start, std::int64_t end, std::int64_t step,
             std::int64_t count) {
    node("Slice",
         {ints({start}), ints({end}), ints({static_cast<std::int64_t>(axis)}), ints({step})});
    shape_[axis] = count;
  }
  void reverse(std::size_t axis) { slice(axis, -1, INT64_MIN, -1, shape_[axis]); }
  Case finish(const std::string& name) {
    model_.output(now_);
    return {
        cat(name, "_", name_of(type_), "_", to_string(*input_shape())), model_.bytes(), {input_}};
  }

 private:
  const Shape* input_shape() const { return &input_.shape(); }

  Dice& dice_;
  ModelBuilder model_;
  DType type_;
  Shape shape_;
  std::string now_ = "x";
  bool is_float_ = false;
  int count_ = 0;
  Tensor input_;
};

// ---- one Slice ----

struct Cut {
  const char* name;
  std::int64_t start, end, step;
};

constexpr Cut kCuts[] = {{"whole", -1, INT64_MIN, -1},
                         {"partial", 5, 0, -1},
                         {"every_second", -1, INT64_MIN, -2},
                         {"forward", 1, INT64_MAX, 1}};

std::int64_t count_of(const Cut& cut, std::int64_t size) {
  if (cut.step > 0) return size - 1;
  if (cut.step == -2) return (size + 1) / 2;
  return cut.end == 0 ? std::min<std::int64_t>(size - 1, 5) : size;
}

enum class Around { kNothing, kQdq, kConvolution };

// A convolution of what the chain has come to, with weights that tell channels and taps apart.
void convolve(Chain& chain) {
  const std::int64_t channels = chain.shape()[1];
  std::vector<float> weights(static_cast<std::size_t>(2 * channels * 9));
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = 0.125F * static_cast<float>(static_cast<int>(i * 7 % 31) - 15);
  chain.node("Conv", {chain.floats({2, channels, 3, 3}, weights)}, {{"pads", Ints{1, 1, 1, 1}}});
}

Case one_slice(DType type, const Shape& shape, std::size_t axis, const Cut& cut, Around around,
               Dice& dice) {
  Chain chain(type, shape, dice);
  if (around != Around::kNothing) chain.dequantize();
  chain.slice(axis, cut.start, cut.end, cut.step, count_of(cut, shape[axis]));
  if (around == Around::kConvolution) convolve(chain);
  if (around == Around::kQdq) chain.quantize(dice.one_in(2) ? "q" : "p");
  return chain.finish(cat(cut.name, "_axis", axis, "_around", static_cast<int>(around)));
}

// ---- drawn chains ----

std::size_t placed_axis(Chain& chain) {
  return static_cast<std::size_t>(
      chain.dice().between(0, static_cast<std::int64_t>(chain.rank()) - 1));
}

void function(Chain& chain) {
  Dice& dice = chain.dice();
  if (!chain.is_float()) return;
  const auto op = dice.pick<std::string>({"Relu", "Tanh", "Softsign", "Abs", "Sub", "Div", "Max"});
  const bool binary = op == "Sub" || op == "Div" || op == "Max";
  if (!binary) return chain.node(op);
  const auto value = static_cast<float>(dice.between(1, 3000)) * 0.001F;
  const std::size_t axis = placed_axis(chain);
  Shape shape(dice.one_in(2) ? chain.rank() : 0, 1);
  std::vector<float> values{value};
  if (!shape.empty() && dice.one_in(2)) {  // another constant at each place
    shape[axis] = chain.shape()[axis];
    for (std::int64_t i = 1; i < shape[axis]; ++i) values.push_back(values.back() + 0.37F);
  }
  chain.node(op, {chain.floats(shape, values)});
}

void exchange_axes(Chain& chain) {
  std::vector<std::int64_t> perm(chain.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[placed_axis(chain)], perm[placed_axis(chain)]);
  Shape shape;
  for (const std::int64_t axis : perm)
    shape.push_back(chain.shape()[static_cast<std::size_t>(axis)]);
  chain.node("Transpose", {}, {{"perm", Ints(perm)}});
  chain.set(chain.now(), shape);
}

// The elements along an axis in another order, some more than once.
void gather(Chain& chain) {
  const std::size_t axis = placed_axis(chain);
  Ints at;
  for (std::int64_t i = 0; i < chain.shape()[axis]; ++i)
    at.push_back(chain.dice().between(0, chain.shape()[axis] - 1));
  chain.node("Gather", {chain.ints(at)}, {{"axis", static_cast<std::int64_t>(axis)}});
}

// The last `n` first: two parts of the value, joined the other way round.
void roll(Chain& chain) {
  const std::size_t axis = placed_axis(chain);
  const Shape shape = chain.shape();
  if (shape[axis] < 2) return;
  const std::int64_t n = chain.dice().between(1, shape[axis] - 1);
  const std::string whole = chain.now();
  chain.slice(axis, -n, INT64_MAX, 1, n);
  const std::string last = chain.now();
  chain.set(whole, shape);
  chain.slice(axis, 0, -n, 1, shape[axis] - n);
  const std::string joined = chain.next();
  chain.model().node("Concat", {last, chain.now()}, {joined},
                     {{"axis", static_cast<std::int64_t>(axis)}});
  chain.set(joined, shape);
}

// The value and itself reversed as the operands of one operator: of one tensor, but not at one
// place.
void meet_reversed(Chain& chain) {
  const std::string before = chain.now();
  chain.reverse(placed_axis(chain));
  chain.node(chain.is_float() ? "Sub" : "Max", {before});
}

// As many elements taken away at one end as are added at the other.
void shift(Chain& chain) {
  const std::size_t axis = placed_axis(chain);
  Ints pads(2 * chain.rank(), 0);
  const bool left = chain.dice().one_in(2);
  pads[axis] = left ? -1 : 1;
  pads[axis + chain.rank()] = left ? 1 : -1;
  if (chain.shape()[axis] < 2) return;
  const auto mode = chain.dice().pick<std::string>({"constant", "edge"});
  chain.node("Pad", {chain.ints(pads)}, {{"mode", mode}});
}

void resize(Chain& chain) {
  const std::size_t axis = placed_axis(chain);
  if (chain.shape()[axis] > 12) return;
  std::vector<float> scales(chain.rank(), 1.0F);
  const bool grows = chain.dice().one_in(2);
  scales[axis] = grows ? 2.0F : 1.0F;
  Shape shape = chain.shape();
  shape[axis] *= grows ? 2 : 1;
  const Shape count{static_cast<std::int64_t>(chain.rank())};
  chain.node("Resize", {"", chain.floats(count, scales)},
             {{"mode", std::string("nearest")},
              {"coordinate_transformation_mode", std::string("asymmetric")},
              {"nearest_mode", std::string("floor")}});
  chain.set(chain.now(), shape);
}

void requantize(Chain& chain) {
  if (chain.is_float()) {
    chain.quantize(chain.dice().one_in(2) ? "q" : "p");
  } else {
    chain.dequantize();
  }
}

Case chain_case(int index, Dice& dice) {
  Shape shape;
  const std::int64_t rank = dice.between(1, 4);
  for (std::int64_t d = 0; d < rank; ++d)
    shape.push_back(dice.one_in(3) ? 1 : dice.between(2, dice.one_in(4) ? 20 : 6));
  Chain chain(any_8bit(dice), shape, dice);
  if (!dice.one_in(4)) chain.dequantize();
  using Operator = void (*)(Chain&);
  const std::int64_t length = dice.between(1, 6);
  for (std::int64_t i = 0; i < length; ++i) {
    if (dice.one_in(2)) function(chain);
    if (dice.one_in(2)) chain.reverse(placed_axis(chain));
    dice.pick<Operator>({exchange_axes, gather, roll, meet_reversed, shift, resize, requantize})(
        chain);
  }
  if (chain.is_float()) chain.quantize(dice.one_in(2) ? "q" : "p");
  return chain.finish(cat("places_", index));
}

}  // namespace

std::vector<Case> reversing_slices() {
  Dice dice(21);
  std::vector<Case> out;
  for (const Shape& shape :
       {Shape{6}, Shape{256}, Shape{2, 6}, Shape{7, 6, 1}, Shape{1, 6, 7, 8}}) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1)
        continue;  // of which there is but one reversal, and that changes nothing
      for (const Cut& cut : kCuts) {
        for (const DType type : {DType::kU8, DType::kS8}) {
          out.push_back(one_slice(type, shape, axis, cut, Around::kNothing, dice));
          out.push_back(one_slice(type, shape, axis, cut, Around::kQdq, dice));
        }
        if (shape.size() == 4)
          out.push_back(one_slice(DType::kU8, shape, axis, cut, Around::kConvolution, dice));
      }
    }
  }
  return out;
}

std::vector<Case> mixing_operators() {
  Dice dice(22);
  std::vector<Case> out;
  const auto add = [&](const std::string& name, const Shape& shape, std::int64_t opset,
                       const auto& mix) {
    Chain chain(DType::kU8, shape, dice, opset);
    chain.dequantize();
    mix(chain);
    chain.quantize("p");
    out.push_back(chain.finish(name));
  };
  for (const Shape& shape : {Shape{1, 1, 5, 6}, Shape{3, 1, 7}}) {
    add("InstanceNormalization", shape, 13, [](Chain& chain) {
      chain.node("InstanceNormalization", {chain.floats({1}, {0.7F}), chain.floats({1}, {0.2F})});
    });
  }
  for (const Shape& shape : {Shape{1, 9, 1, 1}, Shape{1, 9, 2, 2}, Shape{2, 5, 1}}) {
    add("LRN", shape, 13, [](Chain& chain) {
      chain.node("LRN", {}, {{"size", std::int64_t{3}}, {"alpha", 2.0F}});
    });
  }
  for (const Ints& pads : {Ints{0, 1, 0, -1}, Ints{1, 0, -1, 0}, Ints{-1, 0, 1, 0}}) {
    add(cat("Pad", to_string(pads)), {4, 6}, 10, [&](Chain& chain) {
      chain.node("Pad", {}, {{"pads", pads}, {"value", 1.0F}});
    });
  }
  return out;
}

namespace {

// What may be before a part: of bytes, or of floats from DequantizeLinear of either kind.
const std::vector<std::string> kBeforeParts{"Cast",  "Max",  "QLinearSigmoid", "DequantizeLinear",
                                            "Tanh",  "Relu", "Dequantize",     "QuantizeLinear",
                                            "Split", "Clip", "QuantizeV2"};

void before_part(Chain& chain, const std::string& op) {
  if (op == "DequantizeLinear") return chain.dequantize();
  if (op == "Dequantize" || op == "QuantizeV2") {
    if (op == "QuantizeV2") chain.dequantize();
    const std::string low = chain.floats({}, {-1}), high = chain.floats({}, {1});
    std::map<std::string, Attribute> attributes{{"mode", std::string("SCALED")}};
    if (op == "QuantizeV2") attributes["T"] = std::string("qint8");
    return chain.node(op, {low, high}, attributes, "org.tensorflow");
  }
  if (op == "QLinearSigmoid") {
    return chain.node(op, {"q_scale", "q_zero_point", "p_scale", "p_zero_point"}, {},
                      "com.microsoft");
  }
  if (op == "Max") return chain.node(op, {chain.now()});
  if (op == "Cast") return chain.node(op, {}, {{"to", std::int64_t{6}}});
  if (op == "Clip") return chain.node(op);
  if (op == "Split") return chain.node(op, {}, {{"axis", std::int64_t{0}}});
  chain.dequantize();
  if (op == "QuantizeLinear") return chain.quantize("p");
  chain.node(op);
}

Case narrow_part(const std::string& op, Shape shape, std::size_t axis, Dice& dice) {
  shape[axis] = 1;
  Chain chain(DType::kS8, shape, dice, 14);
  chain.model().opset("com.microsoft", 1).opset("org.tensorflow", 1);
  before_part(chain, op);
  const std::string y = chain.next();
  // Twice the part, so that the whole is neither alike nor in place.
  chain.model().node("Concat", {chain.now(), chain.now(), chain.now()}, {y},
                     {{"axis", static_cast<std::int64_t>(axis)}});
  chain.set(y, {});
  return chain.finish(cat("part_of_", op, "_axis", axis));
}

}  // namespace

std::vector<Case> narrow_parts() {
  Dice dice(23);
  std::vector<Case> out;
  for (const std::string& op : kBeforeParts) {
    for (const Shape& shape : {Shape{13, 2}, Shape{2, 11, 2}, Shape{1, 3, 5, 9}}) {
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        out.push_back(narrow_part(op, shape, axis, dice));
    }
  }
  return out;
}

std::vector<Case> place_chains(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 10'000'000);
    out.push_back(chain_case(index, dice));
  }
  return out;
}

}  // namespace etch

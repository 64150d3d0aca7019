// See recurrent_cases.h.
#include "tests/support/recurrent_cases.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {

enum class Known { kConstant, kAtRunTime, kEither };

// One layer in the making. Sizes are such that vectors have rests.
class Layer {
 public:
  Layer(Dice& dice, std::string op) : dice_(dice), op_(std::move(op)), model_(14) {
    quantized_ = op_ == "DynamicQuantizeLSTM";
    lstm_ = op_ == "LSTM" || quantized_;
    gates_ = lstm_ ? 4 : op_ == "GRU" ? 3 : 1;
    time_ = dice.between(1, 5);
    batch_ = dice.between(1, 3);
    in_ = dice.between(1, 9);
    hidden_ = dice.pick<std::int64_t>({1, 2, 3, 5, 8, 13, 16, 17, 24, 33});
  }

  Case make(int number) {
    add_attributes();
    const std::int64_t d = directions_, wide = gates_ * hidden_;
    const Shape state = layout_ == 1 ? Shape{batch_, d, hidden_} : Shape{d, batch_, hidden_};
    add(floats(layout_ == 1 ? Shape{batch_, time_, in_} : Shape{time_, batch_, in_}),
        Known::kAtRunTime);
    if (quantized_) {
      add(random_bytes(dice_, type_, {d, in_, wide}), Known::kConstant);
      add(random_bytes(dice_, type_, {d, hidden_, wide}), Known::kConstant);
    } else {
      const Known known = dice_.one_in(4) ? Known::kAtRunTime : Known::kConstant;
      add(floats({d, wide, in_}), known);
      add(floats({d, wide, hidden_}), known);
    }
    maybe(floats({d, 2 * wide}));
    add_lengths();
    maybe(floats(state));
    if (lstm_) {
      maybe(floats(state));
      maybe(floats({d, 3 * hidden_}));
    }
    if (quantized_) {
      for (int i = 0; i < 2; ++i) add_quantization();
    }
    return finish(number);
  }

 private:
  void add_attributes() {
    static const std::vector<std::string> kDirections = {"forward", "reverse", "bidirectional"};
    const std::string direction = dice_.pick(kDirections);
    directions_ = direction == "bidirectional" ? 2 : 1;
    attributes_["direction"] = direction;
    attributes_["hidden_size"] = hidden_;
    layout_ = dice_.between(0, 1);
    if (quantized_) layout_ = 0;
    if (layout_ == 1) attributes_["layout"] = layout_;
    if (dice_.one_in(3)) attributes_["clip"] = 0.75F;
    if (op_ == "GRU") attributes_["linear_before_reset"] = dice_.between(0, 1);
    if (lstm_ && dice_.one_in(3)) attributes_["input_forget"] = std::int64_t{1};
    if (dice_.one_in(2)) add_activations();
  }

  void add_activations() {
    static const std::vector<std::string> kNames = {
        "Relu",       "Tanh",        "sigmoid", "Affine",   "LeakyRelu", "ThresholdedRelu",
        "ScaledTanh", "HardSigmoid", "Elu",     "Softsign", "Softplus"};
    std::vector<std::string> names;
    const std::int64_t count = directions_ * (lstm_ ? 3 : gates_ == 3 ? 2 : 1);
    for (std::int64_t i = 0; i < count; ++i) names.push_back(dice_.pick(kNames));
    attributes_["activations"] = names;
    if (names.front() == "Affine" || names.front() == "ScaledTanh") {
      attributes_["activation_alpha"] = std::vector<float>{0.625F};
      attributes_["activation_beta"] = std::vector<float>{-0.375F};
    }
  }

  Tensor floats(Shape shape) {
    Tensor out(DType::kF32, std::move(shape));
    for (float& x : out.as<float>())
      x = std::ldexp(static_cast<float>(dice_.between(-16777215, 16777215)), -24);
    return out;
  }

  void add(const Tensor& tensor, Known known) {
    const std::string name = cat("i", names_.size());
    names_.push_back(name);
    if (known == Known::kConstant) {
      model_.initializer(name, tensor);
      return;
    }
    model_.input(name, tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()});
    inputs_.push_back(tensor);
  }
  void maybe(const Tensor& tensor) {
    if (dice_.one_in(3)) {
      names_.emplace_back();
    } else {
      add(tensor, dice_.one_in(2) ? Known::kConstant : Known::kAtRunTime);
    }
  }

  void add_lengths() {
    if (!dice_.one_in(3)) {
      names_.emplace_back();
      return;
    }
    std::vector<std::int32_t> lengths;
    for (std::int64_t b = 0; b < batch_; ++b)
      lengths.push_back(static_cast<std::int32_t>(dice_.between(-1, time_ + 2)));
    if (dice_.one_in(5)) lengths.front() = dice_.one_in(2) ? INT32_MIN : INT32_MAX;
    add(Tensor::of<std::int32_t>({batch_}, lengths), Known::kAtRunTime);
  }

  void add_quantization() {
    const std::int64_t kind = dice_.between(0, 1);
    const Shape shape = kind == 0 ? Shape{directions_} : Shape{directions_, 4 * hidden_};
    Tensor scale = floats(shape);
    for (float& x : scale.as<float>()) x = std::fabs(x) * 0.02F + 0.001F;
    add(scale, Known::kConstant);
    add(random_bytes(dice_, type_, shape), Known::kConstant);
  }

  Case finish(int number) {
    if (quantized_) model_.opset("com.microsoft", 1);
    std::vector<std::string> outputs = {"y", "y_h"};
    if (lstm_) outputs.emplace_back("y_c");
    const auto omitted = static_cast<std::size_t>(dice_.between(0, 5));
    if (omitted < outputs.size()) outputs[omitted].clear();
    while (outputs.back().empty()) outputs.pop_back();
    model_.node(op_, names_, outputs, attributes_, quantized_ ? "com.microsoft" : "");
    for (const std::string& name : outputs) {
      if (!name.empty()) model_.output(name);
    }
    return {
        cat(op_, " ", number, ": ", time_, " steps, batch ", batch_, ", ", in_, " to ", hidden_),
        model_.bytes(), std::move(inputs_)};
  }

  Dice& dice_;
  std::string op_;
  ModelBuilder model_;
  bool quantized_ = false, lstm_ = false;
  std::int64_t gates_ = 1, time_ = 1, batch_ = 1, in_ = 1, hidden_ = 1, directions_ = 1,
               layout_ = 0;
  DType type_ = DType::kS8;
  std::map<std::string, Attribute> attributes_;
  std::vector<std::string> names_;
  std::vector<Tensor> inputs_;

 public:
  void set_type(DType type) { type_ = type; }
  void set_sizes(std::int64_t batch, std::int64_t hidden) {
    batch_ = batch;
    hidden_ = hidden;
  }
};

}  // namespace

std::vector<Case> recurrent_layers(int count) {
  static const std::vector<std::string> kOps = {"RNN", "GRU", "LSTM", "DynamicQuantizeLSTM"};
  std::vector<Case> cases;
  Dice dice(20261123);
  for (int i = 0; i < count; ++i) {
    Layer layer(dice, kOps[static_cast<std::size_t>(i) % kOps.size()]);
    layer.set_type(dice.one_in(2) ? DType::kS8 : DType::kU8);
    cases.push_back(layer.make(i));
  }
  return cases;
}

std::vector<Case> quantized_recurrent_layers() {
  std::vector<Case> cases;
  Dice dice(20261124);
  for (const std::int64_t batch : {1, 2, 3, 5}) {
    for (const std::int64_t hidden : {4, 8, 16, 24, 128}) {
      if (hidden == 128 && batch > 1)
        continue;  // large matrices of one row have forms of their own
      Layer layer(dice, "DynamicQuantizeLSTM");
      layer.set_type(hidden % 16 == 0 ? DType::kU8 : DType::kS8);
      layer.set_sizes(batch, hidden);
      cases.push_back(layer.make(static_cast<int>(std::ssize(cases))));
    }
  }
  return cases;
}

}  // namespace etch

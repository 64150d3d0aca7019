// Weights of bytes whose products are added in 16 bits, two at a time, with second parts where 16
// bits would not do: all engines agree, whatever is in the image.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/stage/recorder.h"
#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// Small weights of `channels` sums of `depth` products; three pairs of neighbours in the last of
// them are the largest there are.
std::vector<std::int8_t> mostly_small(Dice& dice, std::int64_t channels, std::int64_t depth) {
  std::vector<std::int8_t> out;
  for (std::int64_t i = 0; i < channels * depth; ++i)
    out.push_back(static_cast<std::int8_t>(dice.between(-40, 40)));
  for (int i = 0; i < 3; ++i) {
    const std::int64_t k = 2 * dice.between(0, depth / 2 - 1);
    const auto at =
        static_cast<std::size_t>(dice.between(channels - channels / 4, channels - 1) * depth + k);
    out[at] = out[at + 1] = static_cast<std::int8_t>(dice.one_in(2) ? 127 : -128);
  }
  return out;
}

struct Layer {
  Shape x, w;
  std::vector<std::int64_t> pads, strides;
  std::int64_t group;
};
const Layer kLayers[] = {
    {{1, 64, 5, 5}, {48, 64, 1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
    {{1, 65, 3, 4}, {33, 65, 1, 1}, {0, 0, 0, 0}, {1, 1}, 1},    // neither a multiple of 4 nor of 8
    {{1, 16, 12, 11}, {24, 16, 3, 3}, {1, 1, 1, 1}, {1, 1}, 1},  // several runs, a halo
    {{1, 18, 14, 15}, {40, 18, 3, 2}, {1, 1, 0, 1}, {2, 1}, 1},
    {{1, 32, 9, 9}, {32, 16, 3, 3}, {0, 0, 0, 0}, {1, 1}, 2},
    {{2, 24, 6, 6}, {9, 24, 2, 2}, {0, 0, 0, 0}, {1, 1}, 1},
};

// Neighbours in the order of the sums are a plane of taps apart in `w`.
Tensor convolution_weights(Dice& dice, const Shape& shape) {
  const std::int64_t channels = shape[1], taps = shape[2] * shape[3];
  const std::vector<std::int8_t> in_order = mostly_small(dice, shape[0], channels * taps);
  std::vector<std::int8_t> out(in_order.size());
  for (std::int64_t m = 0; m < shape[0]; ++m) {
    for (std::int64_t t = 0; t < taps; ++t) {
      for (std::int64_t c = 0; c < channels; ++c) {
        out[static_cast<std::size_t>((m * channels + c) * taps + t)] =
            in_order[static_cast<std::size_t>((m * taps + t) * channels + c)];
      }
    }
  }
  return Tensor::of<std::int8_t>(shape, out);
}

Tensor matrix_weights(Dice& dice, std::int64_t depth, std::int64_t columns) {
  const std::vector<std::int8_t> in_order = mostly_small(dice, columns, depth);
  std::vector<std::int8_t> out(in_order.size());
  for (std::int64_t m = 0; m < columns; ++m) {
    for (std::int64_t k = 0; k < depth; ++k)
      out[static_cast<std::size_t>(k * columns + m)] =
          in_order[static_cast<std::size_t>(m * depth + k)];
  }
  return Tensor::of<std::int8_t>({depth, columns}, out);
}

Tensor image(Dice& dice, const Shape& shape) {
  const bool largest = dice.one_in(2);
  return largest ? random_bytes(dice, DType::kU8, shape, 250, 255)
                 : random_bytes(dice, DType::kU8, shape);
}

Case convolution(Dice& dice, const Layer& layer, int index) {
  ModelBuilder model(13);
  model.input("x", DType::kU8, {layer.x.begin(), layer.x.end()});
  model.initializer("w", convolution_weights(dice, layer.w));
  model.initializer("x_scale", f32({}, {0.02F})).initializer("x_zero", u8({}, {3}));
  model.initializer("w_scale", f32({}, {0.01F})).initializer("w_zero", s8({}, {0}));
  model.initializer("y_scale", f32({}, {0.9F})).initializer("y_zero", u8({}, {120}));
  model.node("QLinearConv",
             {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"}, {"y"},
             {{"pads", layer.pads}, {"strides", layer.strides}, {"group", layer.group}});
  model.output("y");
  return {cat("sums16_conv_", index), model.bytes(), {image(dice, layer.x)}};
}

Case product(Dice& dice, const Shape& x, std::int64_t columns, bool at_run_time) {
  ModelBuilder model(13);
  model.input("x", DType::kU8, {x.begin(), x.end()}).initializer("w_zero", s8({}, {0}));
  Case out{cat("sums16_product_", to_string(x), "_", columns), {}, {image(dice, x)}};
  if (at_run_time) {
    model.input("x_zero", DType::kU8, {});
    out.inputs.push_back(random_bytes(dice, DType::kU8, {}));
  } else {
    model.initializer("x_zero", u8({}, {200}));
  }
  model.initializer("w", matrix_weights(dice, x.back(), columns));
  model.node("MatMulInteger", {"x", "w", "x_zero", "w_zero"}, {"y"}).output("y");
  out.model = model.bytes();
  return out;
}

std::vector<Case> all_cases() {
  Dice dice(31);
  std::vector<Case> out;
  for (const Layer& layer : kLayers)
    out.push_back(convolution(dice, layer, static_cast<int>(out.size())));
  for (const bool at_run_time : {false, true}) {
    out.push_back(product(dice, {1, 640}, at_run_time ? 70 : 64, at_run_time));
    out.push_back(product(dice, {5, 96}, at_run_time ? 40 : 33, at_run_time));
  }
  out.push_back(product(dice, {3, 9, 64}, 32, true));
  return out;
}

std::string code_of(const Case& each, const char* target) {
  const auto program = compiled(each, target);
  std::string out;
  for (std::size_t i = 0; program != nullptr && i < program->steps.size(); ++i) {
    Recorder recorder(*program->steps[i]);
    recorder.set_isa(program->isa);
    program->steps[i]->run(recorder);
    out += recorder.text();
  }
  return out;
}

bool has_sums16(const IsaTraits& isa) { return isa.sums16; }
bool has_bytes(const IsaTraits& isa) { return isa.weight_form == WeightForm::kS8x4; }

TEST(Sums16Engines, HaveSecondPartsInEachOfTheseLayers) {
  for (const Case& each : all_cases()) {
    for (const char* target : targets_where(has_sums16)) {
      EXPECT_NE(code_of(each, target).find("isa::repeat4_at("), std::string::npos)
          << each.name << " " << target;
    }
    for (const char* target : targets_where(has_bytes))
      EXPECT_EQ(code_of(each, target).find("isa::dot_sums16("), std::string::npos) << target;
  }
}

TEST(Sums16Engines, AgreeNatively) { expect_native_agrees(all_cases()); }
TEST(Sums16Engines, AgreeInCode) {
  for (const char* target : targets_where(has_sums16)) expect_compiled_agrees(all_cases(), target);
}
TEST(Sums16Engines, HaveCleanCode) {
  for (const char* target : targets_where(has_sums16)) expect_clean_code(all_cases(), target);
}

}  // namespace
}  // namespace etch

// A network of two hand-made steps for the tests of stages and emission: bytes are masked into
// the arena, then summed with weights per lane and scaled to int32. It touches every kind of
// memory (input, arena, output, byte, int32 and float constants) and every form of statement.
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "compiler/stage/staged_step_impl.h"

namespace etch::testing {

inline constexpr int kBytes = 256;

inline std::vector<std::byte> as_bytes(const auto& values) {
  const std::size_t size = values.size() * sizeof(values[0]);
  std::vector<std::byte> out(size);
  std::memcpy(out.data(), values.data(), size);
  return out;
}

// y[i] = x[i] ^ mask[i mod byte_lanes]
class MaskStep : public StagedStep<MaskStep> {
 public:
  template <class S>
  void kernel(S& s) const {
    const int n = s.isa().byte_lanes();
    const auto x = s.template operand<const std::uint8_t>(0);
    const auto y = s.template operand<std::uint8_t>(1);
    s.loop("block", kBytes / n + extra_blocks, [&](const typename S::Index& block) {
      s.inlined(
          "tile",
          [&](const auto& tx, const auto& mask, const auto& ty) {
            const auto bytes = s.load_bytes("bytes", s.base("xt", tx));
            const auto masked = s.xor_bytes("masked", bytes, s.load_bytes("bits", mask));
            s.store_bytes(ty, masked);
          },
          std::pair{"x", x + block * n},
          std::pair{"mask", s.template constant<const std::uint8_t>("mask")},
          std::pair{"y", y + block * n});
    });
  }
  int extra_blocks = 0;  // more than there is room for
};

// y[lane] = rne(fl(bias[lane] + sum of x * w[lane]) * scale[lane])
class SumStep : public StagedStep<SumStep> {
 public:
  template <class S>
  void kernel(S& s) const {
    const auto x = s.template operand<const std::uint8_t>(0);
    const auto w = s.template constant<const std::uint8_t>("weights");
    auto acc = s.load_i32("acc", s.template constant<const std::int32_t>("bias"));
    s.comment("four bytes at a time");
    s.loop("k", kBytes / 4, [&](const typename S::Index& k) {
      const auto pixel = s.broadcast4("pixel", x + k * 4);
      s.dot4(acc, pixel, s.load_w4("w", w + k * s.isa().weight_bytes()));
    });
    const auto scale = s.load_f32("scale", s.template constant<const float>("scale"));
    s.store_i32_n(s.template operand<std::int32_t>(1), s.scale_round("q", acc, scale),
                  s.isa().lanes);
  }
};

inline int mask_at(int i) { return (37 * i + 5) & 255; }
inline int weight_at(int lane, int i) { return (i * 7 + lane * 13) % 255 - 127; }
inline int bias_at(int lane) { return lane == 0 ? -100000 : 1000 * lane; }
inline float scale_at(int lane) { return 0.01F + 0.001F * static_cast<float>(lane); }

inline std::vector<std::byte> packed_weights(const IsaTraits& isa) {
  std::vector<std::int8_t> bytes;
  std::vector<std::int16_t> words;
  for (int k = 0; k < kBytes; k += 4) {
    for (int lane = 0; lane < isa.lanes; ++lane) {
      for (int b = 0; b < 4; ++b) bytes.push_back(static_cast<std::int8_t>(weight_at(lane, k + b)));
    }
    for (const int half : {0, 1}) {
      for (int lane = 0; lane < isa.lanes; ++lane) {
        words.push_back(static_cast<std::int16_t>(weight_at(lane, k + half)));
        words.push_back(static_cast<std::int16_t>(weight_at(lane, k + half + 2)));
      }
    }
  }
  return isa.weight_form == WeightForm::kS8x4 ? as_bytes(bytes) : as_bytes(words);
}

inline std::unique_ptr<MaskStep> mask_step(const IsaTraits& isa) {
  auto step = std::make_unique<MaskStep>();
  step->name = "n00_mask";
  step->kind = "mask";
  step->summary = "masks 256 bytes";
  step->facts = {"nothing to prove \\"};
  step->origin = "Mask 'm'";
  step->op_type = "Mask";
  step->operands = {{"x", 0, 0, DType::kU8, Access::kRead},
                    {"y", 1, 64, DType::kU8, Access::kWrite}};
  std::vector<std::uint8_t> mask;
  for (int i = 0; i < isa.byte_lanes(); ++i) mask.push_back(static_cast<std::uint8_t>(mask_at(i)));
  step->constants = {{"mask", DType::kU8, as_bytes(mask), "one mask per byte"}};
  return step;
}

inline std::unique_ptr<SumStep> sum_step(const IsaTraits& isa) {
  auto step = std::make_unique<SumStep>();
  step->name = "n01_sum";
  step->kind = "sum";
  step->summary = "weighted sum, one per lane";
  step->origin = "Sum 's'";
  step->op_type = "Sum";
  step->macs = kBytes * isa.lanes;
  step->operands = {{"x", 1, 64, DType::kU8, Access::kRead},
                    {"y", 2, 0, DType::kS32, Access::kWrite}};
  std::vector<std::int32_t> bias;
  std::vector<float> scale;
  for (int lane = 0; lane < isa.lanes; ++lane) {
    bias.push_back(bias_at(lane));
    scale.push_back(scale_at(lane));
  }
  step->constants = {{"weights", DType::kU8, packed_weights(isa), "[byte / 4][lane][4]"},
                     {"bias", DType::kS32, as_bytes(bias), "one per lane"},
                     {"scale", DType::kF32, as_bytes(scale), "one per lane"}};
  return step;
}

// With memory not yet planned.
inline Program tiny_program(const IsaTraits& isa) {
  Program program;
  program.isa = isa;
  program.inputs = {{"in */ int evil; /*", "input0", 0, DType::kU8, {1, kBytes}, true, 0.5F, 3}};
  program.outputs = {{"sums", "output0", 0, DType::kS32, {isa.lanes}, false, 1, 0}};
  Buffer input{Home::kInput, 0, kBytes, 1, -1, 0, 0, "input"};
  Buffer arena{Home::kArena, -1, 64 + kBytes, 1, -1, 0, 1, "output of n00_mask"};
  Buffer output{Home::kOutput, 0, 4 * isa.lanes, 1, -1, 1, 1, "output"};
  program.buffers = {input, arena, output};
  program.steps.push_back(mask_step(isa));
  program.steps.push_back(sum_step(isa));
  program.macs = kBytes * isa.lanes;
  program.model_sha256 = std::string(64, '0');
  return program;
}

// The input that tests use, and what the network makes of it.
inline int input_at(int i) { return (i * i + 11 * i) & 255; }
inline std::vector<int> expected_output(const IsaTraits& isa) {
  std::vector<int> out;
  for (int lane = 0; lane < isa.lanes; ++lane) {
    int sum = bias_at(lane);
    for (int i = 0; i < kBytes; ++i) {
      sum += (input_at(i) ^ mask_at(i % isa.byte_lanes())) * weight_at(lane, i);
    }
    out.push_back(static_cast<int>(std::nearbyint(static_cast<float>(sum) * scale_at(lane))));
  }
  return out;
}

}  // namespace etch::testing

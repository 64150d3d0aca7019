// Packing of constants; see pack.h.
#include "compiler/program/constants.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/base/check.h"

namespace etch {

namespace {
void append_int16(std::vector<std::byte>& out, int value) {
  ETCH_CHECK(value >= -32768 && value <= 32767);
  const auto bits = static_cast<std::uint16_t>(value);
  out.push_back(static_cast<std::byte>(bits & 0xff));
  out.push_back(static_cast<std::byte>(bits >> 8));
}

// Vectors are those of machines that are little-endian; portable code runs on any.
bool has_either_byte_order(const IsaTraits& isa) { return !isa.vectorized; }

// Unsigned, or as compilers print it: only the bits count.
DType word_of(DType type) {
  const int bytes = bytes_of(type);
  return bytes == 8   ? DType::kS64
         : bytes == 4 ? DType::kU32
         : bytes == 2 ? DType::kU16
                      : DType::kU8;
}

void append_word(std::vector<std::byte>& out, std::uint32_t bits) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::byte>((bits >> (8 * i)) & 0xff));
}
}  // namespace

void append_weights(std::vector<std::byte>& out, const IsaTraits& isa, const LaneWeights& lanes) {
  ETCH_CHECK(static_cast<int>(lanes.size()) == isa.lanes);
  if (isa.weight_form == WeightForm::kS8x4) {
    for (const auto& lane : lanes) {
      for (const int w : lane) {
        ETCH_CHECK(w >= -128 && w <= 127);
        out.push_back(static_cast<std::byte>(w & 0xff));
      }
    }
    return;
  }
  for (const std::size_t half : {0U, 1U}) {
    for (const auto& lane : lanes) {
      append_int16(out, lane[half]);
      append_int16(out, lane[half + 2]);
    }
  }
}

void append_byte_weights(std::vector<std::byte>& out, const LaneWeights& lanes) {
  for (const std::size_t half : {0U, 1U}) {
    for (const auto& lane : lanes) {
      for (const int w : {lane[half], lane[half + 2]}) {
        ETCH_CHECK(w >= -128 && w <= 127);
        out.push_back(static_cast<std::byte>(w & 0xff));
      }
    }
  }
}

void append_moved_weights(std::vector<std::byte>& out, const IsaTraits& isa,
                          const LaneWeights& lanes) {
  if (!isa.weights_in_pairs) return append_weights(out, isa, lanes);
  ETCH_CHECK(static_cast<int>(lanes.size()) == isa.lanes);
  for (const auto& lane : lanes) ETCH_CHECK(fits_in_pairs(isa, lane[0], lane[1], lane[2], lane[3]));
  for (const std::size_t first : {0U, 2U}) {
    for (const auto& lane : lanes) {
      for (std::size_t k = first; k < first + 2; ++k) {
        ETCH_CHECK(lane[k] >= -128 && lane[k] <= 127);
        out.push_back(static_cast<std::byte>(lane[k] & 0xff));
      }
    }
  }
}

ConstantArray int32_array(std::string suffix, const std::vector<std::int32_t>& values,
                          std::string comment) {
  ConstantArray out{std::move(suffix), DType::kS32, {}, std::move(comment)};
  for (const std::int32_t v : values) append_word(out.bytes, static_cast<std::uint32_t>(v));
  return out;
}

ConstantArray float_array(std::string suffix, const std::vector<float>& values,
                          std::string comment) {
  ConstantArray out{std::move(suffix), DType::kF32, {}, std::move(comment)};
  for (const float v : values) append_word(out.bytes, std::bit_cast<std::uint32_t>(v));
  return out;
}

ConstantArray byte_array(std::string suffix, std::vector<std::byte> bytes, std::string comment) {
  return {std::move(suffix), DType::kU8, std::move(bytes), std::move(comment)};
}

ConstantArray raw_array(std::string suffix, const Tensor& tensor, const IsaTraits& isa,
                        std::string comment) {
  // C++ has no arrays without elements.
  std::vector<std::byte> bytes(std::max<std::size_t>(tensor.bytes().size(), 1));
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), bytes.begin());
  const bool words = has_either_byte_order(isa) && tensor.size() > 0;
  return {std::move(suffix), words ? word_of(tensor.dtype()) : DType::kU8, std::move(bytes),
          std::move(comment)};
}

}  // namespace etch

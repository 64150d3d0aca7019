// The verbs that multiply bytes by weights, in portable C++: the first part of NativeVerbs
// (native.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compiler/base/check.h"
#include "templates/isa/traits.h"
#include "templates/native_values.h"
#include "templates/stage.h"

namespace etch {

class NativeProducts {
 public:
  using I32 = native::I32;
  using X4 = native::X4;
  using W4 = native::W4;
  using Bytes = native::Bytes;

  explicit NativeProducts(const IsaTraits& isa) : isa_(isa) {}

  const IsaTraits& isa() const { return isa_; }

  W4 load_w4(const Name&, const std::uint8_t* w) const {
    return loaded(w, [&](std::size_t c, std::size_t k) { return weight(w, c, k); });
  }

  W4 load_byte_w4(const Name& name, const std::uint8_t* w) const {
    if (isa_.weight_form == WeightForm::kS8x4) return load_w4(name, w);
    return loaded(w, [&](std::size_t c, std::size_t k) {
      return std::int16_t{static_cast<std::int8_t>(w[k % 2 * 2 * count() + 2 * c + k / 2])};
    });
  }

  W4 load_moved_w4(const Name& name, const std::uint8_t* w) const {
    if (!isa_.weights_in_pairs) return load_w4(name, w);
    return loaded(w, [&](std::size_t c, std::size_t k) {
      return std::int16_t{static_cast<std::int8_t>(w[k / 2 * 2 * count() + 2 * c + k % 2])};
    });
  }

  void dot4(I32& acc, const X4& x, const W4& w) const {
    each_product(
        [&](std::size_t c, std::size_t k) { add(acc.lane[c], x.lane[c][k] * w.lane[c][k]); });
  }

  void dot4_moved(I32& acc, const X4& x, const W4& w) const {
    check_pairs(w);
    each_product([&](std::size_t c, std::size_t k) {
      add(acc.lane[c], (x.lane[c][k] - isa_.moved) * w.lane[c][k]);
    });
  }

  void dot4_lane(I32& acc, const Bytes& x, int g, const W4& w) const {
    ETCH_CHECK(g >= 0 && g < isa_.lanes);
    check_pairs(w);
    each_product([&](std::size_t c, std::size_t k) {
      const std::uint8_t byte = x.at[4 * static_cast<std::size_t>(g) + k];
      const int factor = isa_.moved == 0 ? byte : static_cast<std::int8_t>(byte);
      add(acc.lane[c], factor * w.lane[c][k]);
    });
  }

  void dot_squares(I32& acc, const Bytes& x, const Bytes& w) const {
    for (std::size_t c = 0; c < count() && count() >= 4; ++c) {
      const std::size_t from_x = c / 4 * 16 + c % 4 / 2 * 8;
      const std::size_t from_w = c / 4 * 16 + c % 2 * 8;
      for (std::size_t k = 0; k < 8; ++k)
        add(acc.lane[c], x.at[from_x + k] * static_cast<std::int8_t>(w.at[from_w + k]));
    }
  }

  Bytes repeat4(const Name&, const std::uint8_t* x) const {
    Bytes out;
    each_product([&](std::size_t c, std::size_t k) { out.at[4 * c + k] = x[k]; });
    return out;
  }

  Bytes repeat4_at(const Name& name, const std::uint8_t* x, const std::uint8_t* at, int n) const {
    std::int32_t place = 0;
    std::memcpy(&place, at, sizeof place);
    ETCH_CHECK(place >= 0 && place <= n - 4);
    return repeat4(name, x + place);
  }

  void dot_sums16(I32& acc, const Bytes& x, const Bytes& w) const {
    const auto weight = [&](std::size_t i) { return static_cast<std::int8_t>(w.at[i]); };
    for (std::size_t i = 0; i < 4 * count(); i += 2)
      ETCH_CHECK(fits_sums16(weight(i), weight(i + 1)));
    each_product([&](std::size_t c, std::size_t k) {
      add(acc.lane[c], x.at[4 * c + k] * weight(4 * c + k));
    });
  }

  I32 low_halves(const Name&, const I32& a, const I32& b) const {
    return count() < 4 ? a : halves(a, b, 0);
  }
  I32 high_halves(const Name&, const I32& a, const I32& b) const {
    return count() < 4 ? b : halves(a, b, 2);
  }

 protected:
  IsaTraits isa_;

 private:
  std::size_t count() const { return static_cast<std::size_t>(isa_.lanes); }

  static void add(std::int32_t& acc, int product) { acc = native::wrapping_add(acc, product); }

  template <class Body>
  void each_product(Body body) const {
    for (std::size_t c = 0; c < count(); ++c) {
      for (std::size_t k = 0; k < 4; ++k) body(c, k);
    }
  }

  template <class Value>
  W4 loaded(const std::uint8_t* w, Value value) const {
    ETCH_CHECK(native::is_aligned(w, isa_.weight_bytes() / 2));
    W4 out;
    each_product([&](std::size_t c, std::size_t k) { out.lane[c][k] = value(c, k); });
    return out;
  }

  void check_pairs(const W4& w) const {
    for (const auto& lane : w.lane)
      ETCH_CHECK(fits_in_pairs(isa_, lane[0], lane[1], lane[2], lane[3]));
  }

  I32 halves(const I32& a, const I32& b, std::size_t first) const {
    I32 out;
    for (std::size_t c = 0; c < count(); ++c)
      out.lane[c] = (c % 4 < 2 ? a : b).lane[c / 4 * 4 + c % 2 + first];
    return out;
  }

  // Weight k of lane c in a vector of packed weights.
  std::int16_t weight(const std::uint8_t* w, std::size_t c, std::size_t k) const {
    if (isa_.weight_form == WeightForm::kS8x4) return static_cast<std::int8_t>(w[4 * c + k]);
    const std::uint8_t* const half = w + (k % 2) * 4 * count();
    const std::uint8_t* const word = half + 4 * c + 2 * (k / 2);
    return static_cast<std::int16_t>(static_cast<std::uint16_t>(word[0] | (word[1] << 8)));
  }
};

}  // namespace etch

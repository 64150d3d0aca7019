// Random numbers for the mutator: all of them follow from libFuzzer's seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace etch::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {  // splitmix64
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  // Uniform in [0, count); 0 if there is nothing to choose from.
  int below(int count) {
    return count <= 0 ? 0 : static_cast<int>(next() % static_cast<std::uint64_t>(count));
  }
  bool one_in(int n) { return below(n) == 0; }

  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<int>(from.size()))];
  }
  template <class Container>
  const auto& of(const Container& from) {  // not empty
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

  // Mostly small numbers, now and then one at which something wraps, ends or divides by zero.
  std::int64_t integer();
  // A size that keeps tensors small; now and then 0.
  std::int64_t size() { return one_in(40) ? 0 : one_in(4) ? 1 + below(20) : 1 + below(4); }
  // Mostly a plausible scale, now and then 0, a denormal, an infinity, a NaN.
  float real();

 private:
  std::uint64_t state_;
};

}  // namespace etch::fuzz

// Writes instructions of Arm's Thumb-2 set, line by line, for the functions in assembly that
// convolutions call (AssemblyFunction). Register names and immediates are the generator's; this
// only knows how lines look and how constants of any size are added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/program/step.h"

namespace etch {

// What the preprocessor asks before a function in assembly: Helium with floats, and DSP
// instructions.
inline constexpr const char* kHeliumCondition =
    "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) && defined(__GNUC__)";
inline constexpr const char* kDspCondition =
    "defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__ARMEL__) && "
    "defined(__GNUC__)";

class Thumb {
 public:
  // op("ldr", "r2", "[r0]"): "ldr r2, [r0]".
  template <class... Operands>
  void op(const char* mnemonic, const Operands&... operands) {
    std::string line = mnemonic;
    [[maybe_unused]] const char* separator = " ";
    ((line += cat(separator, operands), separator = ", "), ...);
    lines_.push_back(std::move(line));
  }

  // What follows, or which register holds what; written between the instructions.
  void comment(const std::string& text) { lines_.push_back(cat(AssemblyFunction::kComment, text)); }

  // Local labels: jump back with "1b", forward with "1f".
  void label(int number) { lines_.push_back(cat(number, ":")); }

  // `to` = `from` + value; |value| < 2^31. Values of more than 12 bits go through `spare`.
  void add(const std::string& to, const std::string& from, std::int64_t value,
           const std::string& spare) {
    constexpr std::int64_t kMost = 4095;
    if (value == 0 && to == from) return;
    if (value >= -kMost && value <= kMost) {
      op(value < 0 ? "sub" : "add", to, from, immediate(value < 0 ? -value : value));
      return;
    }
    load(spare, value);
    op("add", to, from, spare);
  }

  // `to` = value, in one or two instructions.
  void load(const std::string& to, std::int64_t value) {
    ETCH_CHECK(value >= INT32_MIN && value <= UINT32_MAX);
    const auto bits = static_cast<std::uint32_t>(value);
    op("movw", to, immediate(bits & 0xffff));
    if (bits >> 16 != 0) op("movt", to, immediate(bits >> 16));
  }

  static std::string immediate(std::int64_t value) { return cat("#", value); }
  // "[r2, #8]"
  static std::string at(const std::string& base, std::int64_t offset) {
    return offset == 0 ? cat("[", base, "]") : cat("[", base, ", #", offset, "]");
  }
  // "[r2], #8": the base moves on after the access.
  static std::string then_add(const std::string& base, std::int64_t step) {
    return cat("[", base, "], #", step);
  }
  static std::string r(int number) { return number == 14 ? "lr" : cat("r", number); }
  static std::string s(int number) { return cat("s", number); }

  std::size_t size() const { return lines_.size(); }
  // Puts the last line in front of the `lines` before it.
  void move_up(std::ptrdiff_t lines) {
    std::rotate(lines_.end() - 1 - lines, lines_.end() - 1, lines_.end());
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

}  // namespace etch

// See moved_words.h. ConstantArray::element tells these arrays from others by types of which no
// kernel reads constants; they stand for the width alone.
#include "compiler/program/moved_words.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/base/check.h"

namespace etch {

namespace {
constexpr DType kMovedWords[] = {DType::kF16, DType::kU32, DType::kF64};  // of 2, 4 and 8 bytes
}  // namespace

ConstantArray moved_array(std::string suffix, DType type, std::vector<std::byte> bytes,
                          std::string comment) {
  ConstantArray out{std::move(suffix), DType::kU8, std::move(bytes), std::move(comment)};
  if (bytes_of(type) == 1) return out;
  const auto* const word = std::ranges::find(kMovedWords, bytes_of(type), bytes_of);
  ETCH_CHECK(word != std::end(kMovedWords));
  out.element = *word;
  return out;
}

int moved_word_bytes(const ConstantArray& constant) {
  const auto* const word = std::ranges::find(kMovedWords, constant.element);
  return word == std::end(kMovedWords) ? 1 : bytes_of(*word);
}

DType declared_type(const ConstantArray& constant) {
  return moved_word_bytes(constant) == 1 ? constant.element : DType::kU8;
}

std::vector<std::byte> in_other_byte_order(std::span<const std::byte> bytes, int word) {
  std::vector<std::byte> out(bytes.begin(), bytes.end());
  ETCH_CHECK(std::ssize(out) % word == 0);
  for (auto at = out.begin(); at != out.end(); at += word) std::reverse(at, at + word);
  return out;
}

}  // namespace etch

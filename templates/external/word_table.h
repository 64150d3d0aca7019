// Descriptor of the function of runtime/etch_word_table.h; see templates/external.h.
#pragma once

#include "runtime/etch_word_table.h"
#include "templates/external.h"

namespace etch::external {

// There are so many `pieces`.
template <class T>
struct TableWords : RuntimeFunction {
  TableWords() : RuntimeFunction("table_words", "etch_word_table.h", FloatUse::kNone) {}
  explicit TableWords(std::ptrdiff_t pieces) : TableWords() { pieces_ = pieces; }
  void operator()(std::int32_t bits, std::int32_t steps, std::int32_t even,
                  const std::uint16_t* index, const std::int32_t* cubics, const T* x, T* y,
                  std::ptrdiff_t n) const {
    rt::table_words(bits, steps, even, index, cubics, x, y, n);
  }
  auto spans(std::int32_t bits, std::int32_t, std::int32_t, const std::uint16_t* index,
             const std::int32_t* cubics, const T* x, T* y, std::ptrdiff_t n) const {
    constexpr std::ptrdiff_t kValues = 65536;
    return spans_of(span(index, {}, kValues >> bits), span(cubics, {}, 4 * pieces_), span(x, {}, n),
                    span(y, {}, n));
  }

 private:
  std::ptrdiff_t pieces_ = 1;
};

}  // namespace etch::external

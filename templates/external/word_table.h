// Descriptor of the function of runtime/etch_word_table.h; see templates/external.h.
#pragma once

#include "runtime/etch_word_table.h"
#include "templates/external.h"

namespace etch::external {

// `count` elements are listed, which is 1 or more.
template <class T>
struct TableWords : RuntimeFunction {
  TableWords() : RuntimeFunction("table_words", "etch_word_table.h", FloatUse::kNone) {}
  explicit TableWords(std::ptrdiff_t count) : TableWords() { listed_ = count; }
  void operator()(std::int32_t bits, const std::int32_t* segments, const std::uint8_t* added,
                  const T* listed, const T* x, T* y, std::ptrdiff_t n) const {
    rt::table_words(bits, segments, added, listed, x, y, n);
  }
  auto spans(std::int32_t bits, const std::int32_t* segments, const std::uint8_t* added,
             const T* listed, const T* x, T* y, std::ptrdiff_t n) const {
    constexpr std::ptrdiff_t kValues = 65536;
    return spans_of(span(segments, {}, 2 * (kValues >> bits)), span(added, {}, kValues / 4),
                    span(listed, {}, listed_), span(x, {}, n), span(y, {}, n));
  }

 private:
  std::ptrdiff_t listed_ = 1;
};

}  // namespace etch::external

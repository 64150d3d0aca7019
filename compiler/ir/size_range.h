// What --dim LEAST<=SYMBOL<=MOST asks for: code for every size of a range.
#pragma once

#include <cstdint>
#include <string>

namespace etch {

struct SizeRange {
  std::string symbol;                // the model's text
  std::int64_t least = 1, most = 1;  // 1 <= least < most

  std::int64_t count() const { return most - least + 1; }
  bool has(std::int64_t size) const { return least <= size && size <= most; }
  bool operator==(const SizeRange&) const = default;
};

}  // namespace etch

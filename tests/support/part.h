// Which part of long lists of cases is tested. With ETCH_PART=1/4 in the environment each list
// gives those of its cases that are in the first of four parts; without it, all. Compiling takes
// most of the time of all tests, and .ci/run takes one part, which depends on the commit. Where a
// case is depends on its name alone, so a part of a part is the same part.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/cases.h"

namespace etch {

struct Part {
  std::size_t number = 1;  // 1 to `of`
  std::size_t of = 1;
};

// "1/4". Ends the program where `text` is none: a test of nothing would pass.
Part parse_part(std::string_view text);

bool is_in(const Part& part, std::string_view name);

// By ETCH_PART.
bool in_part(std::string_view name);

// At least one, where there is any.
std::vector<std::size_t> numbers_in_part(const std::vector<std::string>& names);
std::vector<std::size_t> numbers_in_part(const std::vector<Case>& cases);
std::vector<Case> part_of(std::vector<Case> cases);

// The numbers of the cases of the part, as many together as an image of an emulator has memory for.
std::vector<std::vector<std::size_t>> images_of_part(const std::vector<Case>& cases,
                                                     std::size_t together);

}  // namespace etch

// Limits on what a model may ask for, so that a small hostile file cannot cost much memory or
// time. They are far above every network that makes sense for static code. Exceeding one is
// reported as E-LIMIT.
#pragma once

#include <cstddef>
#include <cstdint>

namespace etch {

struct Limits {
  std::size_t file_bytes = std::size_t{256} << 20;
  int message_depth = 32;                         // nesting of protobuf messages
  std::size_t rank = 8;                           // dimensions of one tensor
  std::int64_t elements = std::int64_t{1} << 28;  // of one tensor
  int nodes = 10'000;
  std::size_t name_bytes = std::size_t{128} << 10;  // of one name; valid files with 64 KiB exist
};

}  // namespace etch

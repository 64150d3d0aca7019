// Limits on what a model may ask for, so that a small hostile file cannot cost much memory or
// time. They are far above the networks that make sense as static code. Exceeding one is E-LIMIT,
// whose message names the option that raises it (`--limit NAME=N`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace etch {

struct Limits {
  static constexpr std::size_t kRank = 8;  // dimensions of one tensor; fixed
  // A network may always do so many multiplications per byte of the model.
  static constexpr std::int64_t kMacsPerByte = std::int64_t{1} << 16;
  // And compute so many bytes of constants, as where integer weights become floats.
  static constexpr std::int64_t kComputedPerByte = 16;

  std::int64_t file_bytes = std::int64_t{256} << 20;       // of the model
  std::int64_t external_bytes = std::int64_t{1} << 30;     // of tensors in other files, together
  std::int64_t depth = 32;                                 // nesting of protobuf messages
  std::int64_t parts = std::int64_t{1} << 19;              // messages and strings in the file
  std::int64_t nodes = 16384;                              // of the graph
  std::int64_t name_bytes = std::int64_t{128} << 10;       // of one name
  std::int64_t constant_elements = std::int64_t{1} << 27;  // of one tensor in the file
  std::int64_t elements = std::int64_t{1} << 25;           // of one computed tensor or input
  std::int64_t computed_bytes = std::int64_t{1} << 23;     // of constants, above kComputedPerByte
  std::int64_t operations = std::int64_t{1} << 30;         // to compute constants, estimated
  std::int64_t macs = std::int64_t{1} << 28;               // of one run, above kMacsPerByte
  std::int64_t trips = std::int64_t{1} << 20;              // of all loops in one run
  std::int64_t statements = 400'000;                       // of the generated code
  std::int64_t step_statements = 12'000;                   // of one layer's, in a file of its own
  std::int64_t function_statements = 2000;                 // of one of its functions
};

// One limit as the command line sees it: 1 to `most`.
struct LimitInfo {
  std::string_view name;  // "nodes"
  std::int64_t Limits::*member;
  std::int64_t most;      // beyond that the compiler's own arithmetic is not checked
  std::string_view what;  // "nodes of the graph"
};
std::span<const LimitInfo> limit_infos();

// "at most 16384; --limit nodes=N raises this": the end of a message of E-LIMIT.
std::string at_most(const Limits& limits, std::int64_t Limits::*member);

}  // namespace etch

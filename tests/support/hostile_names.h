// Models whose every text is hostile: names, documentation, producer, metadata, symbolic sizes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace etch {

// Texts that mean something to one of the languages that Etch writes, or to what shows them.
struct HostileFamily {
  const char* what;
  std::string before, after;  // of a number that makes the text unique
};

const std::vector<HostileFamily>& hostile_families();

// The model with all its texts replaced, the same by the same, and those it has not got added.
std::string hostile(std::string_view model, const HostileFamily& family);
// With texts of all families in turn, and words that mean something to a compiler.
std::string hostile(std::string_view model);

// A network with harmless names: padded and depthwise convolutions, a table, a sum, a pool, between
// a quantization and a dequantization.
std::string small_network();

// Whether all is printable ASCII.
bool is_printable(std::string_view text);

}  // namespace etch

// What `etch golden` keeps of a model: a JSON file made for version control. Keys are sorted, each
// line has one value, and nothing in it depends on the machine that wrote it except the versions of
// the compilers, so that a diff shows what changed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etch::cli {

struct GoldenBytes {
  std::int64_t bytes = 0;
  std::string sha256;
  bool operator==(const GoldenBytes&) const = default;
};

// One step of the generated code: the text of its function with those that it calls, and its
// constants.
struct GoldenStep {
  std::string name;  // "n12_conv"
  std::string summary;
  std::string code_sha256;
  GoldenBytes constants;
  std::optional<std::int64_t> code_bytes;  // of its function in the object, where it was built
  bool operator==(const GoldenStep&) const = default;
};

struct GoldenTarget {
  std::int64_t arena_bytes = 0;
  std::int64_t weight_bytes = 0;
  std::optional<std::int64_t> code_bytes;   // where it was built
  std::optional<std::int64_t> stack_bytes;  // a bound for run(), for images that were run
  std::string compiler;                     // with its version; empty: it was not built
  std::string not_run;                      // why there are no outputs; empty: it ran
  std::map<std::string, GoldenBytes> files;
  std::vector<GoldenStep> steps;
  bool operator==(const GoldenTarget&) const = default;
};

struct GoldenOutput {
  std::string name;
  std::string type;    // "float32[1, 10]"
  std::string sha256;  // of the elements, with one NaN for all
  bool operator==(const GoldenOutput&) const = default;
};

// One inference: outputs are the same on every target. Inputs are in the folder sample_I, or are
// made from a seed.
struct GoldenSample {
  std::optional<std::uint32_t> seed;
  std::vector<GoldenOutput> outputs;  // empty if nothing was run
  bool operator==(const GoldenSample&) const = default;
};

struct Golden {
  std::string etch_version;
  int output_format = 0;
  std::string name;  // of the generated network
  std::string model_sha256;
  std::vector<std::string> options;  // words for the command line of `etch compile`
  std::vector<GoldenSample> samples;
  std::map<std::string, GoldenTarget> targets;
  bool operator==(const Golden&) const = default;
};

inline constexpr char kGoldenFile[] = "golden.json";
inline constexpr std::size_t kMostGoldenBytes = 16 << 20;
inline constexpr std::size_t kMostGoldenSamples = 64;

std::string to_json(const Golden& golden);

// Null if `text` is no such file; then `fault` says what is wrong where: "targets.avx2.files: ...".
std::optional<Golden> parse_golden(std::string_view text, std::string& fault);

}  // namespace etch::cli

// See flash_estimate.h. The bytes per verb are a least-squares fit of relative errors to the sizes
// of 320 functions that arm-none-eabi-gcc 12.2 -O2 makes for a Cortex-M4.
#include "compiler/emit/code/flash_estimate.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "compiler/emit/code/parts.h"
#include "compiler/emit/code/shared_bodies.h"
#include "compiler/stage/audit.h"

namespace etch {
namespace {

// run(), arena_bytes() and the like.
constexpr std::int64_t kFrame = 100;
// A call of a step in run().
constexpr std::int64_t kPerCall = 10;
// An instruction of Thumb-2 in assembly, of which some have 2 and most 4 bytes.
constexpr double kBytesPerLine = 3.6;
constexpr double kPerFunction = 24, kPerLoop = 13;

struct Bytes {
  std::string_view verb;
  double bytes;
};
// What is not here costs little or is part of what is: a load that feeds a product.
constexpr Bytes kPerVerb[] = {
    {"dot4", 49},       {"dot4_moved", 49},     {"dot4_lane", 49},
    {"dot_sums16", 25}, {"scale_round", 121},   {"scale_clamp_round", 121},
    {"narrow4", 79},    {"load_bytes_n", 30},   {"store_slice", 30},
    {"load_u8_n", 30},  {"load_f32_n", 30},     {"store_spread", 30},
    {"interleave", 30}, {"interleave4", 30},    {"widen4", 30},
    {"arrange1", 30},   {"arrange2", 30},       {"arrange3", 30},
    {"max_into", 30},   {"unzip", 30},          {"every_second", 30},
    {"round_i32", 18},  {"round_away_i32", 18}, {"fma_f32", 18},
    {"to_f32", 18},     {"mul_f32", 18},        {"add_f32", 18},
    {"div_f32", 56},    {"clamp_f32", 56},      {"fill", 9},
    {"lookup", 9},      {"softmax_f32", 1300},  {"softmax_bytes", 400},
};

double bytes_of_verb(std::string_view verb) {
  const auto* const found = std::ranges::find(kPerVerb, verb, &Bytes::verb);
  return found == std::end(kPerVerb) ? 1 : found->bytes;
}

std::int64_t bytes_of_lines(const AssemblyFunction& function) {
  const auto comments = std::ranges::count_if(function.lines, AssemblyFunction::is_comment);
  const auto lines = static_cast<std::ptrdiff_t>(function.lines.size()) - comments;
  return static_cast<std::int64_t>(kBytesPerLine * static_cast<double>(lines));
}

}  // namespace

std::int64_t estimated_code_bytes(const Program& program, const Step& step) {
  const AuditResult result = audit(step, program.isa, extents_of(program, step));
  double bytes = kPerFunction + kPerLoop * static_cast<double>(result.loops);
  for (const auto& [verb, count] : result.sites)
    bytes += bytes_of_verb(verb) * static_cast<double>(count);
  return static_cast<std::int64_t>(bytes);
}

FlashEstimate estimated_flash(const Program& program) {
  FlashEstimate out;
  for (const Program& variant : program.variants) {
    const FlashEstimate one = estimated_flash(variant);
    out.constants += one.constants;
    out.code += one.code;
  }
  if (program.steps.empty()) return out;
  out.constants += constant_bytes(program);
  out.code += kFrame;
  const std::map<std::string, std::string> bodies = shared_bodies(program);
  std::set<std::string> counted;
  std::set<std::string> assembly;
  for (const auto& step : program.steps) {
    out.code += kPerCall;
    if (step->shares_code()) continue;
    for (const AssemblyFunction& function : step->assembly) {
      if (assembly.insert(function.name).second) out.code += bytes_of_lines(function);
    }
    const auto body = bodies.find(step->name);
    const bool elsewhere = body != bodies.end() && !counted.insert(body->second).second;
    out.code += elsewhere ? 2 * kPerCall : estimated_code_bytes(program, *step);
  }
  return out;
}

}  // namespace etch

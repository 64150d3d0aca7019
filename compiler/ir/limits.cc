// The names of the limits; see limits.h.
#include "compiler/ir/limits.h"

#include <climits>

#include "compiler/base/check.h"
#include "compiler/base/text.h"

namespace etch {

namespace {
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

constexpr LimitInfo kInfos[] = {
    {"file-bytes", &Limits::file_bytes, INT_MAX, "bytes of the model file"},
    {"external-bytes", &Limits::external_bytes, std::int64_t{1} << 36,
     "bytes of tensors in other files, together"},
    {"depth", &Limits::depth, 200, "nesting of messages in the file"},
    {"parts", &Limits::parts, 1'000'000'000, "messages and strings in the file"},
    {"nodes", &Limits::nodes, 1'000'000, "nodes of the graph"},
    {"name-bytes", &Limits::name_bytes, std::int64_t{1} << 24, "bytes of one name"},
    {"constant-elements", &Limits::constant_elements, kMostElements,
     "elements of one tensor in the file"},
    {"elements", &Limits::elements, kMostElements, "elements of one input or computed tensor"},
    {"computed-bytes", &Limits::computed_bytes, std::int64_t{1} << 36,
     "bytes of constants that are computed, where these are more than 16 per byte of the model"},
    {"operations", &Limits::operations, std::int64_t{1} << 40,
     "operations, estimated, that compute constants"},
    {"macs", &Limits::macs, std::int64_t{1} << 50,
     "multiplications of one run, where these are more than 65536 per byte of the model"},
    {"trips", &Limits::trips, std::int64_t{1} << 40, "trips of all loops in one run"},
    {"statements", &Limits::statements, 100'000'000, "statements of the generated code"},
    {"step-statements", &Limits::step_statements, 1'000'000, "statements of one layer's code"},
    {"function-statements", &Limits::function_statements, 1'000'000, "statements of one function"},
};
}  // namespace

std::span<const LimitInfo> limit_infos() { return kInfos; }

std::string at_most(const Limits& limits, std::int64_t Limits::*member) {
  for (const LimitInfo& info : kInfos) {
    if (info.member != member) continue;
    const std::int64_t limit = limits.*member;
    return cat("at most ", limit,
               limit < info.most ? cat("; --limit ", info.name, "=N raises this") : "");
  }
  ETCH_CHECK(false);
}

}  // namespace etch

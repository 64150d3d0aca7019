// See golden_compare.h.
#include "compiler/golden/compare.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch::cli {
namespace {

constexpr std::size_t kMostNames = 8;  // in one line

bool is_report(const std::string& path) { return path.rfind("report.", 0) == 0; }

// "a, b, c and 4 more"
std::string list(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    out += cat(i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > kMostNames) out += cat(" and ", names.size() - kMostNames, " more");
  return out;
}

void add_line(TargetChange& change, const std::string& what,
              const std::vector<std::string>& names) {
  if (!names.empty()) change.lines.push_back(cat(what, list(names)));
}

void explain_files(const GoldenTarget& then, const GoldenTarget& now, TargetChange& change) {
  std::vector<std::string> changed;
  std::vector<std::string> reports;
  std::vector<std::string> gone;
  std::vector<std::string> fresh;
  for (const auto& [path, bytes] : then.files) {
    const auto found = now.files.find(path);
    if (found == now.files.end()) {
      gone.push_back(printable(path));
    } else if (found->second.sha256 != bytes.sha256) {
      const std::string text = cat(printable(path), " (", with_thousands(bytes.bytes), " -> ",
                                   with_thousands(found->second.bytes), " bytes)");
      (is_report(path) ? reports : changed).push_back(text);
    }
  }
  for (const auto& [path, bytes] : now.files) {
    if (then.files.count(path) == 0) fresh.push_back(path);
  }
  change.code = change.code || !(changed.empty() && gone.empty() && fresh.empty());
  add_line(change, "files that changed: ", changed);
  add_line(change, "files that are new: ", fresh);
  add_line(change, "files that are gone: ", gone);
  add_line(change, "reports that changed: ", reports);
}

// "code 412 -> 398 bytes, constants"; empty if nothing changed.
std::string step_change(const GoldenStep& then, const GoldenStep& now, bool same_compiler) {
  std::string what;
  const bool sized = then.code_bytes && now.code_bytes && same_compiler;
  if (then.code_sha256 != now.code_sha256) {
    what = "code";
    if (sized && then.code_bytes != now.code_bytes) {
      what += cat(" ", with_thousands(*then.code_bytes), " -> ", with_thousands(*now.code_bytes),
                  " bytes");
    }
  }
  if (then.constants != now.constants) {
    what += cat(what.empty() ? "" : ", ", "constants");
    if (then.constants.bytes != now.constants.bytes) {
      what += cat(" ", with_thousands(then.constants.bytes), " -> ",
                  with_thousands(now.constants.bytes), " bytes");
    }
  }
  return what;
}

const GoldenStep* find_step(const std::vector<GoldenStep>& steps, const std::string& name) {
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const GoldenStep& step) { return step.name == name; });
  return found == steps.end() ? nullptr : &*found;
}

void explain_steps(const GoldenTarget& then, const GoldenTarget& now, TargetChange& change) {
  std::vector<std::string> gone;
  std::vector<std::string> fresh;
  for (const GoldenStep& step : now.steps) {
    const GoldenStep* before = find_step(then.steps, step.name);
    if (before == nullptr) {
      fresh.push_back(cat(step.name, " (", step.summary, ")"));
      continue;
    }
    const std::string what = step_change(*before, step, then.compiler == now.compiler);
    if (what.empty()) continue;
    change.lines.push_back(cat("step ", step.name, " (", step.summary, "): ", what));
    change.code = true;
  }
  for (const GoldenStep& step : then.steps) {
    if (find_step(now.steps, step.name) == nullptr) gone.push_back(printable(step.name));
  }
  change.code = change.code || !(gone.empty() && fresh.empty());
  add_line(change, "steps that are new: ", fresh);
  add_line(change, "steps that are gone: ", gone);
}

void explain_size(const char* what, std::int64_t then, std::int64_t now, TargetChange& change) {
  if (then == now) return;
  const double percents =
      then == 0 ? 100 : 100 * (static_cast<double>(now) / static_cast<double>(then) - 1);
  change.lines.push_back(cat(what, " ", with_thousands(then), " -> ", with_thousands(now),
                             " bytes (", percents < 0 ? "" : "+", fixed(percents, 1), " %)"));
  change.growth = std::max(change.growth, percents);
  change.code = true;
}

void explain_sizes(const GoldenTarget& then, const GoldenTarget& now, TargetChange& change) {
  explain_size("arena", then.arena_bytes, now.arena_bytes, change);
  explain_size("weights", then.weight_bytes, now.weight_bytes, change);
  if (then.compiler.empty() || now.compiler.empty()) return;  // not built
  if (then.compiler != now.compiler) {
    change.lines.push_back(cat("code and stack cannot be compared: recorded with ",
                               printable(then.compiler), ", here is ", now.compiler));
    return;
  }
  if (then.code_bytes && now.code_bytes) {
    explain_size("code", *then.code_bytes, *now.code_bytes, change);
  }
  if (then.stack_bytes && now.stack_bytes) {
    explain_size("stack", *then.stack_bytes, *now.stack_bytes, change);
  }
}

}  // namespace

TargetChange explain(const GoldenTarget& then, const GoldenTarget& now) {
  TargetChange change;
  explain_files(then, now, change);
  explain_steps(then, now, change);
  explain_sizes(then, now, change);
  return change;
}

std::vector<std::string> explain_outputs(const std::vector<GoldenSample>& then,
                                         const std::vector<GoldenSample>& now) {
  std::vector<std::string> lines;
  for (std::size_t s = 0; s < std::min(then.size(), now.size()); ++s) {
    const std::vector<GoldenOutput>& before = then[s].outputs;
    const std::vector<GoldenOutput>& after = now[s].outputs;
    if (before.empty() || after.empty()) continue;
    if (before.size() != after.size()) {
      lines.push_back(cat("sample ", s, ": ", after.size(), " outputs instead of ", before.size()));
      continue;
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] == after[i]) continue;
      const std::string output = cat("sample ", s, ", output ", i, " '", after[i].name, "': ");
      const bool other_type = before[i].type != after[i].type;
      lines.push_back(
          other_type
              ? cat(output, "is ", after[i].type, " instead of ", printable(before[i].type))
              : cat(output, before[i].sha256 != after[i].sha256 ? "other values" : "another name"));
    }
  }
  return lines;
}

}  // namespace etch::cli

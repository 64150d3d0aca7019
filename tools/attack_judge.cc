// The judge of tools/attack: what a folder of models gives by the reference functions, by the steps
// of each plan under the Native stage, and by compiled code, and where these differ.
//
//   etch_attack_judge FOLDER [SKIPPED...]
//
// FOLDER has cases.tsv and cases.bin (tests/support/recorded_cases.h) without outputs; the field
// "source" lists plans: "n --target avx2 --optimize size" for native ones, "c ..." for those that
// are compiled too, separated by ';'; "nt5" takes the tiles of number 5 of those that `etch tune`
// would try, "na70" and "nf70" bound the arena and the flash to that percentage; "deviation" is
// "qdq" if fusing groups may round elsewhere, so that plans are compared with the first one only,
// except those with --qdq float. Native outputs of the first plan go to FOLDER/native.bin, those of
// the reference functions to FOLDER/reference.bin, each block after its size. Prints lines of words
// and texts, separated by tabs; a case's first line is printed before it is begun, so that the
// caller knows which one ended the program. Skipped cases are numbers.
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/cli/options.h"
#include "compiler/compile.h"
#include "compiler/emit/code/flash_estimate.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ops/evaluate.h"
#include "compiler/passes/resolve.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/recorded_cases.h"

namespace etch {
namespace {

constexpr int kSecondsPerCase = 60;  // of this process's own time
constexpr unsigned kSecondsPerProgram = 300;

struct Plan {
  std::string words;
  bool compiled = false;
  char bound = 0;  // 't': tiles of this number; 'a', 'f': percent of the arena or flash it takes
  int amount = 0;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    if (!part.empty()) out.push_back(part);
  }
  return out;
}

std::vector<Plan> plans_of(const std::string& text) {
  std::vector<Plan> out;
  for (const std::string& part : split(text, ';')) {
    const std::size_t space = std::min(part.find(' '), part.size());
    Plan plan{part.substr(std::min(space + 1, part.size())), part.front() == 'c'};
    if (space > 2) {
      plan.bound = part[1];
      plan.amount = std::stoi(part.substr(2, space - 2));
    }
    out.push_back(plan);
  }
  return out;
}

// The signal that ends this process after so much more work of its own; 0: none does.
void limit_own_seconds(int seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

void say(const std::string& what, const std::string& name, const std::string& plan,
         const std::string& text) {
  std::string line = text;
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  std::printf("%s\t%s\t%s\t%s\n", what.c_str(), name.c_str(), plan.c_str(), line.c_str());
  std::fflush(stdout);
}

std::string errors_in(const Sink& sink) {
  std::string out;
  for (const Diagnostic& each : sink.sorted()) {
    if (each.severity == Severity::kError) out += format(each, "model") + " | ";
  }
  return out;
}

CompileOptions options_of(const std::string& words) {
  cli::ModelOptions options;
  const cli::Parser parser("", "", cli::Parser::Help::kNone);
  cli::add_model_options(parser, options);
  cli::add_code_options(parser, options);
  cli::add_budget_options(parser, options);
  cli::add_schedule_options(parser, options);
  parser.option("MODEL").required(false);
  std::string what;
  if (parser.parse(split(words, ' '), what) != cli::Parser::Outcome::kParsed) {
    say("error", "-", words, what);
    std::exit(1);
  }
  return options.compile_options();
}

// The program of a plan; null if it is refused, without a word if only a bound is the reason.
std::unique_ptr<Program> program_of(const RecordedCase& each, const Plan& plan) {
  CompileOptions options = options_of(plan.words);
  Sink sink;
  auto program = compile(each.model.model, options, sink);
  if (program == nullptr) say("refused", each.model.name, plan.words, errors_in(sink));
  if (program == nullptr || plan.bound == 0) return program;
  constexpr std::size_t kMostTiles = 12;
  const int percent = plan.amount;
  if (plan.bound == 't') {
    options.tuning = candidate_tuning(*program, static_cast<std::size_t>(percent), kMostTiles);
  } else if (plan.bound == 'a') {
    options.arena_limit = std::max<std::int64_t>(1, program->arena_bytes * percent / 100);
  } else {
    options.flash_limit =
        std::max<std::int64_t>(1, estimated_flash(*program).total() * percent / 100);
  }
  Sink of_bound;
  return compile(each.model.model, options, of_bound);
}

void append(std::ofstream& file, const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string bytes = tensor_file(tensors[i], cat("output_", i));
    const auto size = static_cast<std::uint32_t>(bytes.size());
    file.write(reinterpret_cast<const char*>(&size), sizeof(size));
    file << bytes;
  }
  file.flush();
}

// What waits to be compiled, by target.
struct Waiting {
  const RecordedCase* of = nullptr;
  std::string plan;
  std::unique_ptr<Program> program;
  std::vector<Tensor> expected;
};
using Batches = std::map<std::string, std::vector<Waiting>>;

class Judge {
 public:
  explicit Judge(const std::string& folder)
      : reference_(folder + "/reference.bin", std::ios::binary),
        native_(folder + "/native.bin", std::ios::binary) {}

  void judge(const RecordedCase& each) {
    limit_own_seconds(kSecondsPerCase);
    Sink sink;
    const std::vector<Plan> plans = plans_of(each.source);
    std::optional<Graph> graph = import_model(each.model.model, {}, sink);
    // All plans have the same.
    if (graph) graph->float_steps = options_of(plans.front().words).float_steps;
    if (graph) resolve(*graph, sink);
    if (!graph || sink.has_errors()) {
      say("refused", each.model.name, "-", errors_in(sink));
      return;
    }
    const std::vector<Tensor> expected = evaluate(*graph, each.model.inputs);
    std::vector<Tensor> first;
    for (const Plan& plan : plans) {
      judge_plan(each, plan, expected, first);
    }
    if (first.empty()) return;
    append(reference_, expected);
    append(native_, first);
    say("outputs", each.model.name, "-", cat(expected.size()));
  }

  void compile_all() {
    for (auto& [target, batch] : batches_) compile_some(target, batch);
  }

 private:
  void judge_plan(const RecordedCase& each, const Plan& plan, const std::vector<Tensor>& expected,
                  std::vector<Tensor>& first) {
    auto program = program_of(each, plan);
    if (program == nullptr) return;
    std::vector<Tensor> outputs = native_outputs(*program, each.model.inputs);
    const bool as_written = each.deviation.empty() || plan.words.find("--qdq float") < 99;
    const std::string words =
        plan.bound == 0 ? plan.words : cat(plan.bound, plan.amount, ' ', plan.words);
    const std::string what = difference_of(outputs, expected);
    if (as_written && !what.empty()) say("differ", each.model.name, words, what);
    if (first.empty()) {
      first = outputs;
    } else if (each.deviation.empty() || !as_written) {
      const std::string other = difference_of(outputs, first);
      if (!other.empty()) say("unequal", each.model.name, words, other);
    }
    if (!plan.compiled) return;
    const std::string target(program->isa.name);
    batches_[target].push_back({&each, words, std::move(program), std::move(outputs)});
  }

  // Halves what does not build or run until one program is left.
  void compile_some(const std::string& target, std::span<Waiting> some) {
    std::vector<BatchEntry> entries;
    for (const Waiting& each : some) {
      entries.push_back({each.program.get(), &each.of->model.inputs});
    }
    limit_own_seconds(0);
    // Compilers and emulators are waited for by the clock, which other work on the machine delays.
    ::alarm(kSecondsPerProgram * static_cast<unsigned>(some.size() + 10));
    BatchOptions options;
    options.networks_per_file = 8;
    const auto outputs = run_generated(entries, some.front().program->isa, options);
    if (outputs) {
      for (std::size_t i = 0; i < some.size(); ++i) {
        const std::string what = difference_of((*outputs)[i], some[i].expected);
        say(what.empty() ? "compiled" : "code", some[i].of->model.name, some[i].plan, what);
      }
    } else if (some.size() == 1) {
      say("broken", some.front().of->model.name, some.front().plan, "does not build or run");
    } else {
      compile_some(target, some.first(some.size() / 2));
      compile_some(target, some.subspan(some.size() / 2));
    }
  }

  std::ofstream reference_, native_;
  Batches batches_;
};

int run(int count, char** words) {
  const std::string folder = words[1];
  std::set<std::size_t> skipped;
  for (int i = 2; i < count; ++i) skipped.insert(std::stoul(words[i]));
  const std::vector<RecordedCase> cases = read_recorded_cases(folder);
  Judge judge(folder);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (skipped.count(i) > 0) continue;
    say("case", cases[i].model.name, cat(i), "");
    judge.judge(cases[i]);
  }
  say("case", "-", "-1", "");
  judge.compile_all();
  say("end", "-", "-", "");
  return 0;
}

}  // namespace
}  // namespace etch

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  if (count < 2) {
    std::fprintf(stderr, "usage: etch_attack_judge FOLDER [SKIPPED...]\n");
    return 1;
  }
  return etch::run(count, words);
}

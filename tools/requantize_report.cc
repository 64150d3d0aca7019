// What integer requantization makes of real networks: compiles every model below a folder with
// --requantize integer and prints, as a Markdown table, how many channels are on each rung of the
// ladder and how often the integer formula and the float rule differ. With --enumerate they are
// compared at every accumulator that can occur, else at all thresholds, which proves the same.
// Exits with 1 if there is any difference. tools/requantize-report builds and runs it.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ops/reference_math.h"
#include "compiler/program/requantization.h"

namespace {

namespace fs = std::filesystem;
using namespace etch;

struct Row {
  RungCounts counts;
  std::int64_t compared = 0;
  std::int64_t mismatches = 0;

  void add(const Row& other) {
    counts.add(other.counts);
    compared += other.compared;
    mismatches += other.mismatches;
  }
};

// The float rule in the words of the reference functions, with a fused clamp.
int reference(const RequantizeChannel& channel, std::int64_t acc) {
  const float scaled = static_cast<float>(static_cast<std::int32_t>(acc)) * channel.scale;
  return std::clamp(round_and_saturate(scaled, 0, DType::kS16), channel.low, channel.high);
}

void compare_everywhere(const RequantizedChannel& each, Row& row) {
  const RequantizeChannel& c = each.channel;
  for (std::int64_t acc = c.least; acc <= c.most; ++acc) {
    const std::int32_t q = evaluate(each.form, static_cast<std::int32_t>(acc));
    row.mismatches += std::clamp(q, c.low, c.high) != reference(c, acc) ? 1 : 0;
  }
  row.compared += c.most - c.least + 1;
}

Row row_of(const Program& program, bool enumerate) {
  Row row;
  row.counts = count_rungs(program);
  for (const auto& step : program.steps) {
    for (const RequantizedChannel& each : step->requantized) {
      if (enumerate) {
        compare_everywhere(each, row);
        continue;
      }
      const Demands demands = demands_of(each.channel);
      row.mismatches += count_mismatches(each.form, each.channel, demands);
      row.compared += static_cast<std::int64_t>(demands.reach.size());
    }
  }
  return row;
}

std::string share(int count, int total) {
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.2f %%", total == 0 ? 0.0 : 100.0 * count / total);
  return cat(count, " (", percent, ")");
}

void print(const std::string& name, const Row& row) {
  std::string line = cat("| ", name, " | ", row.counts.total(), " |");
  for (int i = 0; i < kRungs; ++i) {
    line += cat(" ", share(row.counts.of(static_cast<Rung>(i)), row.counts.total()), " |");
  }
  std::printf("%s %lld | %lld |\n", line.c_str(), static_cast<long long>(row.compared),
              static_cast<long long>(row.mismatches));
  std::fflush(stdout);
}

std::vector<fs::path> models_below(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The path below `folder` without what all paths have in common.
std::string name_of_model(const fs::path& model, const fs::path& folder) {
  fs::path path = fs::relative(model, folder).replace_extension();
  if (path.has_parent_path() && path.stem().string().rfind("model", 0) == 0)
    path = path.parent_path();
  return printable(path.string());
}

std::string first_error(const Sink& sink) {
  for (const Diagnostic& d : sink.sorted()) {
    if (d.severity == Severity::kError) return format(d, "");
  }
  return {};
}

// Shapes of the tensors in test_data_set_0 beside the model, for models that leave sizes open.
std::map<std::string, Shape> shapes_of_data(const fs::path& model, const std::string& bytes) {
  std::map<std::string, Shape> out;
  onnx::ModelProto proto;
  if (!proto.ParseFromString(bytes)) return out;
  std::set<std::string> constants;
  for (const auto& each : proto.graph().initializer()) constants.insert(each.name());
  int index = 0;
  for (const auto& input : proto.graph().input()) {
    if (constants.count(input.name()) != 0) continue;
    const fs::path path = model.parent_path() / "test_data_set_0" / cat("input_", index++, ".pb");
    Sink sink;
    if (!fs::exists(path)) continue;
    if (const auto tensor = read_tensor_file(path.string(), sink))
      out.emplace(input.name(), tensor->shape());
  }
  return out;
}

int run(const fs::path& folder, bool enumerate) {
  std::printf(
      "| network | channels | multiply-shift | exceptions | ties to even | emulation | %s "
      "compared | mismatches |\n|---|---|---|---|---|---|---|---|\n",
      enumerate ? "accumulators" : "thresholds");
  Row all;
  int without = 0;
  std::vector<std::string> refused;
  for (const fs::path& model : models_below(folder)) {
    std::ifstream file(model, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    CompileOptions options;
    options.target = "scalar";
    options.requantize = RequantizeMode::kInteger;
    options.import.input_shapes = shapes_of_data(model, bytes);
    Sink sink;
    const auto program = compile(bytes, options, sink);
    if (program == nullptr) {
      refused.push_back(cat(name_of_model(model, folder), first_error(sink)));
      continue;
    }
    const Row row = row_of(*program, enumerate);
    if (row.counts.total() == 0) {
      ++without;
      continue;
    }
    print(name_of_model(model, folder), row);
    all.add(row);
  }
  print("**all**", all);
  std::printf("\n%d models without such channels; %zu not compiled:\n", without, refused.size());
  for (const std::string& reason : refused) std::printf("- %s\n", reason.c_str());
  return all.mismatches == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool enumerate = argc == 3 && std::string(argv[2]) == "--enumerate";
  if (argc < 2 || (argc == 3 && !enumerate) || argc > 3 || !fs::is_directory(argv[1])) {
    std::fprintf(stderr, "usage: requantize-report FOLDER [--enumerate]\n");
    return 2;
  }
  return run(argv[1], enumerate);
}

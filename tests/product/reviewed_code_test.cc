// What a reviewer of generated code sees before anything else: lines that fit, numbers that agree
// with their nouns, flags that are asked for, names of the model, and how to make the files again.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/targets/targets.h"
#include "compiler/text/wrap.h"
#include "tests/support/hostile_names.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

std::string digits() {
  std::ifstream file(fs::path(source_dir()) / "examples/digits/model.onnx", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<OutputFile> files_of(const std::string& model, const CompileOptions& options,
                                 const EmitOptions& emitted = {}) {
  Sink sink;
  const auto program = compile(model, options, sink);
  EXPECT_NE(program, nullptr) << errors_of(sink);
  return program == nullptr ? std::vector<OutputFile>() : emit(*program, emitted);
}

CompileOptions for_target(std::string_view target) {
  CompileOptions options;
  options.target = target;
  return options;
}

// Of every kind of code: vectors, assembly, variants, shared bodies, shares of threads.
std::vector<CompileOptions> many_options() {
  std::vector<CompileOptions> out;
  for (const IsaTraits* const target : all_targets()) out.push_back(for_target(target->name));
  out.push_back(for_target(kMultiTarget));
  for (const Objective objective : {Objective::kSpeed, Objective::kSize, Objective::kRam}) {
    out.push_back(for_target("cortex-m4"));
    out.back().objective = objective;
  }
  out.push_back(for_target("avx2"));
  out.back().threads = 2;
  out.back().requantize = RequantizeMode::kInteger;
  return out;
}

bool is_cpp(const std::string& path) { return path.ends_with(".h") || path.ends_with(".cc"); }

bool is_literal(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string::npos && line[first] == '"';
}

template <class Check>
void for_each_line(const std::string& text, Check check) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    check(text.substr(at, end - at));
    at = end + 1;
  }
}

TEST(ReviewedCode, HasNoLineOfMoreThan100Columns) {
  int lines = 0;
  for (const std::string& model : {digits(), small_network()}) {
    for (const CompileOptions& options : many_options()) {
      for (const FileLayout layout : {FileLayout::kFolder, FileLayout::kSingleFile}) {
        EmitOptions emitted;
        emitted.layout = layout;
        emitted.name = std::string(40, 'n');
        emitted.profile = options.target != kMultiTarget;
        for (const OutputFile& file : files_of(model, options, emitted)) {
          if (!is_cpp(file.path)) continue;
          for_each_line(file.content, [&](const std::string& line) {
            ++lines;
            EXPECT_TRUE(line.size() <= kMostColumns || is_literal(line))
                << options.target << ", " << file.path << ": " << line;
          });
        }
      }
    }
  }
  EXPECT_GT(lines, 10000);
}

TEST(ReviewedCode, HasOneOfAThingInTheSingular) {
  const std::regex wrong(
      "(^|[^x] |[^0-9.,x \\[-])1 "
      "(row|column|channel|lane|pixel|tap|byte|element|group|run|word|step|slice|"
      "band|vector|product|thread)s\\b");
  for (const std::string& model : {digits(), small_network()}) {
    for (const CompileOptions& options : many_options()) {
      for (const OutputFile& file : files_of(model, options)) {
        if (file.path.starts_with("etch/")) continue;
        for_each_line(file.content, [&](const std::string& line) {
          EXPECT_FALSE(line.size() < 400 && std::regex_search(line, wrong))
              << options.target << ", " << file.path << ": " << line;
        });
      }
    }
  }
}

const std::string& content_of(const std::vector<OutputFile>& files, const std::string& path) {
  for (const OutputFile& file : files) {
    if (file.path == path) return file.content;
  }
  ADD_FAILURE() << path;
  static const std::string none;
  return none;
}

// The digits take floats, so every target with an FPU is asked for it.
TEST(ReviewedCode, AsksForWhatItsTargetHas) {
  int asking = 0;
  for (const CrossTarget& target : cross_targets()) {
    const auto files = files_of(digits(), for_target(target.isa->name));
    const std::string& header = content_of(files, "model_steps.h");
    for (const std::string_view macro : {target.isa->core_macro, target.isa->float_macro}) {
      if (macro.empty()) continue;
      ++asking;
      EXPECT_NE(header.find(cat("#if !defined(", macro, ")\n#error ")), std::string::npos)
          << target.isa->name;
    }
    const bool asks = header.find("#error") != std::string::npos;
    EXPECT_EQ(asks, !target.isa->core_macro.empty() || !target.isa->float_macro.empty());
  }
  EXPECT_GE(asking, 10);
}

// Only bytes, and requantization with integers.
TEST(ReviewedCode, AsksForNoFpuWithoutFloats) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 4, 6, 6});
  model.node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Ints{2, 2}}});
  model.output("y", DType::kU8, {1, 4, 5, 5});
  const auto files = files_of(model.bytes(), for_target("cortex-m4"));
  const std::string& header = content_of(files, "model_steps.h");
  EXPECT_NE(header.find("__ARM_FEATURE_DSP"), std::string::npos);
  EXPECT_EQ(header.find("__ARM_FP"), std::string::npos);
}

TEST(ReviewedCode, CanBeMadeAgainFromWhatItSays) {
  CompileOptions options = for_target("native");
  options.import.dims = {{"N", 1}};
  options.threads = 2;
  const auto files = files_of(digits(), options);
  const std::string command = cat("etch compile MODEL.onnx -o DIR --target ",
                                  find_target("native")->name, " --dim N=1 --threads 2");
  EXPECT_NE(content_of(files, "model.h").find(command), std::string::npos);
  EXPECT_NE(content_of(files, "report.json").find(command), std::string::npos);
  EXPECT_NE(content_of(files, "report.html").find(command), std::string::npos);
}

}  // namespace
}  // namespace etch

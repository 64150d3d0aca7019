// What a reviewer of generated code sees before anything else: lines that fit, numbers that agree
// with their nouns, flags that are asked for, names of the model, and how to make the files again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
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

// The digits take floats, so every target with an FPU is asked for it, and every one with functions
// in assembly for what these need.
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
    EXPECT_EQ(asks, !target.isa->core_macro.empty() || !target.isa->float_macro.empty() ||
                        target.isa->assembly != Assembly::kNone)
        << target.isa->name;
  }
  EXPECT_GE(asking, 10);
}

// A compiler's flags for a CPU that lacks what a target has, and the word of #error about it.
struct WrongFlags {
  const char* target;
  const char* flags;
  const char* said;
};

TEST(ReviewedCode, IsRefusedByCompilersForCpusThatLackWhatItsTargetHas) {
  if (std::system("arm-none-eabi-gcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no GCC";
  // Targets: those of which a compiler takes the code for less.
  const WrongFlags all[] = {
      {"cortex-m3", "-mcpu=cortex-m0", "__thumb2__"},
      {"cortex-m4", "-mcpu=cortex-m3", "__ARM_FEATURE_DSP"},
      {"cortex-m4", "-mcpu=cortex-m4 -mfloat-abi=soft", "__ARM_FP"},
      {"cortex-m4", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -mbig-endian", "assembly"},
      {"cortex-m4-nofp", "-mcpu=cortex-m3", "__ARM_FEATURE_DSP"},
      {"cortex-m7", "-mcpu=cortex-m7+nofp", "__ARM_FP"},
      {"cortex-m33", "-mcpu=cortex-m33+nodsp", "__ARM_FEATURE_DSP"},
      {"cortex-m33", "-mcpu=cortex-m33+nofp", "__ARM_FP"},
      {"cortex-m33-nofp", "-mcpu=cortex-m33+nodsp", "__ARM_FEATURE_DSP"},
      {"cortex-m55", "-mcpu=cortex-m55+nomve -mfloat-abi=hard", "__ARM_FEATURE_MVE"},
      {"cortex-m55", "-mcpu=cortex-m55+nomve.fp -mfloat-abi=hard", "assembly"},
      {"cortex-r5", "-mcpu=cortex-m0", "__thumb2__"},
  };
  const fs::path folder = fs::temp_directory_path() / cat("etch-flags-", ::getpid());
  for (const auto& [target, flags, said] : all) {
    fs::remove_all(folder);
    for (const OutputFile& file : files_of(digits(), for_target(target))) {
      fs::create_directories((folder / file.path).parent_path());
      std::ofstream(folder / file.path, std::ios::binary) << file.content;
    }
    const auto compiles = [&folder, &with = flags](const char* more) {
      return std::system(cat("cd ", folder.string(), " && arm-none-eabi-gcc -mthumb -std=c++17 ",
                             "-fsyntax-only ", with, more, " model_steps_0.cc 2> said")
                             .c_str()) == 0;
    };
    EXPECT_FALSE(compiles("")) << target << " " << flags;
    std::ifstream file(folder / "said");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find(cat("#error \"etch: no ", said)), std::string::npos) << target << text;
    EXPECT_TRUE(compiles(" -DETCH_ALLOW_PORTABLE")) << target << " " << flags;
  }
  fs::remove_all(folder);
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

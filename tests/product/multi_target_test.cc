// --target x86-64-multi and aarch64-multi: the generated code takes the right variant on every kind
// of CPU, every variant computes what the references do, and files for different instruction sets
// can be linked together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/emit.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"
#include "compiler/host/work_folder.h"
#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/engines.h"
#include "tests/support/float_cases.h"
#include "tests/support/function_cases.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/row_cases.h"
#include "tests/support/select_cases.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Program> multi(const Case& each) { return compiled(each, kMultiTarget); }

TEST(MultiTarget, NeedsTheLargestArenaAndAllWeights) {
  const Case each = small_networks(1).front();
  const auto program = multi(each);
  ASSERT_NE(program, nullptr);
  ASSERT_EQ(program->variants.size(), multi_variants().size());
  std::int64_t arena = 0, constants = 0;
  for (std::size_t v = 0; v < program->variants.size(); ++v) {
    const auto alone = compiled(each, multi_variants()[v]->name);
    ASSERT_NE(alone, nullptr);
    EXPECT_EQ(program->variants[v].isa.name, alone->isa.name);
    EXPECT_EQ(program->variants[v].arena_bytes, alone->arena_bytes);
    arena = std::max(arena, alone->arena_bytes);
    constants += constant_bytes(*alone);
  }
  EXPECT_EQ(program->arena_bytes, arena);
  EXPECT_EQ(constant_bytes(*program), constants);
}

// One 8-bit input and output, with padding.
Case one_convolution() {
  for (Case& each : small_plane_convolutions(97)) {
    const auto program = compiled(each, "scalar");
    const bool plain = program != nullptr && program->inputs.size() == 1 &&
                       program->outputs.size() == 1 && is_8bit(program->inputs[0].dtype);
    if (plain) return std::move(each);
  }
  ADD_FAILURE() << "no such case";
  return {};
}

TEST(MultiTarget, ReportsAFaultOnce) {
  ModelBuilder model;
  model.input("x", DType::kU8, {2, 3});
  model.initializer("scale", f32({}, {0.1F})).initializer("zero", u8({}, {7}));
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
  model.node("Softmax", {"real"}, {"soft"});
  model.node("QuantizeLinear", {"soft", "scale", "zero"}, {"y"}).output("y");
  Sink sink;
  CompileOptions options;
  options.target = kMultiTarget;
  options.requantize = RequantizeMode::kInteger;
  options.strict_integer = true;
  EXPECT_EQ(compile(model.bytes(), options, sink), nullptr);
  Sink alone;
  options.target = "avx512_vnni";
  EXPECT_EQ(compile(model.bytes(), options, alone), nullptr);
  EXPECT_EQ(sink.error_count(), alone.error_count());
}

// Each variant that this CPU has, and the one that the code chooses.
TEST(MultiTarget, EveryVariantComputesWhatTheReferencesDo) {
  const Case each = small_networks(1).front();
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto network = cli::Network::build(multi(each), cli::Timing::kNone, {}, reporter);
  ASSERT_NE(network, nullptr);
  const std::vector<Tensor> expected = reference_outputs(each);
  const auto expect_exact = [&](std::string_view what) {
    const auto outputs = network->run({each.inputs}, reporter);
    ASSERT_TRUE(outputs) << what;
    EXPECT_EQ(difference_of(outputs->front(), expected), "") << what;
  };
  expect_exact("chosen");
  for (std::size_t v = 0; v < multi_variants().size(); ++v) {
    if (!target_runs_here(multi_variants()[v]->name)) continue;
    network->choose(v);
    expect_exact(multi_variants()[v]->name);
  }
}

TEST(MultiTarget, EveryVariantForArmComputesWhatTheReferencesDo) {
  const std::string missing = cli::status_of(*find_target(kArmMultiTarget)).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Case each = small_networks(1).front();
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto network =
      cli::Network::build(compiled(each, kArmMultiTarget), cli::Timing::kNone, {}, reporter);
  ASSERT_NE(network, nullptr);
  const auto variants = multi_target(kArmMultiTarget)->variants;
  ASSERT_EQ(network->program().variants.size(), variants.size());
  for (std::size_t v = 0; v < variants.size(); ++v) {
    network->choose(v);
    const auto outputs = network->run({each.inputs}, reporter);
    ASSERT_TRUE(outputs) << variants[v]->name;
    EXPECT_EQ(difference_of(outputs->front(), reference_outputs(each)), "") << variants[v]->name;
  }
}

// A folder in which commands run.
class MultiTargetFiles : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(folder_, nullptr); }

  void write(const std::string& path, std::string_view content) const {
    fs::create_directories((folder_->path() / path).parent_path());
    std::ofstream(folder_->path() / path, std::ios::binary) << content;
  }

  // What the command prints.
  std::string shell(const std::string& command) const {
    const auto result =
        cli::run_process({"sh", "-c", cat("cd ", folder_->path().string(), " && ", command)},
                         std::chrono::minutes(10));
    EXPECT_TRUE(result.succeeded()) << command << "\n" << result.output << result.errors;
    return result.output;
  }

  cli::Reporter reporter_{cli::Verbosity::kQuiet};
  std::unique_ptr<cli::WorkFolder> folder_ = cli::WorkFolder::make({}, reporter_);
};

// The header of the runtime, but the CPU is what the program says.
std::string header_for_any_cpu(const std::string& header) {
  constexpr std::string_view kReader = "static inline Cpu read_cpu() {";
  std::string out = header;
  const std::size_t at = out.find(kReader);
  EXPECT_NE(at, std::string::npos);
  out.replace(at, kReader.size(),
              "extern Cpu any_cpu;\nstatic inline Cpu read_cpu() { return any_cpu; }\n"
              "[[maybe_unused]] static inline Cpu read_this_cpu() {");
  return out;
}

std::string unused_ports(const Program& program) {
  std::string out;
  for (const std::string& name : port_parameters(program)) out += cat("  (void)", name, ";\n");
  return out;
}

// Variants that only say their names.
std::string variants_with_names(const Program& program) {
  std::string out = "#include <cstdio>\n#include \"net.h\"\n";
  for (const Program& variant : program.variants) {
    const std::string name = variant_name("net", variant.isa);
    out += cat("#include \"", name, ".h\"\nvoid ", name, "::run(", run_parameters(program),
               ") noexcept {\n  std::puts(\"", variant.isa.name, "\");\n", unused_ports(program),
               "  (void)arena;\n}\n");
  }
  return out;
}

// Prints which variant runs on CPUs of increasing abilities.
std::string main_for_any_cpu(const Program& program) {
  return variants_with_names(program) + R"(
#include "etch/etch_cpu.h"
namespace etch { namespace rt { Cpu any_cpu; } }
int main() {
  const unsigned avx = 1u << 19 | 1u << 12 | 1u << 27 | 1u << 28 | 1u << 29, avx512 = 0xc0030000u;
  const etch::rt::Cpu cpus[] = {
      {0, 0, 0, 0, 0},                            // before SSE4.1
      {1u << 19, 0, 0, 0, 0},                     // Penryn
      {avx, 1u << 5, 0, 0, 0x7},                  // Haswell
      {avx, 1u << 5, 0, 1u << 4, 0x7},            // Alder Lake
      {avx, 1u << 5 | avx512, 1u << 11, 0, 0xe7}, // Cascade Lake
      {avx, 1u << 5 | avx512, 1u << 11, 1u << 4, 0xe7},  // Sapphire Rapids
      {avx, 1u << 5 | avx512, 1u << 11, 1u << 4, 0x7},   // the same, AVX-512 not saved
      {avx, 1u << 5 | avx512, 1u << 11, 1u << 4, 0x3}};  // nor AVX
  for (const auto& cpu : cpus) {
    etch::rt::any_cpu = cpu;
    net::run(net::best_isa(), nullptr, nullptr, nullptr);
    net_run(net_best_isa(), nullptr, nullptr, nullptr);
  }
}
)";
}

TEST_F(MultiTargetFiles, ChooseTheVariantThatTheCpuHas) {
  const Case each = one_convolution();
  const auto program = multi(each);
  ASSERT_NE(program, nullptr);
  EmitOptions options;
  options.name = "net";
  for (const OutputFile& file : emit(*program, options)) {
    const bool is_cpu = file.path == "etch/etch_cpu.h";
    write(file.path, is_cpu ? header_for_any_cpu(file.content) : file.content);
  }
  write("main.cpp", main_for_any_cpu(*program));
  for (const char* compiler : {"g++", "clang++"}) {
    EXPECT_EQ(shell(cat(compiler, " -std=c++17 -Wall -Wextra -Werror net.cc main.cpp -o main && ",
                        "./main")),
              "scalar\nscalar\nsse41\nsse41\navx2\navx2\navx_vnni\navx_vnni\navx512_vnni\n"
              "avx512_vnni\navx512_vnni\navx512_vnni\navx_vnni\navx_vnni\nsse41\nsse41\n");
  }
}

// Asks Linux, which the emulator stands for.
TEST_F(MultiTargetFiles, ChooseTheVariantThatAnArmCpuHas) {
  const std::string missing = cli::status_of(*find_target(kArmMultiTarget)).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  const auto program = compiled(one_convolution(), kArmMultiTarget);
  ASSERT_NE(program, nullptr);
  EmitOptions options;
  options.name = "net";
  for (const OutputFile& file : emit(*program, options)) write(file.path, file.content);
  write("main.cc", variants_with_names(*program) +
                       "int main() { net::run(net::best_isa(), nullptr, nullptr, nullptr); }\n");
  shell("aarch64-linux-gnu-g++ -std=c++17 -Wall -Wextra -Werror -static net.cc main.cc -o main");
  EXPECT_EQ(shell("for cpu in cortex-a53 cortex-a76 max; do qemu-aarch64 -cpu $cpu ./main; done"),
            "aarch64\naarch64-dotprod\naarch64-i8mm\n");
}

std::string main_of_variants(const Program& program) {
  std::string out =
      "#include <cstdio>\n#include <cstring>\n#include \"net.h\"\n"
      "alignas(net::kArenaAlignment) static unsigned char arena[net::kArenaBytes];\n"
      "int main() {\n  static net::Input0 x[net::kInput0Elements];\n"
      "  for (size_t i = 0; i < net::kInput0Elements; ++i)\n"
      "    x[i] = static_cast<net::Input0>(i * i + 3 * i);\n"
      "  static net::Output0 first[net::kOutput0Elements], y[net::kOutput0Elements];\n"
      "  net::run(net::best_isa(), x, first, arena);\n";
  for (const Program& variant : program.variants) {
    if (!target_runs_here(variant.isa.name)) continue;
    std::string macro(variant.isa.name);
    std::ranges::transform(macro, macro.begin(), [](char c) { return std::toupper(c); });
    out += cat("  net_run(NET_ISA_", macro, ", x, y, arena);\n",
               "  if (std::memcmp(first, y, sizeof y) != 0) return 1;\n",
               "  std::memset(y, 0, sizeof y);\n");
  }
  return out + "  std::puts(\"same\");\n}\n";
}

// CMakeLists.txt gives each file its flags, in every layout.
TEST_F(MultiTargetFiles, BuildWithCMake) {
  const auto program = multi(one_convolution());
  ASSERT_NE(program, nullptr);
  write("main.cc", main_of_variants(*program));
  write("CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(app LANGUAGES CXX)\n"
        "add_subdirectory(${NET} net)\nadd_executable(app main.cc)\n"
        "target_link_libraries(app PRIVATE net)\n");
  EmitOptions options;
  options.name = "net";
  for (const FileLayout layout : {FileLayout::kFolder, FileLayout::kSingleFile}) {
    const std::string folder = layout == FileLayout::kFolder ? "folder" : "single";
    options.layout = layout;
    options.weights = layout == FileLayout::kFolder ? WeightsForm::kEmbedded : WeightsForm::kFile;
    for (const OutputFile& file : emit(*program, options)) {
      write(cat(folder, "/", file.path), file.content);
    }
    const std::string build = cat("build_", folder);
    const std::string log = cat(" > ", build, ".log 2>&1");
    EXPECT_EQ(shell(cat("{ cmake -S . -B ", build, " -DNET=", folder,
                        " -DCMAKE_CXX_FLAGS='-O1 -Wall -Wextra -Werror' && cmake --build ", build,
                        "; }", log, " || cat ", build, ".log; ", build, "/app")),
              "same\n");
  }
}

// Without inlining, so that every function is there.
TEST(MultiTarget, NoFunctionOfTheRuntimeIsSharedBetweenFiles) {
  std::vector<Case> all = small_networks(2);
  add_cases(all, other_operators(1));
  add_cases(all, arithmetic_cases(30));
  add_cases(all, map_cases(10));
  add_cases(all, cast_cases(20));
  add_cases(all, float_window_cases(20));
  add_cases(all, quantization_cases(20));
  add_cases(all, select_cases(2));
  add_cases(all, function_cases(35));
  add_cases(all, variadic_cases(9));
  add_cases(all, float_convolutions(10));
  add_cases(all, float_rows(10));
  add_cases(all, normalized_rows(10));
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : all) {
    programs.push_back(compiled(each, "avx2"));
    ASSERT_NE(programs.back(), nullptr);
    entries.push_back({programs.back().get(), &each.inputs});
  }
  // Linkage is the language's, so one compiler says it; both with ETCH_SWEEP.
  std::vector<std::string> compilers = {"clang++"};
  if (std::getenv("ETCH_SWEEP") != nullptr) compilers.emplace_back("g++");
  for (const std::string& compiler : compilers) {
    const auto symbols =
        compile_generated(entries, *find_target("avx2"), compiler, {"-std=c++17", "-O0"});
    ASSERT_TRUE(symbols);
    EXPECT_EQ(symbols->shared, std::vector<std::string>()) << compiler;
  }
}

}  // namespace
}  // namespace etch

// The generated folder: compiled with the strictest flags by both compilers, run, and compared
// with numbers worked out by hand (tests/support/tiny_program.h).
#include "compiler/emit/emit.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "compiler/base/text.h"
#include "compiler/emit/code/literals.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/output_folder.h"
#include "compiler/program/constants.h"
#include "compiler/schedule/memory.h"
#include "templates/isa/avx2/traits.h"
#include "templates/isa/scalar/traits.h"
#include "tests/support/tiny_program.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStrict =
    " -std=c++17 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-align"
    " -Wundef -Wcomment -Wtrigraphs -Werror -fno-exceptions -fno-rtti -ffreestanding";

Program planned_program(const IsaTraits& isa) {
  Program program = testing::tiny_program(isa);
  plan_memory(program);
  return program;
}

const OutputFile& file_named(const std::vector<OutputFile>& files, const std::string& path) {
  for (const OutputFile& file : files) {
    if (file.path == path) return file;
  }
  ADD_FAILURE() << path << " is missing";
  return files.front();
}

class EmittedFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "etch-emit-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path write(const std::vector<OutputFile>& files) {
    Sink sink;
    EXPECT_TRUE(write_output_folder(files, root_ / "net", Overwrite::kOwnFiles, sink));
    return root_ / "net";
  }

  static int shell(const std::string& command) { return std::system(command.c_str()); }

  // Compiles every .cc file with the strict flags, links it with a main() and returns what that
  // prints.
  std::string build_and_run(const fs::path& folder, const std::string& compiler,
                            const std::string& flags, const std::string& main_text) {
    std::string objects;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".cc") continue;
      const std::string object = (root_ / entry.path().stem()).string() + ".o";
      const std::string command = cat("cd ", folder.string(), " && ", compiler, kStrict, flags,
                                      " -c ", entry.path().string(), " -o ", object);
      EXPECT_EQ(shell(command), 0) << command;
      objects += " " + object;
    }
    std::ofstream(root_ / "main.cpp") << main_text;
    const std::string program = (root_ / "program").string();
    const std::string link = cat(compiler, " -std=c++17 -I", folder.string(), " ",
                                 (root_ / "main.cpp").string(), objects, " -o ", program);
    EXPECT_EQ(shell(link), 0) << link;
    EXPECT_EQ(shell(program + " > " + program + ".txt"), 0);
    std::stringstream text;
    text << std::ifstream(program + ".txt").rdbuf();
    return text.str();
  }

  fs::path root_;
};

// Runs the network once through each entry point and prints what came out.
std::string main_calling(const std::string& calls) {
  return cat(R"(#include <cstdio>
#include "tiny.h"
alignas(tiny::kArenaAlignment) static unsigned char arena[tiny::kArenaBytes];
int main() {
  tiny::Input0 x[tiny::kInput0Elements];
  tiny::Output0 y[tiny::kOutput0Elements] = {};
  for (int i = 0; i < 256; ++i) x[i] = static_cast<unsigned char>((i * i + 11 * i) & 255);
  )",
             calls, R"(
  for (tiny::Output0 v : y) std::printf("%d ", static_cast<int>(v));
})");
}

std::string expected_text(const IsaTraits& isa) {
  std::string out;
  for (const int value : testing::expected_output(isa)) out += cat(value, " ");
  return out;
}

EmitOptions tiny_options() {
  EmitOptions options;
  options.name = "tiny";
  return options;
}

TEST_F(EmittedFolder, CompilesStrictlyAndComputesWithBothCompilers) {
  const fs::path folder = write(emit(planned_program(isa::k_scalar), tiny_options()));
  for (const char* compiler : {"g++", "clang++"}) {
    EXPECT_EQ(build_and_run(folder, compiler, "", main_calling("tiny::run(x, y, arena);")),
              expected_text(isa::k_scalar))
        << compiler;
  }
}

TEST_F(EmittedFolder, ComputesTheSameWithVectors) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  const fs::path folder = write(emit(planned_program(isa::k_avx2), tiny_options()));
  EXPECT_EQ(build_and_run(folder, "g++", " -mavx2 -mfma", main_calling("tiny_run(x, y, arena);")),
            expected_text(isa::k_avx2));
}

TEST_F(EmittedFolder, ComputesTheSameAsASingleFileWithWeightsBesideIt) {
  EmitOptions options = tiny_options();
  options.layout = FileLayout::kSingleFile;
  options.weights = WeightsForm::kFile;
  const fs::path folder = write(emit(planned_program(isa::k_scalar), options));
  EXPECT_TRUE(fs::exists(folder / "tiny_weights.bin"));
  EXPECT_FALSE(fs::exists(folder / "etch"));
  for (const char* compiler : {"g++", "clang++"}) {
    EXPECT_EQ(build_and_run(folder, compiler, "", main_calling("tiny::run(x, y, arena);")),
              expected_text(isa::k_scalar))
        << compiler;
  }
}

// As a linker would, with the file at `blob`.
std::string linked_weights(const fs::path& blob) {
  return cat("__asm__(\".section .rodata\\n.balign 64\\n.globl tiny_weights\\n\"\n",
             "        \"tiny_weights: .incbin \\\"", blob.string(), "\\\"\\n.text\\n\");\n");
}

TEST_F(EmittedFolder, ComputesTheSameWithWeightsThatAreLinkedApart) {
  for (const FileLayout layout : {FileLayout::kFolder, FileLayout::kSingleFile}) {
    EmitOptions options = tiny_options();
    options.layout = layout;
    options.weights = WeightsForm::kBinary;
    const fs::path folder = write(emit(planned_program(isa::k_scalar), options));
    std::ofstream(folder / "linked.cc") << linked_weights(folder / "tiny_weights.bin");
    const std::string calls =
        "tiny::run(x, y, arena);\n"
        "  if (tiny::weights_match() != (tiny_weights_match() == 1)) return 1;\n"
        "  if (tiny::kWeightsBytes != TINY_WEIGHTS_BYTES || TINY_WEIGHTS_ALIGNMENT != 4) return "
        "1;\n"
        "  std::printf(tiny::weights_match() ? \"match \" : \"others \");";
    for (const char* compiler : {"g++", "clang++"}) {
      EXPECT_EQ(build_and_run(folder, compiler, "", main_calling(calls)),
                "match " + expected_text(isa::k_scalar))
          << compiler;
    }
    const auto bytes = fs::file_size(folder / "tiny_weights.bin");
    {
      std::fstream blob(folder / "tiny_weights.bin",
                        std::ios::in | std::ios::out | std::ios::binary);
      blob.seekp(31);  // the end of the hash
      const int last = blob.get();
      blob.seekp(31);
      blob.put(static_cast<char>(last ^ 1));
    }
    EXPECT_EQ(fs::file_size(folder / "tiny_weights.bin"), bytes);
    EXPECT_EQ(build_and_run(folder, "g++", "", main_calling(calls)),
              "others " + expected_text(isa::k_scalar));
    fs::remove_all(folder);
  }
}

TEST_F(EmittedFolder, PutsAllConstantsIntoTheSectionThatTheUserNames) {
  for (const WeightsForm weights : {WeightsForm::kEmbedded, WeightsForm::kFile}) {
    EmitOptions options = tiny_options();
    options.weights = weights;
    options.weights_section = ".qspi";
    const fs::path folder = write(emit(planned_program(isa::k_scalar), options));
    for (const char* compiler : {"g++", "clang++"}) {
      EXPECT_EQ(build_and_run(folder, compiler, "", main_calling("tiny::run(x, y, arena);")),
                expected_text(isa::k_scalar));
      // All of the network's constants are there and nowhere else.
      const std::string listing = (root_ / "listing").string();
      EXPECT_EQ(shell(cat("objdump -h ", root_.string(), "/tiny_weights*.o | grep -E ",
                          "'\\.(qspi|rodata)' > ", listing)),
                0);
      std::stringstream text;
      text << std::ifstream(listing).rdbuf();
      EXPECT_NE(text.str().find(".qspi"), std::string::npos);
      EXPECT_EQ(text.str().find(".rodata"), std::string::npos) << text.str();
    }
  }
}

TEST_F(EmittedFolder, RunsStepByStepThroughItsProfileTable) {
  for (const FileLayout layout : {FileLayout::kFolder, FileLayout::kSingleFile}) {
    EmitOptions options = tiny_options();
    options.profile = true;
    options.layout = layout;
    const fs::path folder = write(emit(planned_program(isa::k_scalar), options));
    const std::string text =
        build_and_run(folder, "g++", "", "#include \"tiny_profile.h\"\n" + main_calling(R"(
  const void* const inputs[] = {x};
  void* const outputs[] = {y};
  for (const tiny::profile::Step& step : tiny::profile::kSteps) {
    std::printf("%s ", step.name);
    step.run(inputs, outputs, arena);
  })"));
    EXPECT_EQ(text, "n00_mask n01_sum " + expected_text(isa::k_scalar));
  }
}

TEST_F(EmittedFolder, ServesACProgram) {
  const fs::path folder = write(emit(planned_program(isa::k_scalar), tiny_options()));
  std::ofstream(root_ / "user.c") << R"(#include "tiny.h"
static unsigned char arena[TINY_ARENA_BYTES];
void use(const uint8_t *x, int32_t *y) { tiny_run(x, y, arena); }
float scale(void) { return TINY_INPUT0_SCALE; }
)";
  EXPECT_EQ(shell(cat("gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I",
                      folder.string(), " ", (root_ / "user.c").string())),
            0);
}

TEST_F(EmittedFolder, IsAPartOfAnyCMakeProject) {
  for (const WeightsForm weights : {WeightsForm::kEmbedded, WeightsForm::kFile}) {
    EmitOptions options = tiny_options();
    options.weights = weights;
    write(emit(planned_program(isa::k_scalar), options));
    std::ofstream(root_ / "app.cpp") << main_calling("tiny::run(x, y, arena);");
    std::ofstream(root_ / "CMakeLists.txt")
        << "cmake_minimum_required(VERSION 3.16)\nproject(app LANGUAGES CXX)\n"
           "add_subdirectory(net)\nadd_executable(app app.cpp)\n"
           "target_link_libraries(app PRIVATE etch::tiny)\n";
    const std::string build = (root_ / "build").string();
    ASSERT_EQ(shell(cat("cmake -S ", root_.string(), " -B ", build, " > ", build,
                        ".log && cmake --build ", build, " >> ", build, ".log && ", build,
                        "/app > ", build, ".txt")),
              0);
    std::stringstream text;
    text << std::ifstream(build + ".txt").rdbuf();
    EXPECT_EQ(text.str(), expected_text(isa::k_scalar));
  }
}

TEST_F(EmittedFolder, TwoNetworksLinkIntoOneProgram) {
  EmitOptions second = tiny_options();
  second.name = "other";
  std::vector<OutputFile> files = emit(planned_program(isa::k_scalar), tiny_options());
  for (const OutputFile& file : emit(planned_program(isa::k_scalar), second)) {
    if (file.path.substr(0, 5) == "other") files.push_back(file);
  }
  EXPECT_EQ(build_and_run(write(files), "g++", "",
                          "#include \"other.h\"\n" +
                              main_calling("tiny::run(x, y, arena); other::run(x, y, arena);")),
            expected_text(isa::k_scalar));
}

TEST(Emit, IsDeterministic) {
  const auto first = emit(planned_program(isa::k_avx2), tiny_options());
  const auto second = emit(planned_program(isa::k_avx2), tiny_options());
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].path, second[i].path);
    EXPECT_EQ(first[i].content, second[i].content);
  }
}

TEST(Emit, KeepsTheModelsTextOutOfTheCode) {
  Program program = planned_program(isa::k_scalar);
  program.steps[0]->origin = "Mask 'evil!'";
  program.steps[0]->node_name = "evil!";
  program.inputs[0].name = "evil;";
  program.buffers[1].label = "output of evil";
  for (const OutputFile& file : emit(program, tiny_options())) {
    if (file.path == "report.json" || file.path == "report.html") continue;
    EXPECT_EQ(file.content.find("evil"), std::string::npos) << file.path;
  }
}

TEST(Emit, WritesTheScheduleAsOneCallPerStep) {
  const auto files = emit(planned_program(isa::k_scalar), tiny_options());
  const std::string& text = file_named(files, "tiny.cc").content;
  EXPECT_NE(
      text.find("  // masks 256 bytes\n  n00_mask(input0, at<uint8_t>(arena, n00_mask_y + 64));\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("  n01_sum(at<uint8_t>(arena, n00_mask_y + 64), sums);\n"), std::string::npos)
      << text;
}

// ---- names of the model ----

TEST(Emit, NamesParametersAsTheModelDoesWhereItCan) {
  Program program = planned_program(isa::k_scalar);
  const auto parameters_with = [&](const char* input, const char* output) {
    program.inputs[0].name = input;
    program.outputs[0].name = output;
    return run_parameters(program);
  };
  EXPECT_EQ(parameters_with("image", "scores"),
            "const uint8_t* image, int32_t* scores, void* arena");
  EXPECT_EQ(parameters_with("x", "x"), "const uint8_t* x, int32_t* output0, void* arena");
  EXPECT_EQ(parameters_with("output0", "input0"),
            "const uint8_t* input0, int32_t* output0, void* arena");
  EXPECT_EQ(parameters_with("arena", "n00_mask"),
            "const uint8_t* input0, int32_t* output0, void* arena");
}

TEST(Emit, SaysWhichLayerAFunctionIs) {
  Program program = planned_program(isa::k_scalar);
  program.steps[0]->origin = "Mask 'block1/mask'";
  program.steps[0]->node_name = "block1/mask";
  program.steps[0]->node = 7;
  program.inputs[0].name = "images:0";
  const auto files = emit(program, tiny_options());
  const std::string layer = "// Layer: Mask block1/mask (node 7)\n";
  EXPECT_NE(file_named(files, "tiny_steps_0.cc").content.find("\n" + layer), std::string::npos);
  EXPECT_NE(file_named(files, "tiny.cc").content.find("  " + layer + "  // masks 256 bytes\n"),
            std::string::npos);
  EXPECT_NE(file_named(files, "tiny.h").content.find("char kInput0Name[] = \"images:0\";"),
            std::string::npos);
}

// ---- where it comes from ----

TEST(Emit, RecordsTheCommandThatMakesItAgain) {
  Program program = planned_program(isa::k_scalar);
  program.options = " --target scalar --dim 'N=1'";
  EmitOptions options = tiny_options();
  options.layout = FileLayout::kSingleFile;
  options.weights = WeightsForm::kBinary;
  const std::string command =
      "etch compile MODEL.onnx -o DIR --target scalar --dim 'N=1' --name tiny --single-file "
      "--weights binary";
  const auto files = emit(program, options);
  const std::string& header = file_named(files, "tiny.h").content;
  std::string unwrapped = header;
  for (std::size_t at = 0; (at = unwrapped.find("\n// ", at)) != std::string::npos;)
    unwrapped.replace(at, 4, " ");
  EXPECT_NE(unwrapped.find(command), std::string::npos) << header;
  EXPECT_NE(
      file_named(files, "report.json").content.find(cat("\"command_line\": \"", command, "\"")),
      std::string::npos);
  EXPECT_NE(header.find("char kEtchVersion[] = \"" ETCH_VERSION "\";"), std::string::npos);
}

// ---- the CPU ----

TEST_F(EmittedFolder, RefusesToBeCompiledWithoutWhatItsTargetHas) {
  IsaTraits isa = isa::k_scalar;
  isa.core_macro = "CORE";
  isa.float_macro = "UNIT";
  Program program = planned_program(isa);
  for (const bool floats : {false, true}) {
    program.needs_floats = floats;
    for (const FileLayout layout : {FileLayout::kFolder, FileLayout::kSingleFile}) {
      EmitOptions options = tiny_options();
      options.layout = layout;
      const fs::path folder = write(emit(program, options));
      const auto compiles = [&](const std::string& flags) {
        return shell(cat("g++ -std=c++17 -fsyntax-only ", flags, " ", (folder / "tiny.cc").string(),
                         " 2> ", (root_ / "said").string())) == 0;
      };
      EXPECT_FALSE(compiles(""));
      EXPECT_EQ(compiles("-DCORE"), !floats);
      EXPECT_FALSE(compiles("-DUNIT"));
      EXPECT_TRUE(compiles("-DCORE -DUNIT"));
      EXPECT_TRUE(compiles("-DETCH_ALLOW_PORTABLE"));
      fs::remove_all(folder);
    }
  }
}

// ---- shared libraries ----

TEST_F(EmittedFolder, ASharedLibraryExportsOnlyWhatUsersCall) {
  for (const WeightsForm weights : {WeightsForm::kEmbedded, WeightsForm::kFile}) {
    EmitOptions options = tiny_options();
    options.weights = weights;
    const fs::path folder = write(emit(planned_program(isa::k_scalar), options));
    const std::string build = (root_ / "build").string();
    ASSERT_EQ(shell(cat("cmake -DBUILD_SHARED_LIBS=ON -S ", folder.string(), " -B ", build, " > ",
                        build, ".log && cmake --build ", build, " >> ", build,
                        ".log && nm -D --defined-only -C ", build,
                        "/libtiny.so | cut -c18- | LC_ALL=C sort > ", build, ".txt")),
              0);
    std::stringstream text;
    text << std::ifstream(build + ".txt").rdbuf();
    EXPECT_EQ(text.str(), "T tiny::run(unsigned char const*, int*, void*)\nT tiny_run\n");
    fs::remove_all(build);
  }
}

TEST(Emit, CutsManyStatementsIntoSeveralFiles) {
  Program program = planned_program(isa::k_scalar);
  for (int i = 2; i < 1600; ++i) {
    auto step = testing::mask_step(isa::k_scalar);
    step->name = cat("n", i, "_mask");
    program.steps.push_back(std::move(step));
  }
  const auto files = emit(program, tiny_options());
  EXPECT_NE(file_named(files, "tiny_steps_1.cc").content.find("void n1599_mask("),
            std::string::npos);
}

// ---- literals ----

TEST_F(EmittedFolder, StringLiteralsHoldEveryPairOfBytes) {
  std::vector<std::byte> bytes;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      bytes.push_back(static_cast<std::byte>(a));
      bytes.push_back(static_cast<std::byte>(b));
    }
  }
  std::ofstream(root_ / "pairs.cpp") << "const unsigned char pairs[] =\n"
                                     << string_literal(bytes) << R"(;
int main() {
  for (int i = 0; i < 65536; ++i) {
    if (pairs[2 * i] != i / 256 || pairs[2 * i + 1] != i % 256) return 1;
  }
  return sizeof(pairs) == 131073 ? 0 : 2;
})";
  EXPECT_EQ(shell(cat("cd ", root_.string(), " && g++ -std=c++17 pairs.cpp && ./a.out")), 0);
}

TEST(AssemblyDeathTest, FunctionsOfOneNameHaveOneBody) {
  Program program = planned_program(isa::k_scalar);
  AssemblyFunction function;
  function.name = "dsp_copy_n1";
  function.lines = {"bx lr"};
  for (const auto& step : program.steps) step->assembly.push_back(function);
  EXPECT_EQ(assembly_declarations(program), "void dsp_copy_n1() noexcept;\n");
  program.steps.back()->assembly.front().lines = {"nop", "bx lr"};
  EXPECT_DEATH(assembly_declarations(program), "functions in assembly of one name are equal");
}

}  // namespace
}  // namespace etch

// The image around a network catches what the network must not do, and what the board does not
// have. The networks here are written by hand for Cortex-M0, which is the strictest: run() with one
// int16 input and output of three elements, and some arena.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/host/build.h"
#include "compiler/host/harness.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"

namespace etch::cli {
namespace {

class FirmwareHarness : public testing::Test {
 protected:
  void SetUp() override {
    const IsaTraits& isa = *find_target("cortex-m0");
    const std::string missing = status_of(isa).missing;
    if (!missing.empty()) GTEST_SKIP() << missing;
    toolchain_ = *find_toolchain(isa, reporter_);
  }

  // Builds a network with this body of run(x, y, a).
  bool build(const std::string& body, int arena_bytes = 128) {
    Program program;
    program.inputs = {{"x", "input0", 0, DType::kS16, {3}, false, 1, 0}};
    program.outputs = {{"y", "output0", 0, DType::kS16, {3}, false, 1, 0}};
    write("network.h", cat("#include <stddef.h>\n#include <stdint.h>\nnamespace network {\n"
                           "inline constexpr size_t kArenaBytes = ",
                           arena_bytes,
                           ";\ninline constexpr size_t kArenaAlignment = 64;\n"
                           "void run(const int16_t* x, int16_t* y, void* arena) noexcept;\n}\n"));
    write("network.cc",
          "#include \"network.h\"\n"
          "void network::run(const int16_t* x, int16_t* y, void* arena) noexcept {\n"
          "auto* a = static_cast<unsigned char*>(arena);\n(void)x; (void)y; (void)a;\n" +
              body + "\n}\n");
    for (const OutputFile& file :
         harness_files(program, "network", Timing::kNone, toolchain_.machine)) {
      write(file.path, file.content);
    }
    for (const OutputFile& file : machine_files(*toolchain_.machine)) {
      write(file.path, file.content);
    }
    Toolchain strict = toolchain_;
    strict.flags.insert(strict.flags.end(), {"-Wall", "-Wextra", "-Werror"});
    return build_program(folder_->path(), {"network.cc", "main.cc", "firmware_start.cc"}, "program",
                         strict, reporter_)
        .has_value();
  }

  // Runs it on these three int16 values.
  ProcessResult run(int x0, int x1, int x2) {
    std::string input;
    for (const int x : {x0, x1, x2}) {
      input += {static_cast<char>(x & 255), static_cast<char>((x >> 8) & 255)};
    }
    write("input_0.bin", input);
    return run_process(
        command_to_run(toolchain_, std::filesystem::absolute(folder_->path() / "program"),
                       {"run", "."}),
        std::chrono::seconds(60), folder_->path());
  }

  void write(const std::string& name, const std::string& content) {
    std::ofstream(folder_->path() / name, std::ios::binary) << content;
  }

  std::string output() {
    std::ifstream file(folder_->path() / "output_0.bin", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static std::string said(const ProcessResult& result) { return result.output + result.errors; }

  Reporter reporter_{Verbosity::kQuiet};
  std::unique_ptr<WorkFolder> folder_ = WorkFolder::make({}, reporter_);
  Toolchain toolchain_;
};

TEST_F(FirmwareHarness, CarriesInputsInAndOutputsOutWithLeastAlignmentAndAPattern) {
  ASSERT_TRUE(
      build("y[0] = static_cast<int16_t>(x[0] + x[1] + x[2] + a[0] + a[127]);"
            "y[1] = reinterpret_cast<uintptr_t>(x) % 4 == 2 && reinterpret_cast<uintptr_t>(y) % 4 "
            "== 2 && reinterpret_cast<uintptr_t>(a) % 128 == 64;"));
  const ProcessResult result = run(1, 2, -3);
  ASSERT_TRUE(result.succeeded()) << describe(result) << said(result);
  EXPECT_EQ(output(), std::string("\x4A\1\1\0\xA5\xA5", 6));
}

TEST_F(FirmwareHarness, CatchesWritesOutsideArenaAndOutputsAndToInputs) {
  ASSERT_TRUE(
      build("if (x[0] == 2) { const_cast<int16_t*>(x)[1] = 7; return; }\n"
            "if (x[0] == 1) a[x[1]] = 0; else y[x[1]] = 0;"));
  for (const int inside : {0, 127}) EXPECT_TRUE(run(1, inside, 0).succeeded());
  for (const int outside : {-1, 128}) {
    const ProcessResult result = run(1, outside, 0);
    EXPECT_EQ(result.exit_code, 2) << outside;
    EXPECT_EQ(said(result), "the network wrote outside its arena or an output\n");
  }
  for (const int outside : {-1, 3}) EXPECT_EQ(run(0, outside, 0).exit_code, 2) << outside;
  EXPECT_EQ(said(run(2, 1, 0)), "the network wrote to an input\n");
}

TEST_F(FirmwareHarness, FaultsOnUnalignedWordsAndOnAddressesWithoutMemory) {
  ASSERT_TRUE(
      build("if (x[0] == 0) y[0] = static_cast<int16_t>(*reinterpret_cast<volatile uint32_t*>(a + "
            "x[1]));\n"
            "if (x[0] == 1) *reinterpret_cast<volatile uint32_t*>(uintptr_t{0x70000000}) = 1;"));
  EXPECT_TRUE(run(0, 4, 0).succeeded());
  for (const ProcessResult& result : {run(0, 2, 0), run(1, 0, 0)}) {
    EXPECT_EQ(result.exit_code, 125) << describe(result);
    EXPECT_EQ(said(result).find("fault at 0x0000"), 0U) << said(result);
  }
}

TEST_F(FirmwareHarness, SaysHowMuchRamIsMissing) {
  ASSERT_TRUE(build("y[0] = 1;", 20000000));
  const ProcessResult result = run(0, 0, 0);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(said(result).find(" bytes of RAM are needed for inputs, outputs and arena, of "),
            std::string::npos)
      << said(result);
}

TEST_F(FirmwareHarness, AnImageThatIsLargerThanTheRomIsRefused) {
  testing::internal::CaptureStderr();
  const bool built =
      build("static const volatile unsigned char weights[5000000] = {1}; y[0] = weights[x[0]];");
  const std::string errors = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(built);
  EXPECT_EQ(reporter_.exit_code(), ExitCode::kRefused);
  EXPECT_NE(errors.find("image: error[E-LIMIT]: does not fit the board mps2-an385 with 4194304 "
                        "bytes of ROM and 16777216 bytes of RAM: ROM overflowed by "),
            std::string::npos)
      << errors;
}

}  // namespace
}  // namespace etch::cli

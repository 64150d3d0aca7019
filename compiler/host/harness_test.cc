// The program around a network catches what the network must not do. The networks here are written
// by hand: run() with one int16 input and output of three elements, and 128 bytes of arena.
#include "compiler/host/harness.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "compiler/host/build.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"

namespace etch::cli {
namespace {

class Harness : public testing::Test {
 protected:
  // Builds a network with this body of run(x, y, a).
  void build(const std::string& body) {
    Program program;
    program.inputs = {{"x", "input0", 0, DType::kS16, {3}, false, 1, 0}};
    program.outputs = {{"y", "output0", 0, DType::kS16, {3}, false, 1, 0}};
    write("network.h",
          "#include <stddef.h>\n#include <stdint.h>\nnamespace network {\n"
          "inline constexpr size_t kArenaBytes = 128;\n"
          "inline constexpr size_t kArenaAlignment = 64;\n"
          "void run(const int16_t* x, int16_t* y, void* arena) noexcept;\n}\n");
    write("network.cc",
          "#include \"network.h\"\n"
          "void network::run(const int16_t* x, int16_t* y, void* arena) noexcept {\n"
          "auto* a = static_cast<unsigned char*>(arena);\n(void)x; (void)y; (void)a;\n" +
              body + "\n}\n");
    for (const OutputFile& file : harness_files(program, "network", Timing::kNone)) {
      write(file.path, file.content);
    }
    const Toolchain toolchain{"g++", {"-Wall", "-Wextra", "-Werror"}, {}, {}};
    ASSERT_TRUE(
        build_program(folder_->path(), {"network.cc", "main.cc"}, "program", toolchain, reporter_));
  }

  // Runs it on these three int16 values.
  ProcessResult run(int x0, int x1, int x2) {
    std::string input;
    for (const int x : {x0, x1, x2}) {
      input += {static_cast<char>(x & 255), static_cast<char>((x >> 8) & 255)};
    }
    write("input_0.bin", input);
    return run_process({(folder_->path() / "program").string(), "run", folder_->path().string()},
                       std::chrono::seconds(60));
  }

  void write(const std::string& name, const std::string& content) {
    std::ofstream(folder_->path() / name, std::ios::binary) << content;
  }

  std::string output() {
    std::ifstream file(folder_->path() / "output_0.bin", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Reporter reporter_{Verbosity::kQuiet};
  std::unique_ptr<WorkFolder> folder_ = WorkFolder::make({}, reporter_);
};

TEST_F(Harness, CarriesInputsInAndOutputsOut) {
  build("for (int i = 0; i < 3; ++i) y[i] = x[i] < 3 ? x[i] : -1;");
  const ProcessResult result = run(1, 2, 3);
  ASSERT_TRUE(result.succeeded()) << describe(result) << result.errors;
  EXPECT_EQ(output(), std::string("\1\0\2\0\377\377", 6));
}

TEST_F(Harness, FillsMemoryWithAPattern) {
  build("y[0] = a[0]; y[2] = a[127];");
  const ProcessResult result = run(0, 0, 0);
  ASSERT_TRUE(result.succeeded()) << describe(result) << result.errors;
  EXPECT_EQ(output(), std::string("\xA5\0\xA5\xA5\xA5\0", 6));
}

TEST_F(Harness, GivesNoMoreAlignmentThanPromised) {
  build(
      "y[0] = reinterpret_cast<uintptr_t>(x) % 4 == 2;"
      "y[1] = reinterpret_cast<uintptr_t>(y) % 4 == 2;"
      "y[2] = reinterpret_cast<uintptr_t>(a) % 128 == 64;");
  const ProcessResult result = run(0, 0, 0);
  ASSERT_TRUE(result.succeeded()) << describe(result) << result.errors;
  EXPECT_EQ(output(), std::string("\1\0\1\0\1\0", 6));
}

TEST_F(Harness, CatchesWritesOutsideArenaAndOutputs) {
  build("if (x[0] != 0) a[x[1]] = 0; else y[x[1]] = 0;");
  constexpr char kMessage[] = "the network wrote outside its arena or an output\n";
  for (const int inside : {0, 127}) EXPECT_TRUE(run(1, inside, 0).succeeded());
  for (const int outside : {-1, 128, 2000}) {
    const ProcessResult result = run(1, outside, 0);
    EXPECT_EQ(result.exit_code, 2) << outside;
    EXPECT_EQ(result.errors, kMessage) << outside;
  }
  EXPECT_TRUE(run(0, 2, 0).succeeded());
  for (const int outside : {-1, 3}) EXPECT_EQ(run(0, outside, 0).errors, kMessage);
}

TEST_F(Harness, CatchesWritesToAnInput) {
  build("const_cast<int16_t*>(x)[1] = 7;");
  EXPECT_EQ(run(0, 0, 0).errors, "the network wrote to an input\n");
}

}  // namespace
}  // namespace etch::cli

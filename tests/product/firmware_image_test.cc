// Networks in images of other people: linked beside other networks, called from C, built with no
// flags but the CPU's, their weights in a section or a file of their own. All run in the emulator
// of a Cortex-M4 and compute what the references do. Also what no image may hold, and how much
// stack the code uses, on every firmware target; networks beside the project in ../shared/models
// take part if they are there.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "compiler/emit/emit.h"
#include "compiler/host/elf_file.h"
#include "compiler/host/harness.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/engines.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

using cli::Network;
using cli::ProcessResult;
using cli::Reporter;
using cli::Timing;
using cli::Verbosity;

const fs::path kSource = source_dir();
const fs::path kDigits = kSource / "examples/digits/model.onnx";

Case digits() { return case_of_file(kDigits); }

const IsaTraits& cortex_m4() { return *find_target("cortex-m4"); }

// One image for the board of a Cortex-M4, made by hand as a user would.
class FirmwareImage : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = cli::status_of(cortex_m4()).missing;
    if (!missing.empty()) GTEST_SKIP() << missing;
    toolchain_ = *cli::find_toolchain(cortex_m4(), reporter_);
    for (const OutputFile& file : cli::machine_files(*toolchain_.machine)) write(file);
    compile("firmware_start.cc", our_flags());
  }

  fs::path path(const std::string& name) const { return fs::absolute(folder_->path()) / name; }
  void write(const OutputFile& file) const {
    fs::create_directories(path(file.path).parent_path());
    std::ofstream(path(file.path), std::ios::binary) << file.content;
  }

  std::vector<std::string> our_flags() const {
    std::vector<std::string> out = {"-std=c++17"};
    out.insert(out.end(), toolchain_.flags.begin(), toolchain_.flags.end());
    return out;
  }
  // What any image for the CPU is compiled with, and nothing else.
  std::vector<std::string> cpu_flags() const {
    std::istringstream words{std::string(toolchain_.machine->flags)};
    return {std::istream_iterator<std::string>(words), {}};
  }

  ProcessResult run_tool(const std::vector<std::string>& command) const {
    ProcessResult result = cli::run_process(command, std::chrono::minutes(5), folder_->path());
    EXPECT_TRUE(result.succeeded()) << command.front() << ": " << cli::describe(result) << "\n"
                                    << result.output << result.errors;
    return result;
  }

  // The language is the file's.
  void compile(const std::string& source, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {toolchain_.compiler, "-O2", "-Wall", "-Wextra", "-Werror"});
    flags.insert(flags.end(), {"-c", source, "-o", source + ".o"});
    run_tool(flags);
    objects_.push_back(source + ".o");
  }

  // Writes and compiles the generated code below `folder`. Keep the program for run().
  void add_network(const Program& program, const EmitOptions& options, const std::string& folder,
                   const std::vector<std::string>& flags) {
    const std::vector<OutputFile> files = emit(program, options);
    for (const OutputFile& file : files) write({cat(folder, "/", file.path), file.content});
    for (const OutputFile& file : files) {
      if (fs::path(file.path).extension() == ".cc") compile(cat(folder, "/", file.path), flags);
    }
  }

  // The main() of `etch check`, for one network.
  void add_harness(const Program& program, const std::string& name) {
    for (const OutputFile& file :
         cli::harness_files(program, name, Timing::kNone, toolchain_.machine)) {
      write(file);
    }
    std::vector<std::string> flags = our_flags();
    flags.push_back("-I" + path("net").string());
    compile("main.cc", flags);
  }

  // With the driver for C: no library of C++ is there.
  void link(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {toolchain_.compiler};
    command.insert(command.end(), toolchain_.flags.begin(), toolchain_.flags.end());
    command.insert(command.end(), objects_.begin(), objects_.end());
    command.insert(command.end(), more.begin(), more.end());
    command.insert(command.end(), toolchain_.link_flags.begin(), toolchain_.link_flags.end());
    command.insert(command.end(), {"-o", "program"});
    run_tool(command);
  }

  // Runs the image on the inputs, with these arguments for the emulator besides.
  ProcessResult run(const std::vector<Tensor>& inputs, const std::string& folder = "sample",
                    const std::vector<std::string>& emulator_arguments = {}) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto bytes = inputs[i].bytes();
      write({cat(folder, "/input_", i, ".bin"),
             std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
    }
    cli::Toolchain emulator = toolchain_;
    emulator.runner.insert(emulator.runner.begin() + 1, emulator_arguments.begin(),
                           emulator_arguments.end());
    return cli::run_process(cli::command_to_run(emulator, path("program"), {"run", folder}),
                            std::chrono::minutes(2), folder_->path());
  }

  // Bytes of the outputs that an image wrote, and of what it should have written.
  std::string outputs(std::size_t count, const std::string& folder = "sample") const {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) {
      out += contents_of(path(cat(folder, "/output_", i, ".bin")));
    }
    return out;
  }
  static std::string expected(const Case& each) {
    std::string out;
    for (const Tensor& tensor : reference_outputs(each)) {
      const auto bytes = tensor.bytes();
      out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return out;
  }

  void expect_exact(const Case& each, const ProcessResult& result,
                    const std::string& folder = "sample") const {
    ASSERT_TRUE(result.succeeded()) << cli::describe(result) << result.output << result.errors;
    const std::string right = expected(each);
    EXPECT_FALSE(right.empty());
    EXPECT_EQ(outputs(reference_outputs(each).size(), folder), right) << each.name;
  }

  std::uint64_t address_of(std::string_view symbol) const {
    const std::string bytes = contents_of(path("program"));
    for (const cli::ElfSymbol& each : cli::read_elf(bytes).symbols) {
      if (each.name == symbol) return each.value;
    }
    ADD_FAILURE() << symbol;
    return 0;
  }

  Reporter reporter_{Verbosity::kQuiet};
  std::unique_ptr<cli::WorkFolder> folder_ = cli::WorkFolder::make({}, reporter_);
  cli::Toolchain toolchain_;
  std::vector<std::string> objects_;
};

EmitOptions named(const std::string& name) {
  EmitOptions options;
  options.name = name;
  return options;
}

// ---- built by others ----

TEST_F(FirmwareImage, HoldsTwoNetworksBuiltWithNoFlagsButTheCpus) {
  const std::vector<Case> cases = {digits(), small_networks(1).front()};
  const char* const names[] = {"first", "second"};
  std::string includes = "#include \"firmware_harness.h\"\n";
  std::string calls;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto program = compiled(cases[i], "cortex-m4", RequantizeMode::kAuto);
    ASSERT_NE(program, nullptr);
    add_network(*program, named(names[i]), names[i], cpu_flags());  // with headers of its own
    includes += cat("#include \"", names[i], "/", names[i], ".h\"\n");
    std::string call = cli::threaded_call(*program, names[i]);
    call.resize(call.size() - 2);  // ", "
    const auto ports = [](const std::vector<Port>& all) {
      std::string out;
      for (const Port& port : all) {
        const int element = bytes_of(port.dtype);
        out += cat("{", element_count(port.shape) * element, "U, ", element, "U}, ");
      }
      return out;
    };
    calls += cat("  if (arguments.folder[0] == '", names[i][0], "') {\n",
                 "    static const harness::Port in[] = {", ports(program->inputs), "};\n",
                 "    static const harness::Port out[] = {", ports(program->outputs), "};\n",
                 "    const auto run = [](const void* const* inputs, void* const* outputs, void* "
                 "arena) {\n      ",
                 call, ");\n    };\n    return harness::run({in, ", program->inputs.size(),
                 ", out, ", program->outputs.size(), ", ", names[i], "::kArenaBytes, ", names[i],
                 "::kArenaAlignment, run}, arguments.folder);\n  }\n");
  }
  write({"main.cc", cat(includes, "int main() {\n  const harness::Arguments arguments;\n", calls,
                        "  return 1;\n}\n")});
  for (const char* name : {"firmware_harness.h", "harness_network.h"}) {
    write(cli::harness_file(name));
  }
  compile("main.cc", our_flags());
  link();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    expect_exact(cases[i], run(cases[i].inputs, names[i]), names[i]);
  }
}

TEST_F(FirmwareImage, IsCalledFromC) {
  const Case each = digits();
  const auto program = compiled(each, "cortex-m4", RequantizeMode::kAuto);
  add_network(*program, named("digits"), "net", cpu_flags());
  write({"user.c", R"(#include "digits.h"
static unsigned char arena[DIGITS_ARENA_BYTES] __attribute__((aligned(DIGITS_ARENA_ALIGNMENT)));
_Static_assert(DIGITS_INPUT0_BYTES == 4 * DIGITS_INPUT0_ELEMENTS, "float");
_Static_assert(DIGITS_OUTPUT0_BYTES == 4 * DIGITS_OUTPUT0_ELEMENTS, "float");
_Static_assert(DIGITS_FLASH_BYTES > 0 && DIGITS_OUTPUT_FORMAT > 0, "facts");
void use_digits(const float *x, float *y);
void use_digits(const float *x, float *y) { digits_run(x, y, arena); }
)"});
  std::vector<std::string> c_flags = cpu_flags();
  c_flags.insert(c_flags.end(), {"-std=c11", "-Wpedantic", "-I" + path("net").string()});
  compile("user.c", c_flags);
  // The harness calls the C function instead of the network.
  write({"net/shim.h",
         "#include \"digits.h\"\nextern \"C\" void use_digits(const float*, float*);\n"
         "namespace shim { using namespace digits;\n"
         "inline void run(const float* x, float* y, void*) { use_digits(x, y); } }\n"});
  add_harness(*program, "shim");
  link();
  expect_exact(each, run(each.inputs));
}

// The harness gives what a state begins with; without those lines it is what reset() has written.
TEST_F(FirmwareImage, BeginsWithWhatResetWrites) {
  ModelBuilder model;
  model.input("x", DType::kF32, {4}).input("h", DType::kF32, {4});
  model.initializer("h", Tensor::of<float>({4}, {1, -2, 300, 0.5F}));
  model.node("Add", {"x", "h"}, {"h_out"}).output("h_out");
  CompileOptions options;
  options.target = "cortex-m4";
  options.states = {{"h_out", "h"}};
  Sink sink;
  const auto program = etch::compile(model.bytes(), options, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  add_network(*program, named("stream"), "net", cpu_flags());
  for (OutputFile& file :
       cli::harness_files(*program, "stream", Timing::kNone, toolchain_.machine)) {
    const std::size_t copy = file.content.find("memcpy(state.bytes");
    if (copy != std::string::npos) file.content.insert(copy, "// ");
    write(file);
  }
  std::vector<std::string> flags = our_flags();
  flags.push_back("-I" + path("net").string());
  compile("main.cc", flags);
  link();
  const ProcessResult result =
      run({Tensor::of<float>({4}, {10, 20, 30, 40}), Tensor(DType::kF32, {4})});
  ASSERT_TRUE(result.succeeded()) << cli::describe(result) << result.output << result.errors;
  const Tensor expected = Tensor::of<float>({4}, {11, 18, 330, 40.5F});
  EXPECT_EQ(outputs(1), std::string(reinterpret_cast<const char*>(expected.bytes().data()), 16));
}

// ---- weights elsewhere ----

// The first block of the manual in this language that has `word` in it: the tests here run what the
// manual shows.
std::string example_in_manual(const std::string& language, const std::string& word) {
  const std::string text = contents_of(kSource / "docs/firmware.md");
  const std::string start = cat("```", language, "\n");
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    at += start.size();
    std::string block = text.substr(at, text.find("```", at) - at);
    if (block.find(word) != std::string::npos) return block;
  }
  ADD_FAILURE() << "no example of " << word;
  return {};
}

TEST_F(FirmwareImage, HasItsWeightsInTheSectionThatTheUserNames) {
  const Case each = digits();
  const auto program = compiled(each, "cortex-m4", RequantizeMode::kAuto);
  EmitOptions options = named("digits");
  options.weights_section = ".ext_flash";
  for (const WeightsForm form : {WeightsForm::kEmbedded, WeightsForm::kFile}) {
    objects_.resize(1);  // the start-up
    options.weights = form;
    std::vector<std::string> flags = cpu_flags();
    flags.push_back("-DDIGITS_WEIGHTS_FILE=\"" + path("net/digits_weights.bin").string() + "\"");
    add_network(*program, options, "net", flags);
    add_harness(*program, "digits");
    write({"section.ld", example_in_manual("ld", ".ext_flash")});
    link({"-T", "section.ld"});
    expect_exact(each, run(each.inputs));
    int arrays = 0;
    const std::string bytes = contents_of(path("program"));
    for (const cli::ElfSymbol& symbol : cli::read_elf(bytes).symbols) {
      const bool constant = symbol.name.starts_with("_ZN6digits5steps") && !symbol.is_function;
      if (!constant || symbol.size == 0) continue;
      ++arrays;
      EXPECT_EQ(symbol.value >> 24, 0x21U) << symbol.name;
    }
    // In the other form the assembler names most of them, and gives them no size.
    if (form == WeightsForm::kEmbedded) {
      EXPECT_GT(arrays, 0);
    }
  }
}

TEST_F(FirmwareImage, TakesItsWeightsFromAFileThatIsProgrammedByItself) {
  const Case each = digits();
  const auto program = compiled(each, "cortex-m4", RequantizeMode::kAuto);
  EmitOptions options = named("digits");
  options.weights = WeightsForm::kBinary;
  add_network(*program, options, "net", cpu_flags());
  add_harness(*program, "digits");
  link({"-Wl,--defsym=digits_weights=0x21000000"});
  EXPECT_EQ(address_of("digits_weights"), 0x21000000U);
  const std::vector<std::string> loader = {
      "-device", cat("loader,file=", path("net/digits_weights.bin").string(),
                     ",addr=0x21000000,force-raw=on")};
  expect_exact(each, run(each.inputs, "sample", loader));
  // Without the file there is nothing but zeros.
  EXPECT_TRUE(run(each.inputs, "empty").succeeded());
  EXPECT_NE(outputs(1, "empty"), expected(each));
}

TEST_F(FirmwareImage, LinksAFileOfWeightsWhereTheScriptOfTheManualSays) {
  const Case each = digits();
  const auto program = compiled(each, "cortex-m4", RequantizeMode::kAuto);
  EmitOptions options = named("digits");
  options.weights = WeightsForm::kBinary;
  add_network(*program, options, "net", cpu_flags());
  add_harness(*program, "digits");
  fs::copy_file(path("net/digits_weights.bin"), path("digits_weights.bin"));
  const std::string commands = example_in_manual("sh", "objcopy");
  run_tool({"sh", "-ec", commands});
  write({"weights.ld", example_in_manual("ld", "digits_weights")});
  objects_.push_back("digits_weights.o");
  link({"-T", "weights.ld"});
  expect_exact(each, run(each.inputs));
  EXPECT_EQ(address_of("digits_weights") % 64, 0U);
}

}  // namespace
}  // namespace etch

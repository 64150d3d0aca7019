// The program `etch` from outside: exit codes, messages, files, and that nothing is left behind.
#include "tests/support/cli.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "compiler/host/process.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

extern char** environ;

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
}

TEST_F(Cli, PrintsItsVersion) {
  const ProcessResult result = etch({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "etch " ETCH_VERSION "\n");
}

TEST_F(Cli, OutputThatDoesNotArriveIsExitCode3) {
  for (const std::string redirection : {">/dev/full", ">&-"}) {
    const ProcessResult result = run_process(
        {"sh", "-c", "exec \"$0\" inspect \"$1\" -q " + redirection, etch_binary(), kDigits},
        std::chrono::minutes(1));
    EXPECT_EQ(result.exit_code, 3) << redirection;
    EXPECT_EQ(result.errors, "standard output: error[E-IO]: cannot be written\n");
  }
}

// A closed standard output must not be a number that the first file that is written gets.
TEST_F(Cli, ClosedDescriptorsDoNotBecomeFiles) {
  const ProcessResult result =
      run_process({"sh", "-c", "exec \"$0\" compile \"$1\" -o \"$2\" -t scalar <&- >&- 2>&-",
                   etch_binary(), kDigits, path("out")},
                  std::chrono::minutes(1));
  EXPECT_EQ(result.exit_code, 3);  // the summary is lost
  ASSERT_EQ(etch({"-q", "compile", kDigits, "-o", path("again"), "-t", "scalar"}).exit_code, 0);
  for (const auto& entry : fs::recursive_directory_iterator(path("again"))) {
    if (!entry.is_regular_file()) continue;
    const fs::path name = entry.path().lexically_relative(path("again"));
    EXPECT_EQ(contents(entry.path()), contents(path("out") / name)) << name;
  }
}

TEST_F(Cli, HelpNamesEveryCommandAndExitCode) {
  const ProcessResult result = etch({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* word : {"compile", "check", "run", "bench", "inspect", "targets", "--quiet",
                           "Examples:", "2 model refused", "4 outputs differ"}) {
    EXPECT_NE(result.output.find(word), std::string::npos) << word;
  }
}

TEST_F(Cli, HelpOfEveryCommandEndsWithAnExample) {
  for (const std::string command : {"compile", "check", "run", "bench", "inspect"}) {
    const ProcessResult result = etch({command, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(last_line(result.output).rfind("  etch " + command + " ", 0), 0U) << result.output;
  }
}

TEST_F(Cli, WrongUsageIsExitCode1WithOneLineAboutIt) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"comple"},
      {"compile"},
      {"compile", kDigits},
      {"compile", kDigits, "-o"},
      {"compile", kDigits, "-o", path("x"), "--target", "z80"},
      {"compile", kDigits, "-o", path("x"), "--name", "int"},
      {"compile", kDigits, "-o", path("x"), "--name", "a-b"},
      {"compile", kDigits, "-o", path("x"), "--weights", "paper"},
      {"compile", kDigits, "-o", path("x"), "--requantize", "maybe"},
      {"compile", kDigits, "-o", path("x"), "--strict-integer"},
      {"compile", kDigits, "-o", path("x"), "--qdq", "both"},
      {"compile", kDigits, "-o", path("x"), "--frobnicate"},
      {"check", kDigits, "--dim", "N"},
      {"check", kDigits, "--input-shape", "x=1,-1"},
      {"check", kDigits, "--max-lsb", "-1"},
      {"bench", kDigits, "--seconds", "soon"},
      {"run", kDigits},
      {"targets", "all"},
  };
  for (const std::vector<std::string>& arguments : wrong) {
    const ProcessResult result = etch(arguments);
    EXPECT_EQ(result.exit_code, 1) << testing::PrintToString(arguments);
    EXPECT_EQ(lines(result.errors), 1) << result.errors;
    EXPECT_EQ(result.errors.rfind("etch: ", 0), 0U) << result.errors;
    EXPECT_EQ(result.output, "");
  }
  EXPECT_FALSE(fs::exists(path("x")));
}

TEST_F(Cli, AModelThatCannotBeReadIsExitCode3) {
  for (const std::string& model : {path("missing.onnx"), folder_.string()}) {
    for (const std::string command : {"check", "bench", "inspect"}) {
      const ProcessResult result = etch({command, model});
      EXPECT_EQ(result.exit_code, 3) << command;
      EXPECT_EQ(result.errors.rfind(model + ": error[E-IO]: ", 0), 0U) << result.errors;
      EXPECT_EQ(lines(result.errors), 1);
    }
  }
}

TEST_F(Cli, AFolderIsItsModelIfItHasOne) {
  fs::create_directories(folder_ / "net");
  const std::string folder = (folder_ / "net").string();
  const ProcessResult without = etch({"inspect", folder});
  EXPECT_EQ(without.exit_code, 3);
  EXPECT_EQ(without.errors, folder + ": error[E-IO]: is a folder without model.onnx\n");
  fs::copy_file(kDigits, folder_ / "net/model.onnx");
  EXPECT_EQ(etch({"inspect", folder}).output, etch({"inspect", folder + "/model.onnx"}).output);
}

TEST_F(Cli, ARefusedModelIsExitCode2AndWritesNothing) {
  const std::string model = write("broken.onnx", "this is no model");
  const ProcessResult result = etch({"compile", model, "-o", path("out")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors.rfind(model + ": error[E-PARSE]: ", 0), 0U) << result.errors;
  EXPECT_EQ(result.output, "");
  EXPECT_FALSE(fs::exists(path("out")));
  EXPECT_EQ(etch({"inspect", model}).exit_code, 2);
  EXPECT_EQ(etch({"check", model}).exit_code, 2);
}

TEST_F(Cli, AFileNameCannotBreakTheLine) {
  const ProcessResult result = etch({"inspect", path("a\nb\x1b[31m")});
  EXPECT_EQ(lines(result.errors), 1);
  EXPECT_NE(result.errors.find("a\\x0ab\\x1b[31m"), std::string::npos) << result.errors;
}

TEST_F(Cli, CompileWritesAFolderAndSaysWhatIsInIt) {
  const ProcessResult result =
      etch({"compile", kDigits, "-o", path("out"), "--name", "digits", "--target", "scalar"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  for (const char* name :
       {"digits.h", "digits.cc", "CMakeLists.txt", "report.json", "report.html"}) {
    EXPECT_TRUE(fs::is_regular_file(folder_ / "out" / name)) << name;
    EXPECT_NE(result.output.find(name), std::string::npos) << name;
  }
  EXPECT_NE(result.output.find("digits for scalar"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("bytes of RAM"), std::string::npos);
}

TEST_F(Cli, CompileNamesTheNetworkAfterItsFile) {
  fs::copy_file(kDigits, folder_ / "my-digits.onnx");
  const ProcessResult result = etch({"compile", path("my-digits.onnx"), "-o", path("out"), "-q"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
  EXPECT_TRUE(fs::exists(folder_ / "out" / "my_digits.h"));
}

TEST_F(Cli, CompileCountsTheFormulasOfIntegerRequantization) {
  const ProcessResult result = etch(
      {"compile", kDigits, "-o", path("out"), "--target", "scalar", "--requantize", "integer"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("122 channels"), std::string::npos) << result.output;
  const auto report = nlohmann::json::parse(contents(folder_ / "out" / "report.json"));
  EXPECT_EQ(report["requantize"], "integer");
  const auto& counts = report["requantization"];
  EXPECT_EQ(counts["multiply_shift"].get<int>() + counts["exceptions"].get<int>(), 122);
  EXPECT_EQ(counts["emulation"], 0);
}

TEST_F(Cli, StrictIntegerNamesTheNodesThatUseFloats) {
  const ProcessResult result = etch({"compile", kDigits, "-o", path("out"), "--target", "scalar",
                                     "--requantize", "integer", "--strict-integer"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("'pointwise + residual' (QLinearConvAdd): is computed with floats"),
            std::string::npos)
      << result.errors;
}

TEST_F(Cli, CheckPassesWithIntegerRequantization) {
  const ProcessResult result =
      etch({"check", kDigits, "--target", "scalar", "--requantize", "integer"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST_F(Cli, CompilePutsWeightsWhereTheUserSays) {
  const ProcessResult section = etch(
      {"compile", kDigits, "-o", path("a"), "--name", "net", "--weights-section", ".ext_flash"});
  EXPECT_EQ(section.exit_code, 0) << section.errors;
  std::ifstream file(folder_ / "a/net_weights_0.cc");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("#define NET_WEIGHTS_ATTRIBUTE __attribute__((section(\".ext_flash\")))\n"),
            std::string::npos);
  const ProcessResult binary =
      etch({"compile", kDigits, "-o", path("b"), "--name", "net", "--weights", "binary"});
  EXPECT_EQ(binary.exit_code, 0) << binary.errors;
  EXPECT_TRUE(fs::exists(folder_ / "b/net_weights.bin"));
  EXPECT_FALSE(fs::exists(folder_ / "b/net_weights_0.cc"));
}

TEST_F(Cli, CompileRefusesPlacesForWeightsThatCannotBe) {
  const auto refused = [&](std::vector<std::string> more, const std::string& why) {
    more.insert(more.begin(), {"compile", kDigits, "-o", path("out")});
    const ProcessResult result = etch(more);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.errors.find(why), std::string::npos) << result.errors;
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  };
  refused({"--weights-section", ".a\")))"}, "cannot be a section");
  refused({"--weights", "binary", "--target", "x86-64-multi"},
          "--weights binary is for one target");
  refused({"--weights", "binary", "--weights-section", ".x"}, "the linker places the file");
}

TEST_F(Cli, CompileCannotWriteBelowAFile) {
  const std::string file = write("file", "");
  const ProcessResult result = etch({"compile", kDigits, "-o", file + "/out"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("error[E-IO]"), std::string::npos) << result.errors;
}

TEST_F(Cli, CompileReplacesForeignFilesOnlyByForce) {
  fs::create_directory(folder_ / "out");
  write("out/precious.txt", "mine");
  EXPECT_EQ(etch({"compile", kDigits, "-o", path("out")}).exit_code, 3);
  EXPECT_EQ(contents(folder_ / "out/precious.txt"), "mine");
  EXPECT_EQ(etch({"compile", kDigits, "-o", path("out"), "--force"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "out/model.h"));
}

TEST_F(Cli, CheckPassesOnTheBundledNetwork) {
  const ProcessResult result = etch({"check", kDigits, "--target", "scalar"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(lines(result.output), 6) << result.output;  // five data sets and the verdict
  EXPECT_NE(result.output.find("test_data_set_4 output_0: exact\n"), std::string::npos);
  EXPECT_EQ(last_line(result.output).rfind("etch check: PASS", 0), 0U) << result.output;
}

TEST_F(Cli, CheckFailsWhenAnOutputDiffers) {
  // The golden of another picture.
  const fs::path examples = fs::path(kDigits).parent_path();
  fs::create_directory(folder_ / "data");
  fs::copy_file(examples / "test_data_set_0/input_0.pb", folder_ / "data/input_0.pb");
  fs::copy_file(examples / "test_data_set_1/output_0.pb", folder_ / "data/output_0.pb");
  const ProcessResult result =
      etch({"check", kDigits, "--target", "scalar", "--data", path("data"), "--max-lsb", "255"});
  EXPECT_EQ(result.exit_code, 4) << result.errors;
  EXPECT_NE(result.output.find("data output_0: "), std::string::npos);
  EXPECT_NE(result.output.find(" of 10 differ, max "), std::string::npos) << result.output;
  EXPECT_EQ(last_line(result.output).rfind("etch check: FAIL", 0), 0U) << result.output;
}

TEST_F(Cli, CheckNeedsTestData) {
  fs::copy_file(kDigits, folder_ / "lonely.onnx");
  const ProcessResult result = etch({"check", path("lonely.onnx")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("no test_data_set_*"), std::string::npos) << result.errors;
}

TEST_F(Cli, CheckRefusesDataOfAnotherShape) {
  const std::string output =
      (fs::path(kDigits).parent_path() / "test_data_set_0/output_0.pb").string();
  fs::create_directory(folder_ / "data");
  fs::copy_file(output, folder_ / "data/input_0.pb");
  const ProcessResult result = etch({"check", kDigits, "--data", path("data")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("data/input_0.pb: error[E-IO]: holds float32[1, 10], but input"),
            std::string::npos)
      << result.errors;
}

TEST_F(Cli, RunWritesTheOutputs) {
  const fs::path data = fs::path(kDigits).parent_path() / "test_data_set_0";
  const ProcessResult result =
      etch({"run", kDigits, "--target", "scalar", "--data", data.string(), "-o", path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  // What was written is what check accepts as golden.
  fs::copy_file(data / "input_0.pb", folder_ / "out/input_0.pb");
  EXPECT_EQ(etch({"check", kDigits, "--target", "avx2", "--data", path("out")}).exit_code, 0);
}

TEST_F(Cli, BenchPrintsJsonWithEveryKey) {
  const ProcessResult result =
      etch({"bench", kDigits, "--target", "scalar", "--json", "--seconds", "0.2"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto report = nlohmann::json::parse(result.output);
  EXPECT_EQ(report["target"], "scalar");
  for (const char* key :
       {"median_us", "min_us", "macs", "arena_bytes", "weight_bytes", "code_bytes"}) {
    EXPECT_GT(report[key].get<double>(), 0) << key;
  }
  EXPECT_GE(report["median_us"].get<double>(), report["min_us"].get<double>());
  ASSERT_FALSE(report["layers"].empty());
  std::int64_t macs = 0;
  for (const auto& layer : report["layers"]) {
    EXPECT_GE(layer["median_us"].get<double>(), layer["min_us"].get<double>());
    EXPECT_GT(layer["code_bytes"].get<int>(), 0) << layer["name"];
    macs += layer["macs"].get<std::int64_t>();
  }
  EXPECT_EQ(report["macs"].get<std::int64_t>(), macs);
}

TEST_F(Cli, BenchWritesAReportWithTimes) {
  const std::vector<std::string> bench = {"bench",     kDigits, "--target", "scalar",
                                          "--seconds", "0.1",   "--report"};
  const auto bench_to = [&](const char* name) {
    std::vector<std::string> arguments = bench;
    arguments.push_back(path(name));
    return etch(arguments).exit_code;
  };
  EXPECT_EQ(bench_to("times.html"), 0);
  const std::string page = contents(folder_ / "times.html");
  EXPECT_EQ(page.substr(0, 15), "<!DOCTYPE html>");
  EXPECT_NE(page.find("GMAC/s"), std::string::npos);
  EXPECT_EQ(bench_to("times.json"), 0);
  const auto report = nlohmann::json::parse(contents(folder_ / "times.json"));
  EXPECT_GT(report["steps"][0]["median_us"].get<double>(), 0);
  EXPECT_GT(report["code_bytes"].get<int>(), 0);
  EXPECT_EQ(bench_to("no/such/folder.html"), 3);
}

TEST_F(Cli, InspectOpensWithASummaryAndListsNoGraphUnlessAsked) {
  const std::string summary = etch({"inspect", kDigits, "--target", "scalar"}).output;
  EXPECT_EQ(summary.rfind("compiles      yes\nwork          105,216 MACs\narena ", 0), 0U)
      << summary;
  EXPECT_NE(summary.find("\n              all multiplications are of integers\n"),
            std::string::npos)
      << summary;
  EXPECT_NE(summary.find("\tConv became QLinearConv"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("graph before the passes"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("graph after the passes"), std::string::npos) << summary;
}

TEST_F(Cli, InspectListsTheGraphBeforeAndAfterThePasses) {
  const std::string both = etch({"inspect", kDigits, "--graph"}).output;
  EXPECT_NE(both.find("graph before the passes"), std::string::npos) << both;
  EXPECT_NE(both.find("graph after the passes"), std::string::npos);
  EXPECT_NE(both.find("\tConv became QLinearConv"), std::string::npos);
  const std::string before = etch({"inspect", kDigits, "--before"}).output;
  EXPECT_EQ(before.find("graph after the passes"), std::string::npos);
  const std::string after = etch({"inspect", kDigits, "--after"}).output;
  EXPECT_EQ(after.find("graph before the passes"), std::string::npos);
  EXPECT_LT(before.size(), both.size());
  EXPECT_LT(after.size(), both.size());
}

TEST_F(Cli, InspectDescribesTheModel) {
  const ProcessResult result = etch({"inspect", kDigits, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto report = nlohmann::json::parse(result.output);
  EXPECT_EQ(report["supported"], true);
  EXPECT_EQ(report["inputs"][0]["dtype"], "float32");
  EXPECT_EQ(report["quantization"]["formats"], nlohmann::json({"QDQ"}));
  EXPECT_GT(report["operators"]["Conv"].get<int>(), 0);
  EXPECT_EQ(report["operators"]["Conv"], 4);
  EXPECT_EQ(report["operators_after"]["QLinearConv"], 3);
  EXPECT_EQ(report["operators_after"]["org.etch.QLinearConvAdd"], 1);
  EXPECT_EQ(report["graph"]["before"].size(), report["nodes"].get<std::size_t>());
  EXPECT_LT(report["graph"]["after"].size(), report["graph"]["before"].size());
  EXPECT_FALSE(report["fusions"].empty());
  EXPECT_GT(report["macs"].get<std::int64_t>(), 0);
}

// QONNX's files do not import its domains.
TEST_F(Cli, InspectDescribesAModelOfADomainThatItDoesNotImport) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).initializer("scale", Tensor::of<float>({}, {1}));
  model.node("BipolarQuant", {"x", "scale"}, {"y"}, {}, "onnx.brevitas").output("y");
  write("model.onnx", model.bytes());
  const std::string file = (folder_ / "model.onnx").string();
  const ProcessResult summary = etch({"inspect", file});
  EXPECT_EQ(summary.exit_code, 0) << summary.errors;
  EXPECT_NE(summary.output.find("\nfile          IR 8\n"), std::string::npos) << summary.output;
  const auto report = nlohmann::json::parse(etch({"inspect", file, "--json"}).output);
  EXPECT_EQ(report["opsets"], nlohmann::json::object());
}

TEST_F(Cli, TargetsListsThePortableOne) {
  const ProcessResult result = etch({"targets"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("scalar           portable C++"), std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("<- native"), std::string::npos);
}

TEST_F(Cli, AnUnusableTemporaryFolderIsExitCode3) {
  setenv("TMPDIR", "/no/such/folder", 1);
  EXPECT_EQ(etch({"check", kDigits}).exit_code, 3);
}

// Starts etch with a compiler that never ends and has a temporary file, as g++ has, interrupts it
// there, and looks for what is left.
TEST_F(Cli, InterruptionRemovesTheTemporaryFolder) {
  const std::string compiler = write(
      "compiler", "#!/bin/sh\ntrap 'rm $TMPDIR/cc.s; exit 1' TERM\n: >$TMPDIR/cc.s\necho $$ >" +
                      path("started") + "\nsleep 600 &\nwait\n");
  fs::permissions(compiler, fs::perms::owner_all);
  setenv("CXX", compiler.c_str(), 1);
  std::string program = etch_binary();
  std::string command = "check";
  std::string model = kDigits;
  char* const arguments[] = {program.data(), command.data(), model.data(), nullptr};
  pid_t child = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;  // a test in the background of a shell has SIGINT ignored
  posix_spawnattr_init(&attributes);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &interrupt);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  ASSERT_EQ(posix_spawn(&child, etch_binary().c_str(), &actions, &attributes, arguments, environ),
            0);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (int i = 0; i < 600 && contents(folder_ / "started").find('\n') == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_FALSE(fs::is_empty(temporary()));
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_TRUE(fs::is_empty(temporary()));
  const int compiler_id = std::stoi(contents(folder_ / "started"));
  EXPECT_NE(kill(compiler_id, 0), 0) << "the compiler still runs";
}

// What the Python package loads.
TEST_F(Cli, BuildsASharedLibraryThatExportsTheHeadersFunctions) {
  const ProcessResult built = etch({"compile", kDigits, "-o", path("out"), "--name", "net",
                                    "--target", "scalar", "--library", path("net.so")});
  ASSERT_EQ(built.exit_code, 0) << built.errors;
  void* const library = dlopen(path("net.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_NE(dlsym(library, "net_run"), nullptr);
  EXPECT_EQ(dlsym(library, "net_pool_new"), nullptr) << "for one thread there is no pool";
  dlclose(library);
}

TEST_F(Cli, RefusesSharedLibrariesThatNothingHereCouldLoad) {
  const std::vector<std::string> compile = {"compile",   kDigits,     "-o",
                                            path("out"), "--library", path("net.so")};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = compile;
    words.insert(words.end(), more.begin(), more.end());
    return etch(words);
  };
  const ProcessResult foreign = with({"--target", "cortex-m4"});
  EXPECT_EQ(foreign.exit_code, 3);
  EXPECT_NE(foreign.errors.find("is another machine"), std::string::npos) << foreign.errors;
  const ProcessResult binary = with({"--weights", "binary"});
  EXPECT_EQ(binary.exit_code, 1);
  EXPECT_NE(binary.errors.find("leave out --weights binary"), std::string::npos) << binary.errors;
  EXPECT_FALSE(fs::exists(path("out")) || fs::exists(path("net.so")));
}

TEST_F(Cli, NamesThePackageOfCommandsThatItDoesNotHave) {
  for (const char* const command : {"quantize", "record", "debug"}) {
    const ProcessResult result = etch({command, "model.onnx"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.errors.find("pip install 'etch-onnx[quantize]'"), std::string::npos);
  }
}

// Either would replace the other, or make it a folder that Etch does not own.
TEST_F(Cli, KeepsEvidenceOutOfTheFolderOfCode) {
  for (const char* evidence : {"out", "out/evidence", "."}) {
    const ProcessResult result =
        etch({"compile", kDigits, "-o", path("out"), "--evidence", path(evidence), "--force"});
    EXPECT_EQ(result.exit_code, 1) << evidence;
    EXPECT_FALSE(std::filesystem::exists(path("out"))) << evidence;
  }
}

}  // namespace
}  // namespace etch::cli

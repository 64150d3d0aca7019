// Packages for other build systems. What can be built here is built and run: plain CMake, and
// ESP-IDF and Zephyr with stand-ins for the functions of theirs that the files call. The layout is
// compiled as Arduino does it. Manifests are read by parsers of their languages, the .pdsc is
// checked with the rules in tests/data/pdsc.xsd.
#include "compiler/emit/package/package.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/output_folder.h"
#include "compiler/host/elf_file.h"
#include "compiler/host/harness.h"
#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/engines.h"
#include "tests/support/paths.h"
#include "tests/support/targets.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

using cli::ProcessResult;

const fs::path kSource = source_dir();
const fs::path kDigits = kSource / "examples/digits/model.onnx";

std::string bytes_of_all(const std::vector<Tensor>& tensors) {
  std::string out;
  for (const Tensor& tensor : tensors) {
    const auto bytes = tensor.bytes();
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return out;
}

// The network on the input in the file "input"; its output goes to the file "output".
constexpr char kApp[] = R"(#include <cstdio>
#include "digits.h"
alignas(digits::kArenaAlignment) static unsigned char arena[digits::kArenaBytes];
int main() {
  static digits::Input0 x[digits::kInput0Elements];
  static digits::Output0 y[digits::kOutput0Elements];
  std::FILE* in = std::fopen("input", "rb");
  if (std::fread(x, sizeof x, 1, in) != 1) return 1;
  digits::run(x, y, arena);
  std::FILE* out = std::fopen("output", "wb");
  return std::fwrite(y, sizeof y, 1, out) == 1 && std::fclose(out) == 0 ? 0 : 1;
}
)";

class Package : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "etch-package-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    digits_ = case_of_file(kDigits);
    write("app.cpp", kApp);
    write("input", bytes_of_all(digits_.inputs));
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }

  // All forms that the target can have, in the folder `net`.
  std::vector<OutputFile> make(const std::string& target, const std::string& name = "digits",
                               WeightsForm weights = WeightsForm::kEmbedded) const {
    const auto program = compiled(digits_, target, RequantizeMode::kAuto);
    EmitOptions options;
    options.name = name;
    options.weights = weights;
    std::vector<PackageForm> forms;
    for (const PackageFormFacts& facts : package_forms()) {
      if (why_not(facts.form, *program, options).empty()) forms.push_back(facts.form);
    }
    std::vector<OutputFile> files = emit_package(*program, options, forms);
    Sink sink;
    EXPECT_TRUE(write_output_folder(files, root_ / "net", Overwrite::kOwnFiles, sink));
    return files;
  }

  ProcessResult tool(const std::vector<std::string>& command) const {
    return cli::run_process(command, std::chrono::minutes(5), root_);
  }
  void expect_success(const std::vector<std::string>& command) const {
    const ProcessResult result = tool(command);
    EXPECT_TRUE(result.succeeded()) << command[0] << ": " << cli::describe(result) << "\n"
                                    << result.output << result.errors;
  }

  // Configures and builds root_/CMakeLists.txt, runs the app and looks at the output.
  void expect_app_is_exact(const std::vector<std::string>& definitions = {}) const {
    std::vector<std::string> configure = {"cmake", "-S", ".", "-B", "build"};
    configure.insert(configure.end(), definitions.begin(), definitions.end());
    expect_success(configure);
    expect_success({"cmake", "--build", "build"});
    expect_success({"./build/app"});
    EXPECT_EQ(contents_of(root_ / "output"), bytes_of_all(reference_outputs(digits_)));
    EXPECT_FALSE(contents_of(root_ / "output").empty());
  }

  // Whether a Python with this module is here.
  bool has_python(const std::string& module) const {
    return tool({"python3", "-c", "import " + module}).succeeded();
  }
  nlohmann::json yaml(const std::string& path) const {
    const ProcessResult result =
        tool({"python3", "-c",
              "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))",
              (root_ / path).string()});
    EXPECT_TRUE(result.succeeded()) << result.errors;
    return nlohmann::json::parse(result.output, nullptr, false);
  }

  fs::path root_;
  Case digits_;
};

std::vector<std::string> paths_of(const std::vector<OutputFile>& files) {
  std::vector<std::string> out;
  out.reserve(files.size());
  for (const OutputFile& file : files) out.push_back(file.path);
  std::sort(out.begin(), out.end());
  return out;
}

TEST_F(Package, IsOneTreeForAllForms) {
  const std::vector<std::string> paths = paths_of(make("scalar"));
  for (const char* path :
       {"CMakeLists.txt", "Etch.digits.pdsc", "LICENSE", "README.md", "idf_component.yml",
        "library.json", "library.properties", "examples/run_digits/run_digits.ino", "report.html",
        "report.json", "src/digits.cpp", "src/digits.h", "src/etch/vocab.h",
        "zephyr/CMakeLists.txt", "zephyr/Kconfig", "zephyr/module.yml"}) {
    EXPECT_TRUE(std::binary_search(paths.begin(), paths.end(), path)) << path;
  }
  for (const std::string& path : paths) EXPECT_FALSE(path.ends_with(".cc")) << path;
  // The report lists them all, so that the folder can be replaced.
  const std::string report = contents_of(root_ / "net/report.json");
  for (const std::string& path : paths) {
    const bool itself = path.starts_with("report.");
    EXPECT_TRUE(itself || report.find(cat('"', path, '"')) != std::string::npos) << path;
  }
  make("scalar");
  EXPECT_EQ(contents_of(root_ / "net/README.md").find("digits"), 2U);
}

TEST_F(Package, WeightsThatAreProgrammedApartStayOutsideOfTheCode) {
  const std::vector<std::string> paths =
      paths_of(make("cortex-m4", "digits", WeightsForm::kBinary));
  EXPECT_TRUE(std::binary_search(paths.begin(), paths.end(), "digits_weights.bin"));
}

TEST_F(Package, IsALibraryForCMake) {
  make("scalar");
  write("CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(app LANGUAGES CXX)\nadd_subdirectory(net)\n"
        "add_executable(app app.cpp)\ntarget_link_libraries(app PRIVATE etch::digits)\n");
  expect_app_is_exact();
}

// The library that CMake makes for another machine, in an image like those of `etch check`.
TEST_F(Package, IsALibraryForCMakeOnACortexM4) {
  const IsaTraits& isa = *find_target("cortex-m4");
  const std::string missing = cli::status_of(isa).missing;
  if (!missing.empty() || cli::find_program("arm-none-eabi-g++").empty()) GTEST_SKIP() << missing;
  make("cortex-m4");
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const cli::Toolchain toolchain = *cli::find_toolchain(isa, reporter);
  const std::string cpu(toolchain.machine->flags);
  expect_success({"cmake", "-S", "net", "-B", "m4", "-DCMAKE_SYSTEM_NAME=Generic",
                  "-DCMAKE_SYSTEM_PROCESSOR=arm", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
                  "-DCMAKE_CXX_COMPILER=arm-none-eabi-g++", "-DCMAKE_CXX_FLAGS=" + cpu});
  expect_success({"cmake", "--build", "m4"});
  const auto program = compiled(digits_, "cortex-m4", RequantizeMode::kAuto);
  for (const auto& files :
       {cli::harness_files(*program, "digits", cli::Timing::kNone, toolchain.machine),
        cli::machine_files(*toolchain.machine)}) {
    for (const OutputFile& file : files) write(file.path, file.content);
  }
  std::vector<std::string> link = {toolchain.compiler, "-std=c++17", "-O2", "-Inet/src"};
  link.insert(link.end(), toolchain.flags.begin(), toolchain.flags.end());
  link.insert(link.end(), {"main.cc", "firmware_start.cc", "m4/libdigits.a"});
  link.insert(link.end(), toolchain.link_flags.begin(), toolchain.link_flags.end());
  link.insert(link.end(), {"-o", "image"});
  expect_success(link);
  write("sample/input_0.bin", bytes_of_all(digits_.inputs));
  expect_success(cli::command_to_run(toolchain, root_ / "image", {"run", "sample"}));
  EXPECT_EQ(contents_of(root_ / "sample/output_0.bin"), bytes_of_all(reference_outputs(digits_)));
}

// ---- with stand-ins ----

// What idf_component_register() does with these arguments.
constexpr char kEspIdf[] = R"(cmake_minimum_required(VERSION 3.16)
project(app LANGUAGES CXX)
set(ESP_PLATFORM 1)
macro(idf_component_register)
  cmake_parse_arguments(_ "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
  set(COMPONENT_LIB component)
  add_library(component STATIC ${__SRCS})
  target_include_directories(component PUBLIC ${__INCLUDE_DIRS})
  target_compile_features(component PUBLIC cxx_std_20)
endmacro()
add_subdirectory(net)
if(TARGET digits)
  message(FATAL_ERROR "the library for plain CMake is there too")
endif()
add_executable(app app.cpp)
target_link_libraries(app PRIVATE component)
)";

TEST_F(Package, IsAComponentOfEspIdf) {
  make("scalar");
  write("CMakeLists.txt", kEspIdf);
  expect_app_is_exact();
  // The first time ESP-IDF reads the file as a script, in which there are no targets.
  write("scan.cmake",
        "set(ESP_PLATFORM 1)\nmacro(idf_component_register)\n  message(STATUS \"ARGS ${ARGN}\")\n"
        "  return()\nendmacro()\ninclude(net/CMakeLists.txt)\n");
  const ProcessResult scan = tool({"cmake", "-P", "scan.cmake"});
  EXPECT_TRUE(scan.succeeded()) << scan.errors;
  EXPECT_NE(scan.output.find("ARGS SRCS;src/digits.cpp;"), std::string::npos) << scan.output;
  EXPECT_NE(scan.output.find(";INCLUDE_DIRS;src"), std::string::npos) << scan.output;
}

constexpr char kZephyr[] = R"(cmake_minimum_required(VERSION 3.16)
project(app LANGUAGES CXX)
add_library(zephyr_interface INTERFACE)
macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC "")
  target_link_libraries(${name} PUBLIC zephyr_interface)
  target_compile_options(${name} PRIVATE -std=c++17 -fno-exceptions -fno-rtti)
endmacro()
function(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endfunction()
function(zephyr_library_compile_options)
  target_compile_options(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endfunction()
function(zephyr_include_directories)
  target_include_directories(zephyr_interface INTERFACE ${ARGN})
endfunction()
add_subdirectory(net/zephyr)
if(CONFIG_ETCH_DIGITS)
  add_executable(app app.cpp)
  target_link_libraries(app PRIVATE etch_digits)
elseif(TARGET etch_digits)
  message(FATAL_ERROR "nobody asked for it")
endif()
)";

TEST_F(Package, IsAModuleOfZephyr) {
  make("scalar");
  write("CMakeLists.txt", kZephyr);
  expect_success({"cmake", "-S", ".", "-B", "without"});
  expect_app_is_exact({"-DCONFIG_ETCH_DIGITS=y"});
  const std::string kconfig = contents_of(root_ / "net/zephyr/Kconfig");
  EXPECT_NE(kconfig.find("\nconfig ETCH_DIGITS\n\tbool \"Network digits"), std::string::npos)
      << kconfig;
  if (!has_python("yaml")) GTEST_SKIP() << "no PyYAML to read module.yml with";
  EXPECT_EQ(yaml("net/zephyr/module.yml"),
            (nlohmann::json{{"name", "etch_digits"},
                            {"build", {{"cmake", "zephyr"}, {"kconfig", "zephyr/Kconfig"}}}}));
  const nlohmann::json component = yaml("net/idf_component.yml");
  EXPECT_EQ(component["license"], "MIT-0");
  EXPECT_EQ(component["dependencies"]["idf"], ">=5.0");
}

// ---- manifests ----

TEST_F(Package, HasADescriptionForCmsisPack) {
  if (cli::find_program("xmllint").empty()) GTEST_SKIP() << "no xmllint (libxml2-utils)";
  // Of the longest name too.
  for (const std::string name : {"digits", "A23456789_123456789_123456789_123456789_"}) {
    // Targets: those that a pack can be for, one of each architecture.
    for (const char* target : {"scalar", "cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55"}) {
      const std::vector<OutputFile> files = make(target, name);
      const std::string pdsc = cat("net/Etch.", name, ".pdsc");
      expect_success(
          {"xmllint", "--noout", "--schema", (kSource / "tests/data/pdsc.xsd").string(), pdsc});
      const std::string text = contents_of(root_ / pdsc);
      for (const OutputFile& file : files) {
        if (!file.path.ends_with(".cpp")) continue;
        EXPECT_NE(text.find(cat("\"sourceCpp\" name=\"", file.path, "\"")), std::string::npos)
            << file.path;
      }
      fs::remove_all(root_ / "net");
    }
  }
}

TEST_F(Package, TheRulesForCmsisPackRefuseWhatIsWrong) {
  if (cli::find_program("xmllint").empty()) GTEST_SKIP() << "no xmllint (libxml2-utils)";
  make("cortex-m4");
  const std::string good = contents_of(root_ / "net/Etch.digits.pdsc");
  const std::pair<const char*, const char*> wrongs[] = {
      {"<vendor>Etch<", "<vendor>Etch 1<"},
      {"Dcore=\"Cortex-M4\"", "Dcore=\"Cortex-M99\""},
      {"category=\"header\"", "category=\"headers\""},
      {"Cversion=\"", "Cversion=\"x"},
      {"<url>https://example.com/</url>", ""},
  };
  for (const auto& [from, to] : wrongs) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), std::string(from).size(), to);
    write("wrong.pdsc", text);
    EXPECT_FALSE(tool({"xmllint", "--noout", "--schema", (kSource / "tests/data/pdsc.xsd").string(),
                       "wrong.pdsc"})
                     .succeeded())
        << to;
  }
}

TEST_F(Package, HasAManifestForPlatformIo) {
  for (const auto& [name, slug] :
       {std::pair("digits", "etch-digits"), std::pair("A_b_", "etch-a-b")}) {
    make("cortex-m4", name);
    const auto json =
        nlohmann::json::parse(contents_of(root_ / "net/library.json"), nullptr, false);
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["name"], slug);
    EXPECT_EQ(json["license"], "MIT-0");
    EXPECT_EQ(json["headers"], cat(name, ".h"));
    EXPECT_EQ(json["build"]["srcDir"], "src");
    EXPECT_EQ(json["build"]["flags"], "-std=gnu++17");
  }
  make("aarch64-dotprod");
  const auto json = nlohmann::json::parse(contents_of(root_ / "net/library.json"));
  EXPECT_EQ(json["build"]["flags"], "-std=gnu++17 -march=armv8.2-a+dotprod");
}

TEST_F(Package, HasTheFieldsThatArduinoDemands) {
  make("cortex-m4");
  const std::string text = contents_of(root_ / "net/library.properties");
  for (const char* field : {"name=Etch digits\n", "\nversion=", "\nauthor=", "\nmaintainer=",
                            "\nsentence=", "\nparagraph=", "\ncategory=Data Processing\n",
                            "\nurl=", "\narchitectures=", "\nincludes=digits.h\n"}) {
    EXPECT_NE(text.find(field), std::string::npos) << field;
  }
}

// ---- the layout ----

// Compiles every source as Arduino does: nothing but src/ to include from, no flags but the CPU's.
std::vector<fs::path> compile_all(const std::vector<std::string>& compiler, const fs::path& root) {
  std::vector<fs::path> objects;
  for (const auto& entry : fs::recursive_directory_iterator(root / "net/src")) {
    if (entry.path().extension() != ".cpp") continue;
    objects.push_back(root / (entry.path().filename().string() + ".o"));
    std::vector<std::string> command = compiler;
    command.insert(command.end(), {"-O1", "-Wall", "-Wextra", "-Werror", "-Inet/src", "-c",
                                   entry.path().string(), "-o", objects.back().string()});
    const ProcessResult result = cli::run_process(command, std::chrono::minutes(5), root);
    EXPECT_TRUE(result.succeeded()) << entry.path() << ": " << result.errors;
  }
  return objects;
}

// What the sketch uses of Arduino.
constexpr char kArduino[] = R"(#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
struct SerialPort {
  void begin(long) {}
  void println(double value) { printf("%.9g\n", value); }
};
static SerialPort Serial;
inline void delay(unsigned long) {}
)";

TEST_F(Package, IsALibraryForArduinoWithASketch) {
  make("scalar");
  const std::vector<fs::path> objects = compile_all({"g++"}, root_);
  write("Arduino.h", kArduino);
  write("sketch.cpp", cat("#include \"Arduino.h\"\n",
                          contents_of(root_ / "net/examples/run_digits/run_digits.ino"),
                          "int main() {\n  setup();\n  loop();\n}\n"));
  std::vector<std::string> command = {"g++",     "-Wall",     "-Wextra",
                                      "-Werror", "-Inet/src", "sketch.cpp"};
  for (const fs::path& object : objects) command.push_back(object.string());
  command.insert(command.end(), {"-o", "sketch"});
  expect_success(command);
  Case zeros = digits_;
  for (float& value : zeros.inputs[0].as<float>()) value = 0;
  std::string expected;
  const std::vector<Tensor> outputs = reference_outputs(zeros);
  for (const float value : outputs[0].as<float>()) {
    char text[32];
    snprintf(text, sizeof text, "%.9g\n", static_cast<double>(value));
    expected += text;
  }
  EXPECT_EQ(tool({"./sketch"}).output, expected);
}

TEST_F(Package, CompilesForACortexM4AndForThisMachine) {
  make("cortex-m4");
  compile_all({"g++", "-DETCH_ALLOW_PORTABLE"}, root_);
  if (cli::find_program("arm-none-eabi-g++").empty()) GTEST_SKIP() << "no arm-none-eabi-g++";
  const auto objects = compile_all(
      {"arm-none-eabi-g++", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"},
      root_);
  bool found = false;
  for (const fs::path& object : objects) {
    const std::string bytes = contents_of(object);
    for (const cli::ElfSymbol& symbol : cli::read_elf(bytes).symbols) {
      found = found || (symbol.name == "digits_run" && symbol.is_defined);
    }
  }
  EXPECT_TRUE(found);
}

TEST_F(Package, IsNothingForACpuThatLacksTheInstructions) {
  std::vector<const char*> names = all_targets_but({{"scalar", "needs no instructions"}});
  // Targets: those of other machines whose verbs are not those of a third.
  names.insert(names.end(), {"aarch64", "aarch64-i8mm", "armv7-neon", "wasm32-simd128"});
  for (const char* target : names) {
    make(target);
    for (const fs::path& object : compile_all({"g++"}, root_)) {
      const std::string bytes = contents_of(object);
      for (const cli::ElfSymbol& symbol : cli::read_elf(bytes).symbols) {
        EXPECT_FALSE(symbol.is_defined && symbol.is_function) << target << " " << symbol.name;
      }
    }
    fs::remove_all(root_ / "net");
  }
}

TEST_F(Package, CompilesWithoutFlagsForEveryFirmwareTarget) {
  for (const CrossTarget& target : cross_targets()) {
    if (target.machine->kind != Machine::Kind::kFirmware) continue;
    make(std::string(target.isa->name));
    compile_all({"g++", "-DETCH_ALLOW_PORTABLE"}, root_);
    fs::remove_all(root_ / "net");
  }
}

// ---- what cannot be ----

TEST_F(Package, SaysWhichFormsATargetCannotHave) {
  const auto etch = [&](const std::string& target, const std::string& forms,
                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {etch_binary(), "compile", kDigits.string(), "-o", "out",
                                        "--target",    target,    "--package",      forms};
    command.insert(command.end(), more.begin(), more.end());
    return tool(command);
  };
  const std::pair<ProcessResult, const char*> refused[] = {
      {etch("avx2", "cmake,arduino"), "no package for Arduino: its build system passes no flags"},
      {etch("riscv32imac", "cmsis-pack"), "no package for CMSIS-Pack: it is for Cortex-M"},
      {etch("cortex-m4", "esp-idf"), "no package for ESP-IDF: no chip of Espressif has"},
      {etch("x86-64-multi", "zephyr"), "no package for Zephyr: x86-64-multi needs other flags"},
      {etch("cortex-m4", "all", {"--weights", "file"}), "--weights file needs a flag"},
      {etch("cortex-m4", "keil"), "--package: keil not in {all,cmake,cmsis-pack,"},
  };
  for (const auto& [result, why] : refused) {
    EXPECT_EQ(result.exit_code, 1) << why;
    EXPECT_NE(result.errors.find(why), std::string::npos) << result.errors;
    EXPECT_FALSE(fs::exists(root_ / "out"));
  }
  // "all" is all that there can be.
  EXPECT_EQ(etch("avx2", "all").exit_code, 0);
  EXPECT_TRUE(fs::exists(root_ / "out/library.json"));
  EXPECT_FALSE(fs::exists(root_ / "out/library.properties"));
  EXPECT_EQ(etch("x86-64-multi", "all").exit_code, 0);
  EXPECT_FALSE(fs::exists(root_ / "out/library.json"));
}

}  // namespace
}  // namespace etch

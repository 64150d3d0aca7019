// See generated_batch.h.
#include "tests/support/generated_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/emit/emit.h"
#include "compiler/host/build.h"
#include "compiler/host/harness.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "compiler/targets/targets.h"

namespace etch {

namespace {
namespace fs = std::filesystem;

// The harness, beside the networks' files.
constexpr const char* kMain = "main.cpp";

std::string name_of(std::size_t network) { return cat("m", network); }

// What hook() is: threads, or this one, where shares that need others to be first would show.
constexpr std::string_view kPool =
    "#include \"etch/etch_thread_pool.h\"\n"
    "static const EtchThreads* hook() {\n"
    "  static etch::ThreadPool pool(3);\n"
    "  return pool.hook();\n"
    "}\n";
constexpr std::string_view kBackwards =
    "#include \"etch/etch_threads.h\"\n"
    "static const EtchThreads* hook() {\n"
    "  static const EtchThreads backwards = {nullptr,\n"
    "      [](void*, EtchTask task, void* argument, int shares) {\n"
    "        for (int share = shares - 1; share >= 0; --share) task(argument, share);\n"
    "      }, nullptr, nullptr};\n"
    "  return &backwards;\n"
    "}\n";

// What is written for one network: its function, its ports and its facts. Its shares are given to
// hook() or, on boards, which have none, done one after the other.
std::string network_part(const Program& program, const std::string& name, bool has_hook) {
  const auto ports = [](const std::vector<Port>& all, const std::string& table) {
    if (all.empty()) return cat("static const harness::Port* const ", table, " = nullptr;\n");
    return cat("static const harness::Port ", table, "[] = ", cli::port_table(all), ";\n");
  };
  std::string call = cli::threaded_call(program, name);
  if (has_hook && program.shares > 1) {
    call += "hook()";
  } else {
    call.resize(call.size() - 2);  // ", "
  }
  return cat(ports(program.inputs, name + "_in"), ports(program.outputs, name + "_out"),
             "static void ", name,
             "_run([[maybe_unused]] const void* const* inputs, void* const* outputs, void* arena) "
             "{\n  ",
             call, ");\n}\nstatic const harness::Network ", name, "_network = {", name, "_in, ",
             program.inputs.size(), ", ", name, "_out, ", program.outputs.size(), ", ", name,
             "::kArenaBytes, ", name, "::kArenaAlignment, ", name, "_run};\n");
}

bool is_firmware(const cli::Toolchain& toolchain) {
  return toolchain.machine != nullptr && toolchain.machine->kind == Machine::Kind::kFirmware;
}

std::vector<std::string> usual_flags(const IsaTraits& isa) {
  return {isa.name == "scalar" ? "-O0" : "-O1"};
}

class Batch {
 public:
  Batch(std::span<const BatchEntry> entries, const BatchOptions& options)
      : entries_(entries), options_(options) {}

  std::optional<std::vector<std::vector<Tensor>>> run(const IsaTraits& isa) {
    if (entries_.empty()) return failed("nothing to compare");
    folder_ = cli::WorkFolder::make({}, reporter_);
    auto toolchain = cli::find_toolchain(isa, reporter_);
    if (folder_ == nullptr || !toolchain) return failed("no folder or no compiler");
    if (!options_.compiler.empty()) toolchain->compiler = options_.compiler;
    const std::vector<std::string> flags =
        options_.flags.empty() ? usual_flags(isa) : options_.flags;
    toolchain->flags.insert(toolchain->flags.end(), flags.begin(), flags.end());
    const bool clean = options_.clean && toolchain->machine == nullptr;
    if (clean) {
      const std::vector<std::string> strict = strict_flags();
      toolchain->flags.insert(toolchain->flags.end(), strict.begin(), strict.end());
    }
    if (!options_.emulator_arguments.empty()) {
      toolchain->runner.resize(1);
      toolchain->runner.insert(toolchain->runner.end(), options_.emulator_arguments.begin(),
                               options_.emulator_arguments.end());
    }
    emit_all();
    if (toolchain->machine != nullptr) write_machine_files(*toolchain->machine);
    if (is_firmware(*toolchain)) {
      write_firmware_main();
    } else {
      write_main();
    }
    const auto built = cli::build_program(root(), {sources_.begin(), sources_.end()}, "batch",
                                          *toolchain, reporter_);
    if (!built) return failed("the generated code does not compile");
    for (std::size_t i = 0; clean && i < sources_.size(); ++i) {
      if (sources_[i] == kMain) continue;
      SCOPED_TRACE(sources_[i]);
      const auto symbols = symbols_in(built->objects[i]);
      if (!symbols) return std::nullopt;
      expect_clean(*symbols);
    }
    const fs::path program = fs::absolute(built->program);
    const std::vector<std::string> arguments =
        is_firmware(*toolchain) ? std::vector<std::string>{"run"} : std::vector<std::string>{};
    if (!execute(cli::command_to_run(*toolchain, program, arguments))) return std::nullopt;
    return read_outputs();
  }

  std::optional<ObjectSymbols> compile(const IsaTraits& isa, const std::string& compiler) {
    folder_ = cli::WorkFolder::make({}, reporter_);
    if (folder_ == nullptr) return failed("no folder");
    emit_all();
    const std::string object = (root() / "batch.o").string();
    std::vector<std::string> command{compiler};
    for (const auto& flags : {target_flags(isa.name), options_.flags})
      command.insert(command.end(), flags.begin(), flags.end());
    const std::string source = (root() / sources_.front()).string();
    command.insert(command.end(), {"-c", source, "-o", object});
    const auto result = cli::run_process(command, std::chrono::minutes(10));
    if (!result.succeeded()) return failed(cat(cli::describe(result), "\n", result.errors));
    return symbols_in(object);
  }

 private:
  static std::optional<ObjectSymbols> symbols_in(const fs::path& object) {
    const auto result =
        cli::run_process({"nm", "--format=posix", object.string()}, std::chrono::minutes(1));
    if (!result.succeeded()) return failed(cat(cli::describe(result), "\n", result.errors));
    return symbols_of(result.output);
  }

  // Lines "name type ...": U is undefined; b, d and their capitals are writable.
  static ObjectSymbols symbols_of(const std::string& listing) {
    ObjectSymbols out;
    std::istringstream lines(listing);
    std::string name, type, rest;
    while (lines >> name >> type && std::getline(lines, rest)) {
      if (type == "U") out.needed.push_back(name);
      if (std::string("bBdDcC").find(type) != std::string::npos) out.writable.push_back(name);
      const bool one_for_all = std::string("VvWwu").find(type) != std::string::npos;
      if (one_for_all && name.find("4etch") != std::string::npos) out.shared.push_back(name);
    }
    return out;
  }

  const fs::path& root() const { return folder_->path(); }

  static std::nullopt_t failed(const std::string& why) {
    ADD_FAILURE() << why;
    return std::nullopt;
  }

  void write(const fs::path& path, std::string_view content) const {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path, std::ios::binary) << content;
  }

  void emit_all() {
    std::string text;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      text += emit_one(i);
      const bool full = (i + 1) % static_cast<std::size_t>(options_.networks_per_file) == 0;
      if (!full && i + 1 < entries_.size()) continue;
      sources_.push_back(cat("batch_", sources_.size(), ".cpp"));
      write(sources_.back(), text);
      text.clear();
    }
  }

  // Writes the files and inputs of one network. Returns the lines that include its sources, the
  // steps first: their pragmas must come before the includes.
  std::string emit_one(std::size_t i) {
    EmitOptions options;
    options.name = name_of(i);
    std::vector<std::string> sources;
    for (const OutputFile& file : emit(*entries_[i].program, options)) {
      const fs::path path = file.path;
      if (path.extension() == ".cc") sources.push_back(cat("#include \"", file.path, "\"\n"));
      if (path.extension() == ".cc" || path.extension() == ".h") share(file);
    }
    std::stable_partition(sources.begin(), sources.end(), [](const std::string& line) {
      return line.find("_steps_") != std::string::npos;
    });
    fs::create_directories(root() / name_of(i));  // a network may have no inputs, but has outputs
    for (std::size_t input = 0; input < entries_[i].inputs->size(); ++input) {
      const auto bytes = (*entries_[i].inputs)[input].bytes();
      write(fs::path(name_of(i)) / cat("input_", input, ".bin"),
            {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    std::string text;
    for (const std::string& line : sources) text += line;
    return text;
  }

  // Vocabulary and runtime are the same for all networks.
  void share(const OutputFile& file) {
    const auto [it, inserted] = shared_.emplace(file.path, file.content);
    EXPECT_EQ(it->second, file.content) << file.path;
    if (inserted) write(file.path, file.content);
  }

  bool execute(const std::vector<std::string>& command) const {
    const auto result = cli::run_process(command, std::chrono::minutes(10), root());
    if (!result.succeeded()) {
      ADD_FAILURE() << cli::describe(result) << "\n" << result.output << result.errors;
    }
    return result.succeeded();
  }

  void write_harness(const std::string& name) {
    for (const std::string& each : {name, std::string("harness_network.h")})
      write(each, cli::harness_file(each).content);
  }

  // Runs one after the other in the same memory, whose board has it for one of them. Names are
  // printed first, as the one that fails ends the program.
  void write_firmware_main() {
    std::string includes = "#include \"firmware_harness.h\"\n";
    std::string parts;
    std::string calls;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::string name = name_of(i);
      includes += cat("#include \"", name, ".h\"\n");
      parts += network_part(*entries_[i].program, name, false);
      calls += cat("  semihosting::print(\"", name, " \");\n  harness::run(", name, "_network, \"",
                   name, "\");\n");
    }
    write_harness("firmware_harness.h");
    write(kMain, cat(includes, parts, "int main() {\n", calls, "  return 0;\n}\n"));
    sources_.push_back(kMain);
  }

  void write_machine_files(const Machine& machine) {
    for (const OutputFile& file : cli::machine_files(machine)) {
      write(file.path, file.content);
      if (fs::path(file.path).extension() == ".cc") sources_.push_back(file.path);
    }
  }

  void write_main() {
    std::string includes = "#include \"harness.h\"\n";
    std::string parts;
    std::string calls;
    bool threads = false;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::string name = name_of(i);
      includes += cat("#include \"", name, ".h\"\n");
      threads = threads || entries_[i].program->shares > 1;
      parts += network_part(*entries_[i].program, name, true);
      calls += cat("  failed += one(", name, "_network, \"", name, "\");\n");
    }
    write_harness("harness.h");
    write(kMain, cat(includes, threads ? (options_.on_threads ? kPool : kBackwards) : "", parts,
                     "static int one(const harness::Network& network, const char* folder) {\n"
                     "  const int code = harness::run(network, &folder, 1);\n"
                     "  if (code != 0) fprintf(stderr, \"%s failed\\n\", folder);\n"
                     "  return code != 0 ? 1 : 0;\n}\n\n"
                     "int main() {\n  int failed = 0;\n",
                     calls, "  return failed != 0 ? 1 : 0;\n}\n"));
    sources_.push_back(kMain);
  }

  std::optional<std::vector<std::vector<Tensor>>> read_outputs() const {
    std::vector<std::vector<Tensor>> all;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      all.emplace_back();
      const std::vector<Port>& ports = entries_[i].program->outputs;
      for (std::size_t output = 0; output < ports.size(); ++output) {
        Tensor tensor(ports[output].dtype, ports[output].shape);
        const auto bytes = tensor.mutable_bytes();
        std::ifstream file(root() / name_of(i) / cat("output_", output, ".bin"), std::ios::binary);
        file.read(reinterpret_cast<char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
        EXPECT_TRUE(file.good()) << name_of(i) << " output " << output;
        all.back().push_back(std::move(tensor));
      }
    }
    return all;
  }

  std::span<const BatchEntry> entries_;
  const BatchOptions& options_;
  cli::Reporter reporter_{cli::Verbosity::kQuiet};
  std::unique_ptr<cli::WorkFolder> folder_;
  std::vector<std::string> sources_;
  std::map<std::string, std::string> shared_;
};
}  // namespace

std::string why_not_here(const IsaTraits& isa) { return cli::status_of(isa).missing; }

std::optional<std::vector<std::vector<Tensor>>> run_generated(std::span<const BatchEntry> entries,
                                                              const IsaTraits& isa,
                                                              const BatchOptions& options) {
  return Batch(entries, options).run(isa);
}

void expect_clean(const ObjectSymbols& symbols) {
  for (const std::string& name : symbols.needed)
    EXPECT_TRUE(name == "memcpy" || name == "memset") << name;
  EXPECT_EQ(symbols.writable, std::vector<std::string>());
}

std::vector<std::string> strict_flags() {
  return {"-Wall",    "-Wextra",      "-Wpedantic", "-Wconversion", "-Wsign-conversion",
          "-Wshadow", "-Wcast-align", "-Wundef",    "-Werror",      "-fno-exceptions",
          "-fno-rtti"};
}

std::optional<ObjectSymbols> compile_generated(std::span<const BatchEntry> entries,
                                               const IsaTraits& isa, const std::string& compiler,
                                               const std::vector<std::string>& flags) {
  const BatchOptions one_file{flags, static_cast<int>(entries.size()), false};
  return Batch(entries, one_file).compile(isa, compiler);
}

}  // namespace etch

// Runs the compiler once per file and once to link; see build.h.
#include "compiler/host/build.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "compiler/host/progress.h"
#include "compiler/targets/targets.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

using Command = std::vector<std::string>;

// Far above what the largest file takes; ends a compiler that hangs.
constexpr std::chrono::minutes kCompilerTimeout{10};

// Runs all commands, several at a time; results are in the order of the commands.
std::vector<ProcessResult> run_all(const std::vector<Command>& commands, const std::string& task,
                                   const Reporter& reporter) {
  Progress progress(task, static_cast<int>(commands.size()), reporter);
  std::vector<ProcessResult> results(commands.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < commands.size(); i = next++) {
      results[i] = run_process(commands[i], kCompilerTimeout);
      progress.step();
    }
  };
  const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < std::min(most, commands.size()); ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return results;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// Whether a file in `folder` includes, in quotes as only ours are, a header that is not there. The
// compilers show the line below what they say of it.
bool lacks_own_header(const std::string& errors, const fs::path& folder) {
  const std::vector<std::string> lines = lines_of(errors);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i].starts_with(folder.string()) && contains(lines[i], "fatal error: ") &&
        contains(lines[i + 1], "#include \"")) {
      return true;
    }
  }
  return false;
}

// A compiler without all of its packages.
bool lacks_something(const std::string& errors, const fs::path& folder) {
  constexpr std::string_view kSigns[] = {
      "No such file or directory", "file not found", "cannot find",
      "cannot read spec file",     "cannot open",    "invalid linker name"};
  return !lacks_own_header(errors, folder) &&
         std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view sign) { return contains(errors, sign); });
}

// What ld says of an image that is larger than the memory: "ROM overflowed by 1234 bytes".
std::string overflow_of(const std::string& errors) {
  constexpr std::string_view kOverflow = "' overflowed by ";
  const std::size_t at = errors.find(kOverflow);
  const std::size_t quote = at == std::string::npos ? at : errors.rfind('`', at);
  if (quote == std::string::npos) return {};
  std::string what = errors.substr(quote + 1, errors.find('\n', at) - quote - 1);
  return what.erase(what.find('\''), 1);
}

// Whether the compiler says that a file in `folder` is wrong, or the linker that symbols are. It
// may also have failed by itself: crashed, been killed, not known an option.
bool refuses_code(const ProcessResult& result, const fs::path& folder) {
  const std::string& errors = result.errors;
  if (result.end != ProcessResult::End::kExited || contains(errors, "internal compiler error")) {
    return false;
  }
  constexpr std::string_view kSigns[] = {"undefined reference", "undefined symbol",
                                         "multiple definition", "duplicate symbol",
                                         "Assembler messages:"};
  if (std::any_of(std::begin(kSigns), std::end(kSigns),
                  [&](std::string_view sign) { return contains(errors, sign); })) {
    return true;
  }
  const std::vector<std::string> lines = lines_of(errors);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.starts_with(folder.string()) && contains(line, "error: ");
  });
}

// True if the command succeeded; otherwise reports why it did not.
bool accept(const ProcessResult& result, const Toolchain& toolchain, const fs::path& folder,
            const std::string& task, Reporter& reporter) {
  if (result.succeeded()) return true;
  const std::string& compiler = toolchain.compiler;
  if (const Machine* machine = toolchain.machine) {
    if (const std::string overflow = overflow_of(result.errors); !overflow.empty()) {
      report_too_large(*machine, overflow, reporter);
      return false;
    }
    if (lacks_something(result.errors, folder)) {
      reporter.io_error(compiler, cat(task, words_of(result.errors), " (are all packages here? ",
                                      packages_hint(machine->compiler_packages), ")"));
      return false;
    }
  }
  const std::string what = cat(task, ": ", describe(result), words_of(result.errors));
  if (refuses_code(result, folder) && !lacks_something(result.errors, folder)) {
    reporter.internal_error(cat(compiler, ", ", what));
  } else {
    reporter.io_error(compiler, what);
  }
  return false;
}

Command start_of_command(const Toolchain& toolchain) {
  Command command = {toolchain.compiler, "-std=c++17", "-O2"};
  command.insert(command.end(), toolchain.flags.begin(), toolchain.flags.end());
  return command;
}

}  // namespace

std::string words_of(const std::string& errors) {
  constexpr std::size_t kMost = 600;
  const std::size_t error = errors.find("error:");
  const bool by_driver =
      error != std::string::npos && errors.rfind("collect2: ", error) != std::string::npos;
  const std::size_t line =
      error == std::string::npos || by_driver ? std::string::npos : errors.rfind('\n', error);
  std::string out;
  for (const char c : errors.substr(line == std::string::npos ? 0 : line + 1, kMost)) {
    if (c == '\n') {
      out += " | ";
    } else {
      out.push_back(c);
    }
  }
  return out.empty() ? out : cat(": ", out);
}

void report_too_large(const Machine& machine, const std::string& what, Reporter& reporter) {
  Sink sink;
  sink.error(DiagKind::kLimit, {},
             cat("does not fit the board ", machine.board, " with ", machine.rom.bytes,
                 " bytes of ROM and ", machine.ram.bytes, " bytes of RAM: ", what));
  reporter.diagnostics(sink, "image");
}

std::optional<std::vector<fs::path>> compile_sources(const fs::path& base,
                                                     const std::vector<Source>& sources,
                                                     const Toolchain& toolchain,
                                                     Reporter& reporter) {
  const fs::path folder = fs::absolute(base);
  std::vector<fs::path> objects;
  std::vector<Command> commands;
  for (const Source& source : sources) {
    const std::string object = (folder / (source.path + ".o")).string();
    Command command = start_of_command(toolchain);
    if (!source.target.empty()) {
      const std::vector<std::string> flags = target_flags(source.target);
      command.insert(command.end(), flags.begin(), flags.end());
    }
    command.insert(command.end(),
                   {"-I", folder.string(), "-c", (folder / source.path).string(), "-o", object});
    commands.push_back(std::move(command));
    objects.emplace_back(object);
  }
  const std::vector<ProcessResult> results =
      run_all(commands, cat("building with ", toolchain.compiler), reporter);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!accept(results[i], toolchain, folder, cat("compiling ", sources[i].path), reporter)) {
      return std::nullopt;
    }
  }
  return objects;
}

std::optional<BuildOutput> build_program(const fs::path& base, const std::vector<Source>& sources,
                                         const std::string& name, const Toolchain& toolchain,
                                         Reporter& reporter) {
  const fs::path folder = fs::absolute(base);  // linkers run in it
  std::optional<std::vector<fs::path>> objects =
      compile_sources(folder, sources, toolchain, reporter);
  if (!objects) return std::nullopt;
  BuildOutput built{folder / name, std::move(*objects)};
  Command link = start_of_command(toolchain);
  for (const fs::path& object : built.objects) link.push_back(object.string());
  link.insert(link.end(), toolchain.link_flags.begin(), toolchain.link_flags.end());
  link.insert(link.end(), {"-o", built.program.string()});
  if (!accept(run_process(link, kCompilerTimeout, folder), toolchain, folder, "linking",
              reporter)) {
    return std::nullopt;
  }
  return built;
}

}  // namespace etch::cli

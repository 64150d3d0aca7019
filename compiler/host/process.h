// Runs another program: compilers, emulators and the programs that Etch builds. No shell is
// involved, so no argument can be misread as a command.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace etch::cli {

struct ProcessResult {
  enum class End {
    kExited,       // see exit_code
    kSignal,       // killed by `signal`
    kTimeout,      // ran too long and was killed
    kNotStarted,   // see `error`
    kInterrupted,  // the user pressed Ctrl-C; the program was killed
  };
  End end = End::kNotStarted;
  int exit_code = 0;
  int signal = 0;
  std::string output;  // what it wrote to stdout
  std::string errors;  // what it wrote to stderr
  std::string error;   // why it could not be started

  bool succeeded() const { return end == End::kExited && exit_code == 0; }
};

// Runs arguments[0] (looked up in PATH unless it has a slash) with empty standard input until it
// ends, but no longer than `timeout`. The program and whatever it starts are killed on timeout and
// interruption. It is started in `folder`; empty: in this process's own.
ProcessResult run_process(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds timeout,
                          const std::filesystem::path& folder = {});

// How it ended, for messages: "exit code 3", "signal 11 (Segmentation fault)".
std::string describe(const ProcessResult& result);

// The program that `name` stands for: found in PATH, or `name` itself if it has a slash; empty if
// there is no such executable file.
std::filesystem::path find_program(const std::string& name);

}  // namespace etch::cli

// posix_spawn with captured output; see process.h.
#include "compiler/host/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/host/interrupt.h"

extern char** environ;

namespace etch::cli {
namespace {

using Clock = std::chrono::steady_clock;

// How often a waiting run looks at the clock and the interrupt flag, and at the child once it has
// closed its outputs and is about to end.
constexpr int kTickMilliseconds = 50;
constexpr int kEndingTickMilliseconds = 1;

// The reading end of a pipe whose writing end becomes a descriptor of the child.
class Capture {
 public:
  Capture() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Capture() {
    close_end(0);
    close_end(1);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  void close_writing_end() { close_end(1); }
  bool open() const { return ends_[0] >= 0; }

  // Moves what is there to `text`; closes at the end of the stream.
  void read_some(std::string& text) {
    std::array<char, 65536> bytes;
    const ssize_t count = read(ends_[0], bytes.data(), bytes.size());
    if (count > 0) {
      text.append(bytes.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      close_end(0);
    }
  }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

// Starts the program in a process group of its own, so that what it starts can be killed with it.
// Returns 0 or an errno value; sets `child`.
int spawn(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
          const Capture& output, const Capture& errors, pid_t* child) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.writing_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.writing_end(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  const int failure = posix_spawnp(child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

void decode(int status, ProcessResult* result) {
  if (WIFSIGNALED(status)) {
    result->end = ProcessResult::End::kSignal;
    result->signal = WTERMSIG(status);
  } else {
    result->end = ProcessResult::End::kExited;
    result->exit_code = WEXITSTATUS(status);
  }
}

void read_what_is_there(Capture& output, Capture& errors, ProcessResult* result) {
  std::array<pollfd, 2> waits{
      {{output.reading_end(), POLLIN, 0}, {errors.reading_end(), POLLIN, 0}}};
  const int tick = output.open() || errors.open() ? kTickMilliseconds : kEndingTickMilliseconds;
  if (poll(waits.data(), waits.size(), tick) <= 0) return;
  if (waits[0].revents != 0) output.read_some(result->output);
  if (waits[1].revents != 0) errors.read_some(result->errors);
}

// Ends the child's group: first so that a compiler can remove its temporary files, which g++ does.
void end_group(pid_t child, bool running, int* status) {
  constexpr int kTicks = 50;
  kill(-child, SIGTERM);
  for (int i = 0; running && i < kTicks; ++i) {
    siginfo_t ended =
        {};  // looked at without waiting for it, which keeps the group's number its own
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == child) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(-child, SIGKILL);
  if (running) waitpid(child, status, 0);
}

// Reads both streams to their ends and waits for the child; ends its group when time is up.
void supervise(pid_t child, Capture& output, Capture& errors, Clock::time_point deadline,
               ProcessResult* result) {
  int status = 0;
  bool running = true;
  while (output.open() || errors.open() || running) {
    const bool late = Clock::now() >= deadline;
    if (late || interrupted()) {
      end_group(child, running, &status);
      result->end = late ? ProcessResult::End::kTimeout : ProcessResult::End::kInterrupted;
      return;
    }
    read_what_is_there(output, errors, result);
    const bool drained = !output.open() && !errors.open();
    if (running && drained) running = waitpid(child, &status, WNOHANG) != child;
  }
  decode(status, result);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds timeout, const std::filesystem::path& folder) {
  ProcessResult result;
  if (interrupted()) {
    result.end = ProcessResult::End::kInterrupted;
    return result;
  }
  Capture output;
  Capture errors;
  pid_t child = -1;
  const int failure =
      output.open() && errors.open() ? spawn(arguments, folder, output, errors, &child) : EMFILE;
  if (failure != 0) {
    result.error = std::generic_category().message(failure);
    return result;
  }
  output.close_writing_end();
  errors.close_writing_end();
  supervise(child, output, errors, Clock::now() + timeout, &result);
  return result;
}

std::string describe(const ProcessResult& result) {
  switch (result.end) {
    case ProcessResult::End::kExited:
      return cat("exit code ", result.exit_code);
    case ProcessResult::End::kSignal:
      return cat("signal ", result.signal, " (", strsignal(result.signal), ")");
    case ProcessResult::End::kTimeout:
      return "did not end in time";
    case ProcessResult::End::kNotStarted:
      return cat("cannot be started: ", result.error);
    case ProcessResult::End::kInterrupted:
      return "interrupted";
  }
  return {};
}

std::filesystem::path find_program(const std::string& name) {
  const auto executable = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return executable(name) ? name : std::string();
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!name.empty() && !rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::filesystem::path candidate = std::filesystem::path(rest.substr(0, colon)) / name;
    if (executable(candidate)) return candidate;
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return {};
}

}  // namespace etch::cli

// By ptrace, on x86-64 with Linux; see single_step.h.
#include "compiler/host/single_step.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__)

#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <fstream>

#include "compiler/base/text.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::int64_t kBetweenClocks = 1 << 14;

// A child that is traced from its first instruction on. It does not survive this object.
class Traced {
 public:
  Traced(const std::vector<std::string>& command, const fs::path& folder) {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) become(words, folder.c_str());
    alive_ = child_ > 0 && wait();
    // If this process is ended from outside, so is the child.
    if (alive_) ::ptrace(PTRACE_SETOPTIONS, child_, nullptr, PTRACE_O_EXITKILL);
  }
  ~Traced() {
    if (!alive_) return;
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  bool alive() const { return alive_; }
  // What stopped it last: SIGTRAP is the tracing.
  int signal() const { return WSTOPSIG(status_); }
  // Whether this machine keeps addresses from being the same in every run, as containers may.
  bool moves_addresses() const {
    return !alive_ && WIFEXITED(status_) && WEXITSTATUS(status_) == kAddressesMove;
  }

  // Goes on to the next stop. False if the program has ended.
  bool go_on() { return resume(PTRACE_CONT); }
  bool step() { return resume(PTRACE_SINGLESTEP); }

  std::uint64_t place() const {
    return static_cast<std::uint64_t>(::ptrace(PTRACE_PEEKUSER, child_, kPlace, nullptr));
  }
  void set_place(std::uint64_t to) const { ::ptrace(PTRACE_POKEUSER, child_, kPlace, to); }
  std::int64_t word_at(std::uint64_t at) const {
    return ::ptrace(PTRACE_PEEKTEXT, child_, at, nullptr);
  }
  void set_word(std::uint64_t at, std::int64_t word) const {
    ::ptrace(PTRACE_POKETEXT, child_, at, word);
  }
  // Where the first piece of the program's file is.
  std::uint64_t start() const {
    std::ifstream maps(cat("/proc/", child_, "/maps"));
    std::uint64_t out = 0;
    maps >> std::hex >> out;
    return out;
  }

 private:
  static constexpr int kAddressesMove = 126;
  static constexpr std::size_t kPlace = offsetof(user_regs_struct, rip);

  [[noreturn]] static void become(const std::vector<char*>& words, const char* folder) {
    const int nothing = ::open("/dev/null", O_RDWR);
    // memcpy() may look at the last bits of addresses.
    if (::personality(ADDR_NO_RANDOMIZE) < 0) ::_exit(kAddressesMove);
    if (nothing >= 0 && ::dup2(nothing, STDOUT_FILENO) >= 0 && ::chdir(folder) == 0 &&
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0)
      ::execv(words.front(), words.data());
    ::_exit(127);
  }
  bool resume(__ptrace_request how) {
    return alive_ && ::ptrace(how, child_, nullptr, nullptr) == 0 && wait();
  }
  bool wait() {
    while (::waitpid(child_, &status_, 0) < 0) {
      if (errno != EINTR) return alive_ = false;
    }
    return alive_ = WIFSTOPPED(status_);
  }

  ::pid_t child_ = -1;
  int status_ = 0;
  bool alive_ = false;
};

// To the next call of the function at `mark`.
bool run_to(Traced& program, std::uint64_t mark) {
  if (program.place() == mark && !program.step()) return false;
  const std::int64_t original = program.word_at(mark);
  constexpr std::int64_t kBreakpoint = 0xCC;
  program.set_word(mark, (original & ~std::int64_t{0xFF}) | kBreakpoint);
  if (!program.go_on() || program.place() != mark + 1) return false;
  program.set_word(mark, original);
  program.set_place(mark);
  return true;
}

// What is executed between the next calls of the function at `mark`, at which the program is.
void count_group(Traced& program, std::uint64_t mark, std::size_t marks,
                 std::chrono::steady_clock::time_point end, std::vector<std::int64_t>& out) {
  std::int64_t executed = 0;
  for (std::size_t left = marks - 1; left > 0;) {
    if (!program.step() || program.signal() != SIGTRAP) return;
    ++executed;
    if (executed % kBetweenClocks == 0 && std::chrono::steady_clock::now() > end) return;
    if (program.place() != mark) continue;
    out.push_back(executed);
    executed = 0;
    --left;
  }
}

// Why a group was not counted to its end.
std::string reason_of(const Traced& program) {
  if (!program.alive()) return "it ended before all was counted";
  if (program.signal() != SIGTRAP) return cat("signal ", program.signal(), " stopped it");
  return "the time limit has passed";
}

}  // namespace

bool can_single_step() { return true; }

std::vector<std::int64_t> single_step(const std::vector<std::string>& command,
                                      const fs::path& folder, const CountedPart& part,
                                      std::chrono::milliseconds limit, std::string& why) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::vector<std::int64_t> out;
  Traced program(command, folder);
  // A program at a fixed address has its symbols there.
  const std::uint64_t start = program.alive() ? program.start() : 0;
  const std::uint64_t at = part.mark < start ? start + part.mark : part.mark;
  for (std::size_t i = 0; i < part.times && why.empty(); ++i) {
    if (start == 0 || !run_to(program, at)) {
      why = program.moves_addresses()
                ? "this machine does not let programs have the same addresses in every run"
                : "it cannot be traced, or ended before all was counted";
      break;
    }
    out.push_back(0);
    count_group(program, at, part.marks, end, out);
    if (out.size() != (i + 1) * part.marks) why = reason_of(program);
  }
  return out;
}

}  // namespace etch::cli

#else

namespace etch::cli {

bool can_single_step() { return false; }

std::vector<std::int64_t> single_step(const std::vector<std::string>&, const std::filesystem::path&,
                                      const CountedPart&, std::chrono::milliseconds,
                                      std::string& why) {
  why = "instructions are not counted on this machine";
  return {};
}

}  // namespace etch::cli

#endif

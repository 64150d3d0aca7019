// Signal handling; see interrupt.h. The flag and the count of guards are the only global state of
// the command line: a signal handler can reach nothing else.
#include "compiler/host/interrupt.h"

#include <array>
#include <csignal>

namespace etch::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

volatile std::sig_atomic_t pending_signal = 0;
int guards = 0;

extern "C" void remember_signal(int signal) {
  // Who has closed our output gets a signal for each line.
  if (pending_signal != 0 && signal != SIGPIPE) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  pending_signal = signal;
}

extern "C" void go_on(int) {}

// Leaves alone what the caller ignores, as nohup does with SIGHUP.
void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void set_handlers(void (*handler)(int)) {
  for (const int signal : kSignals) handle(signal, handler);
  // A file beyond the limit of the shell (ulimit -f) is a failed write, like a full disk.
  handle(SIGXFSZ, handler == SIG_DFL ? SIG_DFL : go_on);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guards++ == 0) set_handlers(remember_signal);
}

InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  set_handlers(SIG_DFL);
  if (pending_signal != 0) std::raise(pending_signal);
}

bool interrupted() { return pending_signal != 0; }

}  // namespace etch::cli

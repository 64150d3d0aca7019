// Signal handling; see interrupt.h. The flag and the count of guards are the only global state of
// the command line: a signal handler can reach nothing else.
#include "compiler/cli/interrupt.h"

#include <array>
#include <csignal>

namespace etch::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t pending_signal = 0;
int guards = 0;

extern "C" void remember_signal(int signal) {
  if (pending_signal != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  pending_signal = signal;
}

void set_handlers(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
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

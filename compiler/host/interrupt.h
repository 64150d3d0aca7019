// Ctrl-C while there is something to clean up. Within the life of an InterruptGuard the signals
// that ask a program to end (SIGINT, SIGTERM, SIGHUP, and SIGPIPE: nobody reads its output any
// more) only set a flag; run_process() stops its child and fails when it sees the flag, the command
// unwinds as after any other failure, and the guard's destructor, after everything declared later
// is gone, lets the signal end the program. A second signal ends it at once.
#pragma once

namespace etch::cli {

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

// True once a signal has arrived within a guard.
bool interrupted();

}  // namespace etch::cli

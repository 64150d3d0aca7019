// A line on the terminal that says what is going on and for how long, shown only when stderr is a
// terminal and the work has lasted a second, and wiped when the work is done.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "compiler/host/reporter.h"

namespace etch::cli {

class Progress {
 public:
  // `task` reads "building 7 files". With a positive `total`, step() counts towards it.
  Progress(std::string task, int total, const Reporter& reporter);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One part is done. Any thread may call.
  void step() { ++done_; }

 private:
  void show_until_finished();

  const std::string task_;
  const int total_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<int> done_ = 0;
  std::mutex mutex_;
  std::condition_variable finished_;
  bool is_finished_ = false;
  std::thread painter_;  // not started when there is no terminal
};

}  // namespace etch::cli

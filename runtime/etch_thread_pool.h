// A pool of threads for networks that were compiled with --threads. Optional: include it in the
// program that calls the network, and link that with the system's threads. Needs C++17 and its
// standard library, and makes nothing global:
//
//   etch::ThreadPool pool(2);                           // once; the calling thread is one of them
//   network::run(input, output, arena, pool.hook());    // as often as you like
//
// A pool serves one inference at a time. While one runs, the other threads wait for work in a loop,
// because waking them through the system takes longer than most layers; between two they sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "etch_threads.h"

namespace etch {

class ThreadPool {
 public:
  // With one thread or less nothing is started. Throws what std::thread does.
  explicit ThreadPool(int threads) : ThreadPool(threads, Idle{}) {
    // If this throws, the destructor ends those that have started: the object is already complete.
    for (int i = 1; i < threads_; ++i) workers_.emplace_back([this, i] { work(i); });
  }
  ~ThreadPool() {
    stopped_.store(true);
    round_.fetch_add(1);
    wake();
    for (std::thread& worker : workers_) worker.join();
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  const EtchThreads* hook() const { return &hook_; }
  int threads() const { return threads_; }

 private:
  static constexpr int kPauses = 256;  // in a row, some 10 us; then others may have the core

  struct Idle {};
  ThreadPool(int threads, Idle) : threads_(threads < 1 ? 1 : threads) {
    hook_ = {this, &ThreadPool::run, &ThreadPool::begin, &ThreadPool::end};
  }

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
  }

  static void begin(void* context) {
    ThreadPool& pool = *static_cast<ThreadPool*>(context);
    pool.busy_.store(true);
    pool.wake();
  }
  static void end(void* context) { static_cast<ThreadPool*>(context)->busy_.store(false); }

  static void run(void* context, EtchTask task, void* argument, int shares) {
    ThreadPool& pool = *static_cast<ThreadPool*>(context);
    pool.task_ = task;
    pool.argument_ = argument;
    pool.shares_ = shares;
    pool.unfinished_.store(pool.threads_ - 1);
    pool.round_.fetch_add(1);  // publishes the lines above
    pool.wake();
    pool.do_shares(0);
    for (int pauses = 0; pool.unfinished_.load() != 0; ++pauses) wait_a_little(pauses);
  }

  static void wait_a_little(int pauses) {
    if (pauses < kPauses) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }

  // More shares than threads are dealt out in turn.
  void do_shares(int first) const {
    for (int share = first; share < shares_; share += threads_) task_(argument_, share);
  }

  void work(int index) {
    unsigned seen = 0;
    while (true) {
      wait_for_round(seen);
      if (stopped_.load()) return;
      ++seen;
      do_shares(index);
      unfinished_.fetch_sub(1);
    }
  }

  // Until round_ is not `seen` any more, or the pool ends.
  void wait_for_round(unsigned seen) {
    for (int pauses = 0; round_.load() == seen; ++pauses) {
      if (pauses < kPauses || busy_.load()) {
        wait_a_little(pauses);
        continue;
      }
      // A thread that changes what is waited for reads sleeping_ afterwards, and all of these are
      // sequentially consistent: so either that thread sees the sleeper or the sleeper the change.
      std::unique_lock<std::mutex> lock(mutex_);
      sleeping_.fetch_add(1);
      awake_.wait(lock, [&] { return round_.load() != seen || busy_.load(); });
      sleeping_.fetch_sub(1);
      pauses = 0;
    }
  }

  void wake() {
    if (sleeping_.load() == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    awake_.notify_all();
  }

  // On cache lines of their own: one is written by the caller and read by all, one written by all.
  alignas(64) std::atomic<unsigned> round_{0};
  EtchTask task_ = nullptr;
  void* argument_ = nullptr;
  int shares_ = 0;
  alignas(64) std::atomic<int> unfinished_{0};
  alignas(64) std::atomic<int> sleeping_{0};
  std::atomic<bool> busy_{false};
  std::atomic<bool> stopped_{false};
  int threads_;
  EtchThreads hook_{};
  std::mutex mutex_;
  std::condition_variable awake_;
  std::vector<std::thread> workers_;
};

}  // namespace etch

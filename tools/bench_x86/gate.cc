// The clock of tools/bench-x86. A shared machine runs at full speed or at about half of it for
// seconds at a time, so every batch of calls is between two runs of loops of known speed:
// independent dot products, which tell the clock, and simple instructions, which tell whether the
// core is shared. The Python side drops batches whose neighbours were not at full speed. The first
// loop is also the peak that kernels are compared with: nothing multiplies more bytes per second on
// one core.
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace {

double now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Times this process was descheduled while it still had work.
long switches() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

#define ETCH_EIGHT(OP, A, B, C, D, E, F, G, H) OP(A) OP(B) OP(C) OP(D) OP(E) OP(F) OP(G) OP(H)
#define ETCH_CLOBBER8(R, A, B, C, D, E, F, G, H) R #A, R #B, R #C, R #D, R #E, R #F, R #G, R #H

#if defined(ETCH_ZMM)
// 24 independent accumulators: twice what covers the latency, as many as a good register tile has.
#define ETCH_DOT(I) "vpdpbusd %%zmm24, %%zmm25, %%zmm" #I "\n"
constexpr double kMacsPerIteration = 24 * 64;
void loop(std::int64_t iterations) {
  asm volatile("1:\n" ETCH_EIGHT(ETCH_DOT, 0, 1, 2, 3, 4, 5, 6, 7)
                   ETCH_EIGHT(ETCH_DOT, 8, 9, 10, 11, 12, 13, 14, 15)
                       ETCH_EIGHT(ETCH_DOT, 16, 17, 18, 19, 20, 21, 22, 23) "dec %0\n jnz 1b\n"
               : "+r"(iterations)
               :
               : "cc", ETCH_CLOBBER8("xmm", 0, 1, 2, 3, 4, 5, 6, 7),
                 ETCH_CLOBBER8("xmm", 8, 9, 10, 11, 12, 13, 14, 15),
                 ETCH_CLOBBER8("xmm", 16, 17, 18, 19, 20, 21, 22, 23), "xmm24", "xmm25");
}
#else
// 12 of the 16 registers; with VNNI a dot product, otherwise only the clock is of interest.
#if defined(ETCH_YMM)
#define ETCH_DOT(I) "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" #I "\n"
constexpr double kMacsPerIteration = 12 * 32;
#else
#define ETCH_DOT(I) "pmaddwd %%xmm15, %%xmm" #I "\n"
constexpr double kMacsPerIteration = 0;
#endif
void loop(std::int64_t iterations) {
  asm volatile("1:\n" ETCH_EIGHT(ETCH_DOT, 0, 1, 2, 3, 4, 5, 6, 7) ETCH_DOT(8) ETCH_DOT(9)
                   ETCH_DOT(10) ETCH_DOT(11) "dec %0\n jnz 1b\n"
               : "+r"(iterations)
               :
               : "cc", ETCH_CLOBBER8("xmm", 0, 1, 2, 3, 4, 5, 6, 7),
                 ETCH_CLOBBER8("xmm", 8, 9, 10, 11, 12, 13, 14, 15));
}
#endif

// As many simple instructions per cycle as the core can start: there are phases in which the loop
// above runs at full speed and other code takes half as long again, presumably because something
// else runs on the same physical core and leaves the multipliers alone.
void busy(std::int64_t iterations) {
  asm volatile(
      "1:\n"
      ".rept 8\n"
      "add $1, %%rax\n add $1, %%rcx\n add $1, %%rdx\n add $1, %%rsi\n"
      "add $1, %%rdi\n add $1, %%r8\n add $1, %%r9\n add $1, %%r10\n"
      ".endr\n"
      "dec %0\n jnz 1b\n"
      : "+r"(iterations)
      :
      : "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10");
}

constexpr std::int64_t kIterations = 1000;

struct Reference {
  double dot_ns;
  double busy_ns;
};

Reference measure() {
  const double begin = now_ns();
  loop(kIterations);
  const double middle = now_ns();
  busy(kIterations);
  return {middle - begin, now_ns() - middle};
}

// Measures on a second core while the calling thread does on the first.
class Helper {
 public:
  explicit Helper(int core) : thread_([this, core] { work(core); }) {}
  ~Helper() {
    post(kStop);
    thread_.join();
  }
  void start() { post(kMeasure); }
  Reference wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return order_ == kNone; });
    return found_;
  }

 private:
  enum Order { kNone, kMeasure, kStop };

  void post(Order order) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      order_ = order;
    }
    changed_.notify_all();
  }

  void work(int core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<std::size_t>(core), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return order_ != kNone; });
      if (order_ == kStop) return;
      lock.unlock();
      measure();  // wakes the core up
      const Reference found = measure();
      lock.lock();
      found_ = found;
      order_ = kNone;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Order order_ = kNone;
  Reference found_ = {0, 0};
  std::thread thread_;  // last: it uses what is above
};

std::unique_ptr<Helper> helper;

// The slower of this core and the helper's, if there is one.
Reference reference() {
  if (helper == nullptr) return measure();
  helper->start();
  const Reference here = measure();
  const Reference there = helper->wait();
  return {std::max(here.dot_ns, there.dot_ns), std::max(here.busy_ns, there.busy_ns)};
}

}  // namespace

extern "C" {

// What is timed: function(argument), or one of the adapters below with its own argument.
using Call = void (*)(void*);

struct Sample {
  double dot_ns, busy_ns;              // reference loops
  double batch_ns;                     //
  double dot_after_ns, busy_after_ns;  // reference loops
  double switches;
};

// A C function of another library with up to three pointers, which returns 0 when all went well.
struct Foreign {
  void* function;
  void* arguments[3];
  std::intptr_t status;  // the first that was not 0
};

void gate_foreign(void* pointer) {
  auto* foreign = static_cast<Foreign*>(pointer);
  using Function = std::intptr_t (*)(void*, void*, void*);
  const std::intptr_t status = reinterpret_cast<Function>(foreign->function)(
      foreign->arguments[0], foreign->arguments[1], foreign->arguments[2]);
  if (foreign->status == 0) foreign->status = status;
}

// The same for functions that return a 32-bit status.
void gate_foreign_int(void* pointer) {
  auto* foreign = static_cast<Foreign*>(pointer);
  using Function = int (*)(void*, void*, void*);
  const int status = reinterpret_cast<Function>(foreign->function)(
      foreign->arguments[0], foreign->arguments[1], foreign->arguments[2]);
  if (foreign->status == 0) foreign->status = status;
}

// Multiply-accumulates of one run of the loop of dot products.
double gate_macs() { return kMacsPerIteration * static_cast<double>(kIterations); }

void gate_reference(double* dot_ns, double* busy_ns) {
  const Reference found = reference();
  *dot_ns = found.dot_ns;
  *busy_ns = found.busy_ns;
}

// From now on references are measured on this core, too; -1: on the calling thread's only.
void gate_help_on(int core) { helper = core < 0 ? nullptr : std::make_unique<Helper>(core); }

// `count` samples of `calls` calls each.
void gate_series(Call call, void* argument, std::int64_t calls, std::int64_t count,
                 Sample* samples) {
  reference();  // the vector units reach their clock
  Reference before = reference();
  for (std::int64_t i = 0; i < count; ++i) {
    const long switched = switches();
    const double begin = now_ns();
    for (std::int64_t k = 0; k < calls; ++k) call(argument);
    const double batch = now_ns() - begin;
    const auto switched_in_batch = static_cast<double>(switches() - switched);
    const Reference after = reference();
    samples[i] = {before.dot_ns, before.busy_ns, batch,
                  after.dot_ns,  after.busy_ns,  static_cast<double>(switches() - switched)};
    before = after;
  }
}

}  // extern "C"

// The clock of tools/bench-x86. A shared machine runs at full speed or at about half of it for
// seconds at a time, so every batch of calls stands between two runs of a reference loop of known
// speed (independent dot products, which nothing but the clock can slow down); the Python side
// drops batches whose neighbours were not at full speed. The loop is also the peak that kernels are
// compared with: nothing multiplies more bytes per second on one core.
#include <sys/resource.h>
#include <time.h>

#include <cstdint>

namespace {

double now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Times this process was put aside for another one while it still had work.
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

double reference(std::int64_t iterations) {
  const double begin = now_ns();
  loop(iterations);
  return now_ns() - begin;
}

}  // namespace

extern "C" {

// What is timed: function(argument), or one of the adapters below with its own argument.
using Call = void (*)(void*);

struct Sample {
  double before_ns;  // reference loop
  double batch_ns;
  double after_ns;
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

double gate_macs_per_iteration() { return kMacsPerIteration; }
double gate_reference(std::int64_t iterations) { return reference(iterations); }

// `count` samples of `calls` calls each.
void gate_series(Call call, void* argument, std::int64_t calls, std::int64_t iterations,
                 std::int64_t count, Sample* samples) {
  reference(iterations);  // brings the vector units to their clock
  double before = reference(iterations);
  for (std::int64_t i = 0; i < count; ++i) {
    const long switched = switches();
    const double begin = now_ns();
    for (std::int64_t k = 0; k < calls; ++k) call(argument);
    const double batch = now_ns() - begin;
    const double after = reference(iterations);
    samples[i] = {before, batch, after, static_cast<double>(switches() - switched)};
    before = after;
  }
}

}  // extern "C"

// Which of the x86-64 instruction sets that Etch has code for can be executed here: what the
// processor has (CPUID) and what the operating system saves on a context switch (XGETBV). Asking
// takes microseconds in a virtual machine, so it is done once, by the caller, which keeps the
// answer; the decision itself is a function of what was read, which tests give it. Needs GCC or
// clang. C++17, freestanding; functions are static, so that files compiled for different
// instruction sets can be linked together.
#pragma once

#if !defined(__x86_64__)
#error "etch: this network was generated for x86-64"
#endif

#include <cpuid.h>
#include <stdint.h>

namespace etch {
namespace rt {

// What was read: registers of CPUID leaves, and which register sets the system saves (XCR0).
struct Cpu {
  uint32_t leaf1_c;
  uint32_t leaf7_b, leaf7_c;
  uint32_t leaf7_1_a;  // of subleaf 1
  uint32_t saved;
};

static inline Cpu read_cpu() {
  Cpu cpu = {0, 0, 0, 0, 0};
  uint32_t a = 0, b = 0, c = 0, d = 0;
  __cpuid(0, a, b, c, d);
  const uint32_t last_leaf = a;
  __cpuid(1, a, b, c, d);
  cpu.leaf1_c = c;
  if (last_leaf >= 7) {
    __cpuid_count(7, 0, a, b, c, d);
    cpu.leaf7_b = b;
    cpu.leaf7_c = c;
    if (a >= 1) {
      __cpuid_count(7, 1, a, b, c, d);
      cpu.leaf7_1_a = a;
    }
  }
  if ((cpu.leaf1_c >> 27 & 1) != 0) {  // OSXSAVE: XGETBV may be used
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    cpu.saved = a;
  }
  return cpu;
}

static inline bool has_bit(uint32_t word, int bit) { return (word >> bit & 1) != 0; }

static inline bool has_sse41(const Cpu& cpu) { return has_bit(cpu.leaf1_c, 19); }

// AVX2, FMA, F16C, and 256-bit registers that are saved.
static inline bool has_avx2(const Cpu& cpu) {
  return has_sse41(cpu) && has_bit(cpu.leaf1_c, 28) && has_bit(cpu.leaf1_c, 12) &&
         has_bit(cpu.leaf1_c, 29) && has_bit(cpu.leaf7_b, 5) && (cpu.saved & 0x6) == 0x6;
}

static inline bool has_avx_vnni(const Cpu& cpu) {
  return has_avx2(cpu) && has_bit(cpu.leaf7_1_a, 4);
}

// AVX-512 F, DQ, BW, VL and VNNI, and 512-bit and mask registers that are saved.
static inline bool has_avx512_vnni(const Cpu& cpu) {
  return has_avx2(cpu) && has_bit(cpu.leaf7_b, 16) && has_bit(cpu.leaf7_b, 17) &&
         has_bit(cpu.leaf7_b, 30) && has_bit(cpu.leaf7_b, 31) && has_bit(cpu.leaf7_c, 11) &&
         (cpu.saved & 0xe6) == 0xe6;
}

}  // namespace rt
}  // namespace etch

// Which of the instruction sets of 64-bit Arm that Etch has code for can be executed here: what
// Linux says of the processor and itself (AT_HWCAP, AT_HWCAP2), or what macOS and iOS say
// (hw.optional.arm). Other systems are not asked: there it is what the flags allow that this file
// is compiled with. The decision is a function of what was read, which tests give it. Needs GCC or
// clang. C++17; functions are static, so that files compiled for different instruction sets can be
// linked together.
#pragma once

#if !defined(__aarch64__)
#error "etch: this network was generated for 64-bit Arm"
#endif

#include <stddef.h>
#include <stdint.h>
#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace etch {
namespace rt {

// What was read: bits as in Linux's <asm/hwcap.h>.
struct Cpu {
  uint64_t hwcap, hwcap2;
};

constexpr int kArmDotProducts = 20;  // of hwcap: ASIMDDP
constexpr int kArmI8mm = 13;         // of hwcap2: I8MM

#if defined(__APPLE__)
// A system older than the name of a feature does not say that the processor has it.
static inline bool apple_says(const char* feature) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(feature, &value, &size, nullptr, 0) == 0 && value != 0;
}
#endif

static inline Cpu read_cpu() {
  Cpu cpu = {0, 0};
#if defined(__linux__)
  cpu.hwcap = getauxval(AT_HWCAP);
  cpu.hwcap2 = getauxval(AT_HWCAP2);
#else
#if defined(__APPLE__)
  if (apple_says("hw.optional.arm.FEAT_DotProd")) cpu.hwcap |= uint64_t{1} << kArmDotProducts;
  if (apple_says("hw.optional.arm.FEAT_I8MM")) cpu.hwcap2 |= uint64_t{1} << kArmI8mm;
#endif
#if defined(__ARM_FEATURE_DOTPROD)
  cpu.hwcap |= uint64_t{1} << kArmDotProducts;
#endif
#if defined(__ARM_FEATURE_MATMUL_INT8)
  cpu.hwcap2 |= uint64_t{1} << kArmI8mm;
#endif
#endif
  return cpu;
}

static inline bool has_aarch64_dotprod(const Cpu& cpu) {
  return (cpu.hwcap >> kArmDotProducts & 1) != 0;
}

static inline bool has_aarch64_i8mm(const Cpu& cpu) {
  return has_aarch64_dotprod(cpu) && (cpu.hwcap2 >> kArmI8mm & 1) != 0;
}

}  // namespace rt
}  // namespace etch

// See fit.h. Names of Kconfig symbols are those of Zephyr 3.7, of boards those of the platforms'
// own lists; a family of boards has CPUs of several kinds, among which #error decides.
#include "compiler/emit/package/fit.h"

#include <algorithm>
#include <iterator>

#include "compiler/targets/targets.h"

namespace etch {
namespace {

struct Row {
  std::string_view target;
  PackageFit fit;
};

constexpr std::string_view kEspRiscv = "esp32c2 esp32c3 esp32c5 esp32c6 esp32c61 esp32h2 esp32p4";
constexpr std::string_view kDsp = "CPU_CORTEX_M4 || CPU_CORTEX_M7 || ARMV8_M_DSP";
constexpr std::string_view kDspCpu = "a Cortex-M with DSP instructions";
constexpr std::string_view kM4Boards = "apollo3,mbed_nano,nrf52,renesas_uno,samd,stm32";
constexpr std::string_view kM33Boards = "renesas_portenta,rp2040,silabs,stm32";
constexpr std::string_view kM4Platforms =
    R"(["atmelsam", "nordicnrf52", "nxplpc", "renesas-ra", "siliconlabsefm32", "ststm32", "teensy"])";
constexpr std::string_view kM33Platforms =
    R"(["nxplpc", "raspberrypi", "renesas-ra", "siliconlabsefm32", "ststm32"])";
constexpr std::string_view kArm64Platforms = R"(["linux_arm", "native"])";
constexpr std::string_view kRiscvPlatforms = R"(["espressif32", "gd32v", "native", "sifive"])";

constexpr Row kRows[] = {
    {"scalar", {.espressif = "*", .cortex_m = CortexM::kAny}},
    {"cortex-m0",
     {"CPU_CORTEX_M",
      "a Cortex-M",
      {},
      "mbed_rp2040,nrf5,rp2040,samd,stm32",
      R"(["atmelsam", "nordicnrf51", "nxplpc", "raspberrypi", "ststm32"])",
      CortexM::kBase}},
    {"cortex-m3",
     {"ARMV7_M_ARMV8_M_MAINLINE",
      "a Cortex-M3 or more",
      {},
      "sam,stm32",
      R"(["atmelsam", "nxplpc", "siliconlabsefm32", "ststm32"])",
      CortexM::kV7}},
    {"cortex-m4", {kDsp, kDspCpu, {}, kM4Boards, kM4Platforms, CortexM::kDsp}},
    {"cortex-m4-nofp", {kDsp, kDspCpu, {}, kM4Boards, kM4Platforms, CortexM::kDsp}},
    {"cortex-m7",
     {kDsp,
      kDspCpu,
      {},
      "mbed_giga,mbed_opta,mbed_portenta,stm32",
      R"(["atmelsam", "nxpimxrt", "ststm32", "teensy"])",
      CortexM::kDsp}},
    {"cortex-m33", {kDsp, kDspCpu, {}, kM33Boards, kM33Platforms, CortexM::kDsp}},
    {"cortex-m33-nofp", {kDsp, kDspCpu, {}, kM33Boards, kM33Platforms, CortexM::kDsp}},
    {"cortex-m55",
     {"ARMV8_1_M_MVEI && ARMV8_1_M_MVEF",
      "a Cortex-M with Helium for integers and floats",
      {},
      "renesas,stm32",
      R"(["renesas-ra", "ststm32"])",
      CortexM::kHelium}},
    {"cortex-r5", {"CPU_AARCH32_CORTEX_R", "a Cortex-R", {}, "*", R"(["native"])"}},
    {"armv7-neon", {"CPU_AARCH32_CORTEX_A", "a 32-bit Cortex-A", {}, "*", kArm64Platforms}},
    {"aarch64", {"ARM64", "a 64-bit Arm CPU", {}, "*", kArm64Platforms}},
    {"aarch64-dotprod", {"ARM64", "a 64-bit Arm CPU", {}, "*", kArm64Platforms}},
    {"aarch64-i8mm", {"ARM64", "a 64-bit Arm CPU", {}, "*", kArm64Platforms}},
    {"riscv64", {"RISCV && 64BIT", "a 64-bit RISC-V CPU", {}, "*", kRiscvPlatforms}},
    {"riscv64-rvv", {"RISCV && 64BIT", "a 64-bit RISC-V CPU", {}, "*", kRiscvPlatforms}},
    {"riscv32imac",
     {"RISCV && !64BIT", "a 32-bit RISC-V CPU", kEspRiscv, "esp32", kRiscvPlatforms}},
};

// Of every instruction set that isas.def has beside the portable one.
constexpr PackageFit kX86 = {"X86 || ARCH_POSIX", "an x86-64 CPU", {}, "*", R"(["native"])"};

}  // namespace

PackageFit package_fit(std::string_view target) {
  const auto* const found = std::ranges::find(kRows, target, &Row::target);
  if (found != std::end(kRows)) return found->fit;
  const bool known =
      std::ranges::find(all_targets(), target, &IsaTraits::name) != all_targets().end();
  return known ? kX86 : PackageFit{};
}

bool asks_for_fpu(const Program& program) {
  return program.needs_floats && !program.isa.float_macro.empty();
}

}  // namespace etch

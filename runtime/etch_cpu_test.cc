// The decision which instruction sets a CPU has, on registers as real processors give them and on
// systems that do not save all of theirs, and on this machine.
#include "runtime/etch_cpu.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/targets/targets.h"

namespace etch {
namespace {

constexpr std::uint32_t bit(int n) { return std::uint32_t{1} << n; }

constexpr std::uint32_t kSse41 = bit(19), kFma = bit(12), kOsxsave = bit(27), kAvx = bit(28);
constexpr std::uint32_t kF16c = bit(29);
constexpr std::uint32_t kHaswell = kSse41 | kFma | kOsxsave | kAvx | kF16c;
constexpr std::uint32_t kAvx2 = bit(5);
constexpr std::uint32_t kAvx512 = bit(16) | bit(17) | bit(30) | bit(31);
constexpr std::uint32_t kVnni512 = bit(11), kVnni256 = bit(4);
constexpr std::uint32_t kSavesSse = 0x3, kSavesAvx = 0x7, kSavesAll = 0xe7;

// What `cpu` has, in words.
std::string sets_of(const rt::Cpu& cpu) {
  std::string out;
  if (rt::has_sse41(cpu)) out += "sse41 ";
  if (rt::has_avx2(cpu)) out += "avx2 ";
  if (rt::has_avx_vnni(cpu)) out += "avx_vnni ";
  if (rt::has_avx512_vnni(cpu)) out += "avx512_vnni ";
  return out;
}

TEST(Cpu, HasWhatItsRegistersSay) {
  EXPECT_EQ(sets_of({0, 0, 0, 0, 0}), "");
  EXPECT_EQ(sets_of({kSse41, 0, 0, 0, 0}), "sse41 ");
  EXPECT_EQ(sets_of({kHaswell, kAvx2, 0, 0, kSavesAvx}), "sse41 avx2 ");
  EXPECT_EQ(sets_of({kHaswell, kAvx2, 0, kVnni256, kSavesAvx}), "sse41 avx2 avx_vnni ");
  EXPECT_EQ(sets_of({kHaswell, kAvx2 | kAvx512, kVnni512, 0, kSavesAll}),
            "sse41 avx2 avx512_vnni ");
  EXPECT_EQ(sets_of({kHaswell, kAvx2 | kAvx512, kVnni512, kVnni256, kSavesAll}),
            "sse41 avx2 avx_vnni avx512_vnni ");
}

TEST(Cpu, HasNothingWhoseRegistersTheSystemDoesNotSave) {
  const std::uint32_t all = kAvx2 | kAvx512;
  EXPECT_EQ(sets_of({kHaswell, all, kVnni512, kVnni256, kSavesAvx}), "sse41 avx2 avx_vnni ");
  EXPECT_EQ(sets_of({kHaswell, all, kVnni512, kVnni256, kSavesSse}), "sse41 ");
  for (const std::uint32_t part : {0x20U, 0x40U, 0x80U})
    EXPECT_FALSE(rt::has_avx512_vnni({kHaswell, all, kVnni512, kVnni256, kSavesAll & ~part}));
}

TEST(Cpu, NeedsEveryExtensionThatTheCodeIsCompiledWith) {
  for (const std::uint32_t part : {kSse41, kFma, kAvx, kF16c})
    EXPECT_FALSE(rt::has_avx2({kHaswell & ~part, kAvx2, 0, 0, kSavesAll})) << part;
  for (const int part : {16, 17, 30, 31}) {
    const std::uint32_t rest = (kAvx2 | kAvx512) & ~bit(part);
    EXPECT_FALSE(rt::has_avx512_vnni({kHaswell, rest, kVnni512, 0, kSavesAll})) << part;
  }
  EXPECT_FALSE(rt::has_avx512_vnni({kHaswell, kAvx2 | kAvx512, 0, kVnni256, kSavesAll}));
}

// The compiler asks in another way.
TEST(Cpu, AgreesWithWhatTheCompilerFindsHere) {
  const rt::Cpu cpu = rt::read_cpu();
  EXPECT_EQ(rt::has_sse41(cpu), target_runs_here("sse41"));
  EXPECT_EQ(rt::has_avx2(cpu), target_runs_here("avx2"));
  EXPECT_EQ(rt::has_avx_vnni(cpu), target_runs_here("avx_vnni"));
  EXPECT_EQ(rt::has_avx512_vnni(cpu), target_runs_here("avx512_vnni"));
}

}  // namespace
}  // namespace etch

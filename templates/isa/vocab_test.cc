// Every instruction set's verbs against the portable model in templates/native.h, bit for bit, on
// extreme and random values, at the edge of a page that must not be touched.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "compiler/compile.h"
#include "compiler/schedule/targets.h"
#include "templates/isa/vocab_check.h"
#include "templates/native.h"

#define ETCH_ISA(folder)                                                     \
  extern "C" void etch_vocab_check_##folder(const etch::vocab_check::Input*, \
                                            etch::vocab_check::Output*);
#include "templates/isa/isas.def"
#undef ETCH_ISA

namespace etch {
namespace {

using vocab_check::Input;
using vocab_check::kMostLanes;
using vocab_check::kWindow;
using vocab_check::Output;

// Memory that ends where the process may go no further.
class GuardedPage {
 public:
  GuardedPage() : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* const start =
        mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ETCH_CHECK(start != MAP_FAILED);
    start_ = static_cast<std::uint8_t*>(start);
    ETCH_CHECK(mprotect(start_ + size_, size_, PROT_NONE) == 0);
  }
  ~GuardedPage() { munmap(start_, 2 * size_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  std::uint8_t* end() { return start_ + size_; }

 private:
  std::size_t size_;
  std::uint8_t* start_ = nullptr;
};

class Values {
 public:
  explicit Values(unsigned seed) : random_(seed) {}

  std::uint32_t bits() { return static_cast<std::uint32_t>(random_()); }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint32_t>(n)); }

  std::int32_t integer() {
    constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t kExtremes[] = {0,      1,     -1,    127,    -128,      255,
                                          256,    32767, 32768, -32768, -32769,    -33023,
                                          -32513, 65535, kMost, -kMost, -kMost - 1};
    switch (below(3)) {
      case 0:
        return kExtremes[below(std::size(kExtremes))];
      case 1:
        return below(140000) - 70000;
      default:
        return static_cast<std::int32_t>(bits());
    }
  }

  std::uint8_t byte() {
    constexpr std::uint8_t kExtremes[] = {0, 255, 128, 127, 1};
    if (below(3) == 0) return kExtremes[below(std::size(kExtremes))];
    return static_cast<std::uint8_t>(bits());
  }

  std::int8_t weight() { return static_cast<std::int8_t>(byte()); }

  float real() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kExtremes[] = {0.0F,      -0.0F,   kInfinity, -kInfinity, kNan,    1e-45F,
                                   -1.1e-38F, 3.4e38F, -3.4e38F,  1.0F,       -127.5F, 255.5F};
    switch (below(4)) {
      case 0:
        return kExtremes[below(std::size(kExtremes))];
      case 1:
        return any_bits();
      case 2:
        return static_cast<float>(integer());
      default:
        return static_cast<float>(below(2000001) - 1000000) / 4096.0F;
    }
  }

  // A value that rounds to an int32; often half way between two.
  float moderate() {
    switch (below(4)) {
      case 0:
        return static_cast<float>(below(2001) - 1000) / 2;
      case 1:
        return std::ldexp(static_cast<float>(below(1 << 24) - (1 << 23)), below(9) - 1);
      case 2:
        return std::ldexp(static_cast<float>(integer() / 2), -below(40));
      default:
        return below(2) == 0 ? -0.0F : 2147483520.0F;
    }
  }

  // In (0, 0.99]; powers of two make ties.
  float scale() {
    if (below(3) == 0) return std::ldexp(1.0F, -1 - below(24));
    return std::ldexp(0.99F * static_cast<float>(below(1 << 24) + 1), -24 - below(20));
  }

 private:
  float any_bits() {
    const std::uint32_t pattern = bits();
    float value = 0;
    std::memcpy(&value, &pattern, sizeof value);
    return value;
  }

  std::mt19937 random_;
};

// The data that Input points to.
struct Data {
  alignas(64) std::int32_t integers[5 * kMostLanes];
  alignas(64) std::int32_t sums[kMostLanes];
  alignas(64) float scales[kMostLanes];
  alignas(64) float reals[3 * kMostLanes];
  alignas(64) float moderate[kMostLanes];
  alignas(64) std::uint8_t bytes[4 * kWindow];
  std::int32_t factors[5 * kMostLanes];
  std::int32_t corrections[2 * kMostLanes];
  std::int32_t scale_bits[kMostLanes];
  alignas(64) std::uint8_t weights[4 * 2 * kWindow];
  alignas(64) std::uint8_t unit_weights[4 * 2 * kWindow];
  Input input{};
};

void pack_weight(const IsaTraits& isa, std::uint8_t* vector, int lane, int k, std::int8_t value) {
  if (isa.weight_form == WeightForm::kS8x4) {
    vector[4 * lane + k] = static_cast<std::uint8_t>(value);
    return;
  }
  std::uint8_t* const word = vector + (k % 2) * 4 * isa.lanes + 4 * lane + 2 * (k / 2);
  word[0] = static_cast<std::uint8_t>(value);
  word[1] = value < 0 ? 0xFF : 0;
}

void fill_weights(const IsaTraits& isa, Values& values, Data& data) {
  for (int i = 0; i < 4; ++i) {
    for (int lane = 0; lane < isa.lanes; ++lane) {
      for (int k = 0; k < 4; ++k) {
        pack_weight(isa, data.weights + i * isa.weight_bytes(), lane, k, values.weight());
        pack_weight(isa, data.unit_weights + i * isa.weight_bytes(), lane, k, i == k ? 1 : 0);
      }
    }
  }
}

// Multipliers, offsets of at most 2^61, shifts, offsets for odd results; values to correct;
// scales of any size.
void fill_requantization(const IsaTraits& isa, Values& values, Data& data) {
  for (int c = 0; c < isa.lanes; ++c) {
    const auto at = [&](int kind) { return kind * isa.lanes + c; };
    data.factors[at(0)] = values.integer() & 0x7fffffff;
    data.factors[at(1)] = static_cast<std::int32_t>(values.bits());
    data.factors[at(2)] = static_cast<std::int32_t>(values.bits()) >> (2 + values.below(30));
    data.factors[at(3)] = values.below(32);
    data.factors[at(4)] = values.below(2) == 0 ? 0 : values.integer();
    data.corrections[at(0)] = values.below(2) == 0 ? data.integers[c] : values.integer();
    data.corrections[at(1)] = values.below(3) - 1;
    const float scale = values.below(4) == 0 ? 1.0F + values.scale() : values.scale();
    std::memcpy(data.scale_bits + c, &scale, sizeof scale);
    if (values.below(3) == 0) data.scale_bits[c] = 0;
  }
}

// Makes some of a * b + c cancel to the rounding error of the product.
void make_sums_cancel(float* reals) {
  for (int c = 0; c < kMostLanes; c += 3) {
    reals[2 * kMostLanes + c] = -(reals[c] * reals[kMostLanes + c]);
  }
}

std::unique_ptr<Data> random_data(const IsaTraits& isa, unsigned seed, std::uint8_t* page_end) {
  auto data = std::make_unique<Data>();
  Values values(seed);
  for (std::int32_t& v : data->integers) v = values.integer();
  for (std::int32_t& v : data->sums) v = values.integer();
  for (float& v : data->scales) v = values.scale();
  for (float& v : data->reals) v = values.real();
  for (float& v : data->moderate) v = values.moderate();
  for (std::uint8_t& v : data->bytes) v = values.byte();
  make_sums_cancel(data->reals);
  fill_weights(isa, values, *data);
  fill_requantization(isa, values, *data);
  const int zero_point = values.byte();
  data->input = {.lanes = isa.lanes,
                 .weight_bytes = isa.weight_bytes(),
                 .integers = data->integers,
                 .sums = data->sums,
                 .scales = data->scales,
                 .reals = data->reals,
                 .moderate = data->moderate,
                 .factors = data->factors,
                 .corrections = data->corrections,
                 .scale_bits = data->scale_bits,
                 .low = static_cast<float>(-zero_point),
                 .high = static_cast<float>(255 - zero_point),
                 .bytes = data->bytes,
                 .weights = data->weights,
                 .unit_weights = data->unit_weights,
                 .zero_point = zero_point,
                 .page_end = page_end};
  return data;
}

void run_model(const IsaTraits& isa, const Input& in, Output& out) {
  NativeVerbs verbs(isa);
  vocab_check::EveryVerb<NativeVerbs>(verbs, in, out).run();
}

// Empty if both hold the same results.
std::string first_difference(const Output& expected, const Output& actual) {
  if (expected.results != actual.results) return "different numbers of results";
  int begin = 0;
  for (int r = 0; r < expected.results; ++r) {
    if (expected.end[r] != actual.end[r]) return "results of different sizes";
    for (int i = begin; i < expected.end[r]; ++i) {
      if (expected.data[i] == actual.data[i]) continue;
      return std::string(expected.verb[r]) + ": byte " + std::to_string(i - begin) + " of result " +
             std::to_string(r) + " is " + std::to_string(actual.data[i]) + ", expected " +
             std::to_string(expected.data[i]);
    }
    begin = expected.end[r];
  }
  return {};
}

struct Vocabulary {
  const char* isa;
  void (*check)(const Input*, Output*);
};

class EveryVocabulary : public testing::TestWithParam<Vocabulary> {};

TEST_P(EveryVocabulary, AgreesWithTheModelBitForBit) {
  const Vocabulary& vocabulary = GetParam();
  if (!target_runs_here(vocabulary.isa)) GTEST_SKIP() << "this CPU lacks " << vocabulary.isa;
  const IsaTraits& isa = *find_target(vocabulary.isa);
  GuardedPage page;
  auto expected = std::make_unique<Output>();
  auto actual = std::make_unique<Output>();
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const auto data = random_data(isa, seed, page.end());
    expected->results = actual->results = 0;
    run_model(isa, data->input, *expected);
    vocabulary.check(&data->input, actual.get());
    ASSERT_EQ(first_difference(*expected, *actual), "") << "seed " << seed;
  }
}

constexpr Vocabulary kVocabularies[] = {
#define ETCH_ISA(folder) {#folder, etch_vocab_check_##folder},
#include "templates/isa/isas.def"
#undef ETCH_ISA
};

INSTANTIATE_TEST_SUITE_P(Isa, EveryVocabulary, testing::ValuesIn(kVocabularies),
                         [](const auto& tested) { return std::string(tested.param.isa); });

// Of the verbs in verbs.def, none is left out above.
TEST(VocabularyCheck, RunsEveryVerb) {
  GuardedPage page;
  auto out = std::make_unique<Output>();
  const IsaTraits& isa = *find_target("avx512_vnni");
  run_model(isa, random_data(isa, 1, page.end())->input, *out);
  ASSERT_LT(out->results, Output::kMostResults);
  std::set<std::string_view> seen(out->verb, out->verb + out->results);
  const std::set<std::string_view> listed = {
#define ETCH_VERB(Result, id, reads, writes) #id,
#define ETCH_UPDATE(id, reads, writes) #id,
#define ETCH_ACTION(id, reads, writes) #id,
#include "templates/verbs.def"
#undef ETCH_VERB
#undef ETCH_UPDATE
#undef ETCH_ACTION
  };
  EXPECT_EQ(seen, listed);
}

}  // namespace
}  // namespace etch

// Every instruction set's verbs against the portable model in templates/native.h, bit for bit, on
// extreme and random values, at the edge of a page that must not be touched.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "compiler/compile.h"
#include "compiler/targets/targets.h"
#include "templates/isa/vocab_data.h"

#define ETCH_ISA(folder)                                                     \
  extern "C" void etch_vocab_check_##folder(const etch::vocab_check::Input*, \
                                            etch::vocab_check::Output*);
#include "templates/isa/isas.def"
#undef ETCH_ISA

namespace etch {
namespace {

using vocab_check::first_difference;
using vocab_check::Input;
using vocab_check::input_of;
using vocab_check::Output;
using vocab_check::random_data;
using vocab_check::run_model;

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
    const auto data = random_data(isa, seed);
    const Input input = input_of(*data, page.end());
    expected->results = actual->results = 0;
    run_model(isa, input, *expected);
    vocabulary.check(&input, actual.get());
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
  const auto data = random_data(isa, 1);
  run_model(isa, input_of(*data, page.end()), *out);
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

// Asks the CPU which of the generated variants it has, once, and runs it: a network for machines
// that are not known when the program is built.
#include "anywhere.h"

#include <cstdio>

int main() {
  alignas(anywhere::kArenaAlignment) static unsigned char arena[anywhere::kArenaBytes];
  static float image[anywhere::kInput0Elements];
  static float logits[anywhere::kOutput0Elements];
  image[27] = image[35] = 1;
  const anywhere::Isa isa = anywhere::best_isa();
  anywhere::run(isa, image, logits, arena);
  float portable[anywhere::kOutput0Elements];
  anywhere::run(anywhere::Isa::kScalar, image, portable, arena);
  for (std::size_t i = 0; i < anywhere::kOutput0Elements; ++i) {
    if (logits[i] != portable[i]) return 1;  // every variant computes the same
  }
  std::printf("variant %d of the network agrees with the portable one\n", static_cast<int>(isa));
  return 0;
}

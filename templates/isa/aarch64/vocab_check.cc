// The verbs of vocab.h on given data, for templates/isa/vocab_test.cc. Compiled with the flags of
// flags.cmake; call it only on a CPU that has them.

#include "templates/isa/aarch64/vocab.h"

namespace isa = etch::aarch64;

#include "templates/isa/vocab_stage.h"

extern "C" void etch_vocab_check_aarch64(const etch::vocab_check::Input* in,
                                         etch::vocab_check::Output* out);

void etch_vocab_check_aarch64(const etch::vocab_check::Input* in, etch::vocab_check::Output* out) {
  etch::vocab_check::check_verbs(in, out);
}

// The verbs of one vocabulary on given data, for templates/isa/vocab_test.cc and
// vocab_cross_test.cc. Include after the vocabulary's vocab.h, with its folder as ETCH_VOCABULARY,
// and compile with the flags of its flags.cmake; defines etch_vocab_check_FOLDER, to be called only
// on a CPU that has them.

namespace isa = etch::ETCH_VOCABULARY;

#include "templates/isa/vocab_stage.h"

#define ETCH_VOCAB_JOIN(a, b) a##b
#define ETCH_VOCAB_NAME(folder) ETCH_VOCAB_JOIN(etch_vocab_check_, folder)

extern "C" void ETCH_VOCAB_NAME(ETCH_VOCABULARY)(const etch::vocab_check::Input* in,
                                                 etch::vocab_check::Output* out);

void ETCH_VOCAB_NAME(ETCH_VOCABULARY)(const etch::vocab_check::Input* in,
                                      etch::vocab_check::Output* out) {
  etch::vocab_check::check_verbs(in, out);
}

// The verbs of one vocab.h with the interface of a stage, to run vocab_check.h on. Include after
// that vocab.h and `namespace isa = etch::<isa>;`. Everything has internal linkage: see
// vocab_check.h.
#pragma once

#include "templates/isa/vocab_check.h"

namespace etch {
namespace vocab_check {
namespace {

class IsaStage {
 public:
#define ETCH_STAGE_TYPE(id) using id = isa::id;
#include "templates/types.def"
#undef ETCH_STAGE_TYPE

// Of the vocabulary's own types: see part().
#define ETCH_VERB(Result, id, reads, writes) \
  template <class... Args>                   \
  auto id(const char*, Args... args) {       \
    return isa::id(args...);                 \
  }
#define ETCH_UPDATE(id, reads, writes)  \
  template <class Value, class... Args> \
  void id(Value& acc, Args... args) {   \
    acc = isa::id(acc, args...);        \
  }
#define ETCH_ACTION(id, reads, writes) \
  template <class... Args>             \
  void id(Args... args) {              \
    isa::id(args...);                  \
  }
#include "templates/verbs.def"
#undef ETCH_VERB
#undef ETCH_UPDATE
#undef ETCH_ACTION

  // A type of its own, where verbs treat different lanes otherwise than one repeated.
  auto part(const QuadX& quad, int i) { return pick(quad.v0, quad.v1, quad.v2, quad.v3, i); }
  I32 part(const QuadI& quad, int i) { return pick(quad.v0, quad.v1, quad.v2, quad.v3, i); }

 private:
  template <class T>
  T pick(const T& v0, const T& v1, const T& v2, const T& v3, int i) {
    return i == 0 ? v0 : (i == 1 ? v1 : (i == 2 ? v2 : v3));
  }
};

inline void check_verbs(const Input* in, Output* out) {
  IsaStage stage;
  EveryVerb<IsaStage>(stage, *isa::base(in), *isa::base(out)).run();
}

}  // namespace
}  // namespace vocab_check
}  // namespace etch

// What a staged kernel is written against. A kernel is an ordinary C++ function template
//     template <class S> void kernel(S& s, const Plan& plan);
// Plain ints, structs, `if` and `for` are static: they are gone in the product. Values of the
// types in types.def live in the product: they can only be passed to the verbs of verbs.def.
//
// A stage S offers
//   S::Index                       a loop variable or a linear combination of them
//   S::Ptr<Element>                a typed pointer; p + i and p + 3 count in elements
//   S::I32, S::F32, ...            the types of types.def
//   s.isa()                        const IsaTraits&
//   s.operand<E>(i)                parameter i of the step; s.constant<E>("weights") its data
//   s.loop("row", n, [&](S::Index row) {...})      a loop that survives (n == 1: none)
//   s.base("xt", p)                starts a fresh pointer and keeps the compiler from moving
//                                  loads across it: begin each tile with one per pointer
//   s.inlined("tile_a", body, std::pair{"x", p}, ...)  body(Ptr...) as a function, inlined if short
//   s.part(quad, i)                vector i of a QuadX or QuadI
//   s.call(external::Fill{}, y, value, n)          calls a function of runtime/ or in assembly by
//                                  its descriptor; see templates/external.h
//   s.comment("...")
//   and every verb, whose first argument is the Name of its result.
#pragma once

#include <string>

#include "templates/isa/traits.h"

namespace etch {

// A readable name made of a stem and coordinates: Name("acc").at("p", 0).at("v", 1) is acc_p0_v1.
class Name {
 public:
  Name(const char* stem) : stem_(stem) {}  // NOLINT: literals are names
  Name at(const char* axis, int i) const {
    Name out = *this;
    out.axes_[out.count_] = axis;
    out.at_[out.count_++] = i;
    return out;
  }
  std::string text() const {
    std::string out = stem_;
    for (int i = 0; i < count_; ++i) {
      out.append("_").append(axes_[i]).append(std::to_string(at_[i]));
    }
    return out;
  }

 private:
  static constexpr int kMost = 4;
  const char* stem_;
  const char* axes_[kMost] = {};
  int at_[kMost] = {};
  int count_ = 0;
};

}  // namespace etch

// What descriptors of float products have in common: the last argument of their templates says how
// sums take a product (runtime/etch_float_steps.h), and generated code names it where it is not
// rt::Separate.
#pragma once

#include <string>

#include "compiler/ir/float_steps.h"
#include "runtime/etch_float_steps.h"
#include "templates/external.h"

namespace etch::external {

// "function<rt::Fused>" or "function<A, rt::Fused>", which lives as long as the program: one for
// each descriptor.
template <class Descriptor>
const std::string& fused_name(std::string_view function) {
  static const std::string kName = [&] {
    std::string out(function);
    const bool has_arguments = !out.empty() && out.back() == '>';
    if (has_arguments) out.pop_back();
    return out.append(has_arguments ? ", rt::Fused>" : "<rt::Fused>");
  }();
  return kName;
}

// `Descriptor` derives from it; its own name is that of Separate.
template <class Descriptor>
class ProductFunction : public RuntimeFunction {
 public:
  ProductFunction(std::string_view name, std::string_view header)
      : RuntimeFunction(name, header, FloatUse::kUsed) {}

  Descriptor with(FloatSteps steps) const {
    Descriptor out(static_cast<const Descriptor&>(*this));
    out.steps_ = steps;
    return out;
  }
  std::string_view name() const {
    const std::string_view own = RuntimeFunction::name();
    return steps_ == FloatSteps::kFused ? std::string_view(fused_name<Descriptor>(own)) : own;
  }

 protected:
  // Calls call(rt::Separate{}) or call(rt::Fused{}).
  template <class Call>
  void in_steps(Call call) const {
    if (steps_ == FloatSteps::kFused) return call(rt::Fused{});
    call(rt::Separate{});
  }

 private:
  FloatSteps steps_ = FloatSteps::kSeparate;
};

}  // namespace etch::external

// The activations of recurrent layers: names, how many, and their parameters. Lists of alpha and
// beta have one entry for each activation that takes one, in order; what is missing is a default.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/recurrent/op.h"

namespace etch {

namespace {

using GateKind = GateFunction::Kind;

struct Known {
  const char* name;       // in lower case: names may be spelled either way
  GateFunction function;  // with the defaults
  bool has_alpha = false, has_beta = false;
};

constexpr Known kKnown[] = {
    {"relu", {GateKind::kRelu, {}, 0, 0}},
    {"tanh", {GateKind::kOther, Function::kTanh, 0, 0}},
    {"sigmoid", {GateKind::kSigmoid, {}, 0, 0}},
    {"affine", {GateKind::kAffine, {}, 1, 0}, true, true},
    {"leakyrelu", {GateKind::kLeakyRelu, {}, 0.01F, 0}, true},
    {"thresholdedrelu", {GateKind::kOther, Function::kThresholdedRelu, 1, 0}, true},
    {"scaledtanh", {GateKind::kScaledTanh, {}, 1, 1}, true, true},
    {"hardsigmoid", {GateKind::kOther, Function::kHardSigmoid, 0.2F, 0.5F}, true, true},
    {"elu", {GateKind::kOther, Function::kElu, 1, 0}, true},
    {"softsign", {GateKind::kOther, Function::kSoftsign, 0, 0}},
    {"softplus", {GateKind::kOther, Function::kSoftplus, 0, 0}},
};

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

const Known* find(const std::string& name) {
  const std::string wanted = lower_case(name);
  const auto* found =
      std::ranges::find_if(kKnown, [&](const Known& k) { return k.name == wanted; });
  return found == std::end(kKnown) ? nullptr : found;
}

// The list of names; nothing where it is not given or has been refused.
std::vector<std::string> names_attr(ResolveContext& context, const char* name) {
  context.ignore_attr(name);
  const auto found = context.node().attributes.find(name);
  if (found == context.node().attributes.end()) return {};
  if (const auto* names = std::get_if<std::vector<std::string>>(&found->second)) return *names;
  context.attr_error(name, "must be a list of strings");
  return {};
}

std::vector<std::string> defaults(RecurrentCell cell) {
  if (cell == RecurrentCell::kRnn) return {"Tanh"};
  if (cell == RecurrentCell::kGru) return {"Sigmoid", "Tanh"};
  return {"Sigmoid", "Tanh", "Tanh"};
}

// Takes values from a list one by one.
class Values {
 public:
  Values(ResolveContext& context, const char* name)
      : context_(context), name_(name), given_(context.floats_attr(name)) {}

  void take(float& value) {
    if (!given_ || used_ == given_->size()) return;
    value = (*given_)[used_++];
    if (!std::isfinite(value)) context_.attr_error(name_, "must have finite values");
  }
  void finish() {
    if (given_ && used_ < given_->size()) {
      context_.attr_error(name_,
                          cat("has ", given_->size(), " values, but the activations take ", used_));
    }
  }

 private:
  ResolveContext& context_;
  const char* name_;
  std::optional<std::vector<float>> given_;
  std::size_t used_ = 0;
};

}  // namespace

bool resolve_activations(ResolveContext& context, Recurrence& r) {
  std::vector<std::string> names;
  for (std::int64_t d = 0; d < r.directions(); ++d) {
    for (std::string& name : defaults(r.cell)) names.push_back(std::move(name));
  }
  const std::size_t count = names.size();
  if (auto given = names_attr(context, "activations"); !given.empty()) names = std::move(given);
  if (names.size() != count) {
    context.attr_error("activations", cat("must have ", count, " names, got ", names.size()));
    return false;
  }
  Values alphas(context, "activation_alpha"), betas(context, "activation_beta");
  for (const std::string& name : names) {
    const Known* const known = find(name);
    if (known == nullptr) {
      context.attr_error("activations", cat("has an unknown name: '", printable(name), "'"));
      return false;
    }
    r.functions.push_back(known->function);
    if (known->has_alpha) alphas.take(r.functions.back().alpha);
    if (known->has_beta) betas.take(r.functions.back().beta);
  }
  alphas.finish();
  betas.finish();
  return !context.failed();
}

}  // namespace etch

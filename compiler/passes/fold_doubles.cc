// See fold_doubles.h.
#include "compiler/passes/fold_doubles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "compiler/ir/geometry/strided.h"

namespace etch {

namespace {

constexpr std::int64_t kMostElements = 1 << 16;

struct Operation {
  std::string_view op_type;
  std::size_t inputs;
  double (*compute)(double, double);  // the second is 0 where there is one input
};

constexpr Operation kOperations[] = {{"Add", 2, [](double a, double b) { return a + b; }},
                                     {"Sub", 2, [](double a, double b) { return a - b; }},
                                     {"Mul", 2, [](double a, double b) { return a * b; }},
                                     {"Div", 2, [](double a, double b) { return a / b; }},
                                     {"Sqrt", 1, [](double a, double) { return std::sqrt(a); }},
                                     {"Reciprocal", 1, [](double a, double) { return 1 / a; }},
                                     {"Neg", 1, [](double a, double) { return -a; }},
                                     {"Abs", 1, [](double a, double) { return std::fabs(a); }},
                                     {"Floor", 1, [](double a, double) { return std::floor(a); }},
                                     {"Ceil", 1, [](double a, double) { return std::ceil(a); }}};

const Operation* operation_of(const Node& node) {
  if (!node.domain.empty() || !node.attributes.empty() || node.outputs.size() != 1) return nullptr;
  const auto* const found = std::ranges::find(kOperations, node.op_type, &Operation::op_type);
  const bool fits = found != std::end(kOperations) && node.inputs.size() == found->inputs &&
                    node.outputs[0] != kNoValue;
  return fits ? found : nullptr;
}

// Null: no constant of float64.
const Tensor* double_of(const Graph& graph, ValueId id) {
  const Tensor* const tensor = id == kNoValue ? nullptr : graph.value(id).constant.get();
  return tensor != nullptr && tensor->dtype() == DType::kF64 ? tensor : nullptr;
}

}  // namespace

bool fold_doubles(Graph& graph, const Node& node) {
  const Operation* const operation = operation_of(node);
  if (operation == nullptr) return false;
  const Tensor* const a = double_of(graph, node.inputs.front());
  const Tensor* const b = double_of(graph, node.inputs.back());  // a itself where it is alone
  if (a == nullptr || b == nullptr || a->size() > kMostElements || b->size() > kMostElements)
    return false;
  const auto shape = broadcast_shape(a->shape(), b->shape());
  if (!shape || element_count(*shape) > kMostElements) return false;
  const StridedView a_view = broadcast_view(a->shape(), *shape);
  const StridedView b_view = broadcast_view(b->shape(), *shape);
  Tensor y(DType::kF64, *shape);
  auto to = y.as<double>().begin();
  for_each<2>(*shape, {&a_view, &b_view}, [&](const std::array<std::int64_t, 2>& at) {
    *to++ = operation->compute(a->as<double>()[static_cast<std::size_t>(at[0])],
                               b->as<double>()[static_cast<std::size_t>(at[1])]);
  });
  Value& value = graph.value(node.outputs[0]);
  value.dtype = DType::kF64;
  value.shape = *shape;
  value.constant = std::make_shared<const Tensor>(std::move(y));
  return true;
}

}  // namespace etch

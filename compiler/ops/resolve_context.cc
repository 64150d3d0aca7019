// What an operator's resolve() sees of its node: inputs, attributes, outputs, reporting.
#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/ir/four_bits.h"
#include "compiler/ir/limits.h"
#include "compiler/ir/origin.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {

template <class T>
constexpr std::string_view kTypeName = "";
template <>
constexpr std::string_view kTypeName<std::int64_t> = "an integer";
template <>
constexpr std::string_view kTypeName<float> = "a float";
template <>
constexpr std::string_view kTypeName<std::string> = "a string";
template <>
constexpr std::string_view kTypeName<std::vector<std::int64_t>> = "a list of integers";
template <>
constexpr std::string_view kTypeName<std::vector<float>> = "a list of floats";
template <>
constexpr std::string_view kTypeName<std::vector<std::string>> = "a list of strings";
template <>
constexpr std::string_view kTypeName<Tensor> = "a tensor";

std::string_view type_name(const Attribute& attribute) {
  return std::visit([](const auto& item) { return kTypeName<std::remove_cvref_t<decltype(item)>>; },
                    attribute);
}

// The attribute as T, or null with a report when it is something else.
template <class T>
const T* expect(const Attribute* attribute, const char* name, ResolveContext& context) {
  if (attribute == nullptr) return nullptr;
  const T* item = std::get_if<T>(attribute);
  if (item == nullptr) {
    context.attr_error(name, cat("must be ", kTypeName<T>, ", got ", type_name(*attribute)));
  }
  return item;
}

// The product of the sizes where 0 counts as 1, so that no later product can overflow whatever
// the order; null: above the limit.
std::optional<std::int64_t> bounded_count(const Shape& shape, std::int64_t most) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    const auto product = checked_mul(count, std::max<std::int64_t>(size, 1));
    if (!product || *product > most) return std::nullopt;
    count = *product;
  }
  return count;
}

// A declaration agrees when each size is equal or open (-1).
bool agrees(const Shape& declared, const Shape& inferred) {
  return std::equal(declared.begin(), declared.end(), inferred.begin(), inferred.end(),
                    [](std::int64_t d, std::int64_t i) { return d < 0 || d == i; });
}

}  // namespace

ResolveContext::ResolveContext(Graph& graph, Node& node, Sink& sink)
    : graph_(graph), node_(node), sink_(sink) {}

std::int64_t ResolveContext::opset() const { return graph_.opset(node_.domain); }

bool ResolveContext::has_input(int i) const {
  return i < input_count() && node_.inputs[static_cast<std::size_t>(i)] != kNoValue;
}

const Value& ResolveContext::input(int i) const {
  ETCH_CHECK(has_input(i));
  return graph_.value(node_.inputs[static_cast<std::size_t>(i)]);
}

const Tensor* ResolveContext::constant(int i) const {
  return has_input(i) ? input(i).constant.get() : nullptr;
}

std::optional<Tensor> ResolveContext::dequantized_constant(int i) const {
  const ValueId id = node_.inputs[static_cast<std::size_t>(i)];
  const auto maker = std::ranges::find_if(graph_.nodes, [&](const Node& node) {
    // One that is not resolved may have no outputs.
    return node.params.has_value() && node.outputs[0] == id && node.op_type == "DequantizeLinear";
  });
  if (maker == graph_.nodes.end()) return std::nullopt;
  std::vector<const Tensor*> inputs;
  for (const ValueId input : maker->inputs) {
    inputs.push_back(input == kNoValue ? nullptr : graph_.value(input).constant.get());
    if (input != kNoValue && inputs.back() == nullptr) return std::nullopt;
  }
  return std::move(maker->op->reference(*maker, inputs).at(0));
}

const Attribute* ResolveContext::find(const char* name) {
  used_.emplace_back(name);
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? nullptr : &found->second;
}

std::int64_t ResolveContext::int_attr(const char* name, std::int64_t fallback) {
  const auto* item = expect<std::int64_t>(find(name), name, *this);
  return item == nullptr ? fallback : *item;
}

float ResolveContext::float_attr(const char* name, float fallback) {
  const auto* item = expect<float>(find(name), name, *this);
  return item == nullptr ? fallback : *item;
}

std::string ResolveContext::string_attr(const char* name, const std::string& fallback) {
  const auto* item = expect<std::string>(find(name), name, *this);
  return item == nullptr ? fallback : *item;
}

std::optional<std::vector<std::int64_t>> ResolveContext::ints_attr(const char* name) {
  const auto* item = expect<std::vector<std::int64_t>>(find(name), name, *this);
  if (item == nullptr) return std::nullopt;
  return *item;
}

std::optional<std::vector<float>> ResolveContext::floats_attr(const char* name) {
  const auto* item = expect<std::vector<float>>(find(name), name, *this);
  if (item == nullptr) return std::nullopt;
  return *item;
}

std::optional<Tensor> ResolveContext::tensor_attr(const char* name) {
  const auto* item = expect<Tensor>(find(name), name, *this);
  if (item == nullptr) return std::nullopt;
  return *item;
}

bool ResolveContext::has_attr(const char* name) const { return node_.attributes.count(name) != 0; }

void ResolveContext::ignore_attr(const char* name) { used_.emplace_back(name); }

void ResolveContext::set_output(int i, DType dtype, Shape shape) {
  const auto index = static_cast<std::size_t>(i);
  if (index >= node_.outputs.size() || node_.outputs[index] == kNoValue) return;
  const std::string role = cat("output ", i, " ");
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; })) {
    return error(DiagKind::kShape, cat(role, "would have the shape ", to_string(shape)));
  }
  if (shape.size() > Limits::kRank) {
    return error(DiagKind::kLimit, cat(role, "would have the shape ", to_string(shape),
                                       ", at most rank ", Limits::kRank, " is possible"));
  }
  if (!bounded_count(shape, graph_.limits.elements)) {
    return error(DiagKind::kLimit,
                 cat(role, "would have the shape ", to_string(shape), ", of its elements ",
                     at_most(graph_.limits, &Limits::elements)));
  }
  Value& value = graph_.value(node_.outputs[index]);
  if (value.dtype.has_value() && *value.dtype != dtype) {
    error(DiagKind::kType,
          cat(role, "is declared as ", name_of(*value.dtype), ", computed as ", name_of(dtype)));
  }
  if (value.shape.has_value() && !agrees(*value.shape, shape)) {
    report_shape_conflict(node_.outputs[index], shape, role);
  }
  value.dtype = dtype;
  value.shape = std::move(shape);
}

void ResolveContext::set_constant_output(int i, DType dtype, const Shape& shape,
                                         const std::function<void(Tensor&)>& fill) {
  const auto index = static_cast<std::size_t>(i);
  if (index >= node_.outputs.size() || node_.outputs[index] == kNoValue) return;
  set_output(i, dtype, shape);
  if (failed_) return;
  if (!may_compute(element_count(shape) * bytes_of(dtype))) return;
  Tensor tensor(dtype, shape);
  fill(tensor);
  graph_.value(node_.outputs[index]).constant = std::make_shared<const Tensor>(std::move(tensor));
  node_.outputs[index] = kNoValue;
}

bool ResolveContext::may_compute(std::int64_t bytes) {
  if (bytes <= graph_.computed_bytes_left) {
    graph_.computed_bytes_left -= bytes;
    return true;
  }
  error(DiagKind::kLimit,
        cat("computed constants and tables would have more bytes than ", Limits::kComputedPerByte,
            " per byte of the model, and ", at_most(graph_.limits, &Limits::computed_bytes)));
  return false;
}

bool ResolveContext::may_list_positions(const Shape& sizes) {
  constexpr std::int64_t kBytes = 32;  // of a position, until it is text
  return may_compute(kBytes * std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
}

void ResolveContext::set_constant_output(int i, const Tensor& tensor) {
  set_constant_output(i, tensor.dtype(), tensor.shape(), [&](Tensor& out) { out = tensor; });
}

// What the file says of a graph output is a promise. What it says of an inner value is left behind
// where a tool has changed the batch, the user the shape of an input, or an exporter has guessed.
void ResolveContext::report_shape_conflict(ValueId value, const Shape& computed, std::string what) {
  what += cat("is declared as ", to_string(*graph_.value(value).shape), ", computed as ",
              to_string(computed));
  const auto& outputs = graph_.outputs;
  if (std::find(outputs.begin(), outputs.end(), value) != outputs.end()) {
    error(DiagKind::kShape, std::move(what));
  } else {
    warning(DiagKind::kShape, std::move(what));
  }
}

void ResolveContext::error(DiagKind kind, std::string what) {
  failed_ = true;
  sink_.report({Severity::kError, kind, node_.index, location_of(node_), std::move(what)});
}

void ResolveContext::attr_error(const char* name, std::string what) {
  failed_ = true;
  sink_.report({Severity::kError, DiagKind::kAttr, node_.index,
                cat(location_of(node_), " attribute '", printable(name), "'"), std::move(what)});
}

namespace {
bool is_index(const Value& value) {
  return value.dtype == DType::kS32 || value.dtype == DType::kS64;
}
}  // namespace

void ResolveContext::input_error(DiagKind kind, int i, const char* role, std::string what) {
  failed_ = true;
  sink_.report({Severity::kError, kind, node_.index,
                cat(location_of(node_), " input ", i, " (", role, ")"), std::move(what)});
}

// What decides a size may be an input some nodes before: the shape that a caller wants, for
// example.
void ResolveContext::needs_constant(int i, const char* role, std::string what) {
  failed_ = true;
  ValueId id = node_.inputs[static_cast<std::size_t>(i)];
  if (input_file_of(graph_, id) < 0) {
    constexpr std::int64_t kMostSizes = 32;  // more than the ranks of two tensors
    const ValueId from = only_input_of(graph_, id, kMostSizes);
    if (from != kNoValue && input_file_of(graph_, from) >= 0 && is_index(graph_.value(from))) {
      what += cat(", and is computed from the input '", printable(graph_.value(from).name), "'");
      id = from;
    }
  }
  sink_.report({Severity::kError, DiagKind::kUnsupported, node_.index,
                cat(location_of(node_), " input ", i, " (", role, ")"),
                std::move(what) + constant_hint(graph_, id), graph_.value(id).name,
                input_file_of(graph_, id)});
}

void ResolveContext::warning(DiagKind kind, std::string what) {
  sink_.report({Severity::kWarning, kind, node_.index, location_of(node_), std::move(what)});
}

void ResolveContext::report_unused_attributes() {
  for (const auto& [name, attribute] : node_.attributes) {
    if (name == kFourBits || std::find(used_.begin(), used_.end(), name) != used_.end()) continue;
    attr_error(name.c_str(), "is not an attribute of this operator");
  }
}

}  // namespace etch

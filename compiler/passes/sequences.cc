// See sequences.h.
#include "compiler/passes/sequences.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/limits.h"
#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/parts.h"

namespace etch {

struct Sequences::Operator {
  std::string_view type;
  std::size_t most_inputs;
  bool reads_list;  // its first input; the others are tensors
  void (Sequences::*write)(Parts&);
};
constexpr Sequences::Operator Sequences::kOperators[] = {
    {"SequenceConstruct", SIZE_MAX, false, &Sequences::construct},
    {"SequenceEmpty", 0, false, &Sequences::empty},
    {"SequenceInsert", 3, true, &Sequences::insert},
    {"SequenceErase", 2, true, &Sequences::erase},
    {"SequenceAt", 2, true, &Sequences::at},
    {"SequenceLength", 1, true, &Sequences::length},
    {"SplitToSequence", 2, false, &Sequences::split},
    {"ListOfSlices", 2, true, &Sequences::slices},
    {"ConcatFromSequence", 1, true, &Sequences::concat}};

const Sequences::Operator* Sequences::operator_of(const Node& node) {
  const auto* const found = std::ranges::find(kOperators, node.op_type, &Operator::type);
  if (found == std::end(kOperators)) return nullptr;
  const bool is_own = node.op_type == "ListOfSlices";
  return node.domain == (is_own ? kEtch : std::string_view()) ? found : nullptr;
}

namespace {
bool is_any_float(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kF16 || type == DType::kBF16;
}

// For each node that a graph may have: copies of lists multiply.
constexpr std::int64_t kElements = 64;
}  // namespace

bool Sequences::is_about(const Node& node) { return operator_of(node) != nullptr; }

bool Sequences::concerns(const Node& node) const {
  return is_about(node) || std::ranges::any_of(node.inputs, [&](ValueId id) { return has(id); });
}

std::vector<Node> Sequences::write(const Node& node) {
  Parts parts(graph_, node, sink_);
  const bool is_one = node.inputs.size() == 1 && node.outputs.size() == 1;
  if (node.op_type == "Identity" && node.domain.empty() && is_one) {
    const ValueId to = parts.output(0);
    if (to != kNoValue) make(parts, List(lists_.at(node.inputs[0])));
    return {};
  }
  if (!is_about(node)) {
    const auto list = std::ranges::find_if(node.inputs, [&](ValueId id) { return has(id); });
    parts.fail(DiagKind::kUnsupported,
               cat("reads '", printable(graph_.value(*list).name), "', a list of tensors: only ",
                   "operators of lists, an If whose condition is known, and a Loop that does ",
                   "nothing but append to it can be compiled"));
    return {};
  }
  const Operator& of = *operator_of(node);
  if (node.inputs.size() > of.most_inputs || node.outputs.size() > 1) {
    parts.fail(DiagKind::kGraph, "has more inputs or outputs than the operator");
    return {};
  }
  if (node.outputs.empty() || node.outputs[0] == kNoValue) return {};
  if (takes_tensors(parts, of.reads_list ? 1 : 0)) (this->*of.write)(parts);
  return parts.failed() ? std::vector<Node>() : parts.finish();
}

// That no input from `first` on is a list. False after a report.
bool Sequences::takes_tensors(Parts& parts, std::size_t first) {
  for (std::size_t i = first; i < parts.inputs(); ++i) {
    if (!has(parts.input(i))) continue;
    parts.fail(DiagKind::kType, cat("input ", i, " must be a tensor, and is a list of them"));
    return false;
  }
  return true;
}

// False after a report. An element that becomes a node counts as kElements.
bool Sequences::spend(Parts& parts, std::int64_t elements) {
  if (!has_room(parts, elements)) return false;
  elements_ += elements;
  return true;
}

// Before a list of so many is made. False after a report.
bool Sequences::has_room(Parts& parts, std::int64_t elements) {
  if (elements <= kElements * graph_.limits.nodes - elements_) return true;
  parts.fail(DiagKind::kLimit,
             cat("lists of tensors have too many elements or need too many nodes, ",
                 at_most(graph_.limits, &Limits::nodes)));
  return false;
}

void Sequences::make(Parts& parts, List list) {
  if (spend(parts, std::ssize(list))) lists_[parts.output(0)] = std::move(list);
}

const Sequences::List* Sequences::list_of(Parts& parts, std::size_t i) {
  const auto found = lists_.find(parts.input(i));
  if (found != lists_.end()) return &found->second;
  parts.fail(DiagKind::kType, cat("input ", i, " must be a list of tensors"));
  return nullptr;
}

std::optional<std::int64_t> Sequences::position(Parts& parts, std::size_t i, std::int64_t count) {
  Ints values;
  if (!parts.read(i, "position", values)) return std::nullopt;
  if (values.size() == 1 && values[0] >= -count && values[0] < count)
    return values[0] < 0 ? values[0] + count : values[0];
  parts.fail(DiagKind::kAttr, cat("the position must be in [", -count, ", ", count - 1, "]"));
  return std::nullopt;
}

// That input i has the type of the elements. False after a report.
bool Sequences::may_join(Parts& parts, const List& list, std::size_t i) {
  if (list.empty()) return true;
  const DType type = parts.dtype(i), others = *graph_.value(list[0].source).dtype;
  // Resolving has made float32 of other floats, except of constants.
  if (type == others || (is_any_float(type) && is_any_float(others))) return true;
  parts.fail(DiagKind::kType, cat("input ", i, " is ", name_of(type),
                                  ", and the other elements of the list are ", name_of(others)));
  return false;
}

void Sequences::construct(Parts& parts) {
  List list;
  for (std::size_t i = 0; i < parts.inputs(); ++i) {
    if (!parts.needs(i) || !may_join(parts, list, i)) return;
    list.push_back({parts.input(i), {}, 0, 0, false});
  }
  make(parts, std::move(list));
}

void Sequences::empty(Parts& parts) {
  parts.take<std::int64_t>("dtype", 1);
  make(parts, {});
}

void Sequences::length(Parts& parts) {
  const List* const list = list_of(parts, 0);
  if (list == nullptr) return;
  parts.add("Identity", {parts.constant(Tensor::of<std::int64_t>({}, {std::ssize(*list)}))});
}

void Sequences::insert(Parts& parts) {
  const List* const given = list_of(parts, 0);
  if (given == nullptr || !parts.needs(1) || !may_join(parts, *given, 1)) return;
  List list = *given;
  auto at = static_cast<std::int64_t>(list.size());
  if (parts.has_input(2)) {  // the number of elements is a position too
    const auto named = position(parts, 2, at + 1);
    if (!named) return;
    const Tensor& value = *parts.constant(2);
    at = value.integer(0) < 0 ? *named - 1 : *named;
    if (at < 0) return parts.fail(DiagKind::kAttr, "the position is before the first element");
  }
  list.insert(list.begin() + at, {parts.input(1), {}, 0, 0, false});
  make(parts, std::move(list));
}

void Sequences::erase(Parts& parts) {
  const List* const given = list_of(parts, 0);
  if (given == nullptr) return;
  List list = *given;
  std::int64_t at = std::ssize(list) - 1;
  if (list.empty()) return parts.fail(DiagKind::kAttr, "the list has no element");
  if (parts.has_input(1)) {
    const auto named = position(parts, 1, std::ssize(list));
    if (!named) return;
    at = *named;
  }
  list.erase(list.begin() + at);
  make(parts, std::move(list));
}

Sequences::List Sequences::parts_of(ValueId source, std::int64_t axis, const Ints& sizes,
                                    bool are_slices) {
  List out;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    out.push_back({source, axis, at, at + size, are_slices});
    at += size;
  }
  return out;
}

void Sequences::split(Parts& parts) {
  if (!parts.needs(0)) return;
  const Shape shape = parts.shape(0);
  const std::int64_t axis = parts.take_axis("axis", 0, shape.size());
  const bool keep = parts.take<std::int64_t>("keepdims", 1) != 0;
  if (axis < 0) return;
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  // As ONNX Runtime has it, and PyTorch's exporter relies on: parts of the one size 1 are slices,
  // too.
  bool may_be_slices = true;
  Ints sizes = {1};
  if (parts.has_input(1) && !parts.read(1, "split", sizes)) return;
  if (!parts.has_input(1) || (parts.shape(1).empty() && sizes[0] > 0)) {
    const std::int64_t each = std::min(sizes[0], std::max<std::int64_t>(size, 1));
    may_be_slices = sizes[0] == 1;
    if (!has_room(parts, size / each)) return;
    sizes.assign(static_cast<std::size_t>(size / each), each);
    if (size % each > 0) sizes.push_back(size % each);
  } else {
    may_be_slices = false;
  }
  std::int64_t sum = 0;
  bool fits = true;
  for (const std::int64_t each : sizes) {
    fits = fits && each >= 0 && each <= size - sum;
    sum += fits ? each : 0;
  }
  if (!fits || sum != size) {
    return parts.fail(DiagKind::kShape,
                      cat("the sizes of the parts must add up to ", size, " along axis ", axis));
  }
  make(parts, parts_of(parts.input(0), axis, sizes, may_be_slices && !keep));
}

void Sequences::slices(Parts& parts) {
  const List* const first = list_of(parts, 0);
  if (first == nullptr) return;
  List list = *first;
  if (!parts.needs(1)) return;
  if (parts.shape(1).empty()) return parts.fail(DiagKind::kShape, "a scalar has no slices");
  if (!has_room(parts, parts.shape(1)[0])) return;
  const Ints ones(static_cast<std::size_t>(parts.shape(1)[0]), 1);
  for (Element& each : parts_of(parts.input(1), 0, ones, true)) list.push_back(std::move(each));
  make(parts, std::move(list));
}

ValueId Sequences::tensor_of(Parts& parts, const Element& element) {
  if (!element.axis) return element.source;
  if (!element.is_slice)
    return parts.slice(element.source, *element.axis, element.begin, element.end);
  return parts.gather(element.source, parts.constant(Tensor::of<std::int64_t>({}, {element.begin})),
                      *element.axis);
}

// An element of a list that is all of one tensor, in order; else null.
const Sequences::Element* Sequences::whole(const List& list) const {
  if (list.empty() || !list[0].axis) return nullptr;
  const Element& first = list[0];
  std::int64_t at = 0;
  for (const Element& each : list) {
    if (each.source != first.source || each.axis != first.axis || each.begin != at ||
        each.is_slice != first.is_slice) {
      return nullptr;
    }
    at = each.end;
  }
  const Shape& shape = *graph_.value(first.source).shape;
  return at == shape[static_cast<std::size_t>(*first.axis)] ? &first : nullptr;
}

// The elements along a new axis.
ValueId Sequences::stacked(Parts& parts, const List& list, std::int64_t axis) {
  if (const Element* const all = whole(list); all != nullptr && all->is_slice) {
    Ints perm = count_up(graph_.value(all->source).shape->size());
    perm.erase(perm.begin() + *all->axis);
    perm.insert(perm.begin() + axis, *all->axis);
    return parts.transpose(all->source, perm);
  }
  if (!spend(parts, kElements * std::ssize(list))) return kNoValue;
  std::vector<ValueId> tensors;
  const ValueId place = parts.ints({axis});
  for (const Element& each : list) {
    const ValueId tensor = tensor_of(parts, each);
    const bool is_old = parts.onnx_opset() < 13;
    tensors.push_back(is_old ? parts.add("Unsqueeze", {tensor}, {{"axes", Ints{axis}}})
                             : parts.add("Unsqueeze", {tensor, place}));
  }
  return parts.concat(tensors, axis);
}

void Sequences::at(Parts& parts) {
  const List* const list = list_of(parts, 0);
  if (list == nullptr || !parts.needs(1)) return;
  if (list->empty()) return parts.fail(DiagKind::kAttr, "the list has no element");
  if (parts.constant(1) != nullptr) {
    const auto which = position(parts, 1, std::ssize(*list));
    if (which) parts.give(0, tensor_of(parts, (*list)[static_cast<std::size_t>(*which)]));
    return;
  }
  if (element_count(parts.shape(1)) != 1)
    return parts.fail(DiagKind::kShape, "the position must be one number");
  const Element* const all = whole(*list);
  const bool is_whole = all != nullptr && all->is_slice;
  const ValueId tensors = is_whole ? all->source : stacked(parts, *list, 0);
  if (parts.failed()) return;
  const ValueId at = parts.shape(1).empty() ? parts.input(1) : parts.reshape(parts.input(1), {});
  parts.give(0, parts.gather(tensors, at, is_whole ? *all->axis : 0));
}

void Sequences::concat(Parts& parts) {
  const List* const list = list_of(parts, 0);
  if (list == nullptr) return;
  const bool is_new = parts.take<std::int64_t>("new_axis", 0) != 0;
  if (list->empty()) return parts.fail(DiagKind::kAttr, "the list has no element");
  const Element& first = list->front();
  std::size_t rank = graph_.value(first.source).shape->size() - (first.is_slice ? 1 : 0);
  if (!parts.has("axis")) return parts.fail(DiagKind::kAttr, "attribute 'axis' is missing");
  const std::int64_t axis = parts.take_axis("axis", 0, rank + (is_new ? 1 : 0));
  if (axis < 0) return;
  // PyTorch's exporter declares it with other ranks, at which ONNX Runtime only warns.
  graph_.value(parts.output(0)).shape.reset();
  const Element* const all = whole(*list);
  if (is_new) {
    const ValueId tensor = stacked(parts, *list, axis);
    if (!parts.failed()) parts.give(0, tensor);
  } else if (all != nullptr && !all->is_slice && *all->axis == axis) {
    parts.give(0, all->source);
  } else if (spend(parts, kElements * std::ssize(*list))) {
    std::vector<ValueId> tensors;
    for (const Element& each : *list) tensors.push_back(tensor_of(parts, each));
    parts.give(0, parts.concat(tensors, axis));
  }
}

}  // namespace etch

// The nodes that one node stands for, while they are written: what a rule of unfuse.h works with.
// Parts are operators of ai.onnx in the form of the model's operator set, whatever that is. They
// are not resolved yet, so only inputs and constants have types and shapes: a rule checks those of
// its inputs (`expects`) and works out all others itself.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

using Attributes = std::map<std::string, Attribute>;

class Parts {
 public:
  Parts(Graph& graph, const Node& node, Sink& sink)
      : graph_(graph), node_(node), attributes_(node.attributes), sink_(sink) {}

  // The parts so far; empty after an error. Unless output 0 was given, the last part gives it.
  // Attributes that no part took are reported.
  std::vector<Node> finish();

  // --- the node ---
  ValueId input(std::size_t i) const {
    return i < node_.inputs.size() ? node_.inputs[i] : kNoValue;
  }
  bool has_input(std::size_t i) const { return input(i) != kNoValue; }
  // False after a report when input i is missing.
  bool needs(std::size_t i);
  // False after a report unless input i is there, of this type and shape; -1 allows any size.
  bool expects(std::size_t i, DType type, const Shape& shape);
  // The same for an input that may be omitted.
  bool allows(std::size_t i, DType type, const Shape& shape) {
    return !has_input(i) || expects(i, type, shape);
  }
  // Of an input that is there. By value: adding parts moves the values of the graph.
  Shape shape(std::size_t i) const { return *graph_.value(input(i)).shape; }
  DType dtype(std::size_t i) const { return *graph_.value(input(i)).dtype; }
  std::size_t rank(ValueId id) const { return graph_.value(id).shape->size(); }
  const Tensor* constant(std::size_t i) const {
    return has_input(i) ? graph_.value(input(i)).constant.get() : nullptr;
  }
  ValueId output(std::size_t i) const {
    return i < node_.outputs.size() ? node_.outputs[i] : kNoValue;
  }
  bool has_output(std::size_t i) const { return output(i) != kNoValue; }
  // What the file says of the size of an output's dimension; -1: nothing.
  std::int64_t declared_size(std::size_t i, std::size_t dimension) const;

  // Takes an attribute, or `fallback` where it is absent or, after a report, of another type.
  template <class T>
  T take(const char* name, T fallback) {
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) return fallback;
    const T* value = std::get_if<T>(&found->second);
    if (value == nullptr) wrong_type(name);
    T out = value == nullptr ? fallback : *value;
    attributes_.erase(found);
    return out;
  }
  bool has(const char* name) const { return attributes_.contains(name); }
  // All that are left, for a part to check.
  Attributes take_all() { return std::exchange(attributes_, {}); }
  // Takes an integer attribute; E-UNSUPPORTED unless it is `only`.
  void only(const char* name, std::int64_t only);

  void fail(DiagKind kind, std::string what);
  bool failed() const { return failed_; }
  std::int64_t onnx_opset() const { return graph_.opset(""); }

  // --- the parts ---
  ValueId add(const char* type, std::vector<ValueId> inputs, Attributes attributes = {});
  // `id` becomes output i of the node, if that is used.
  void give(std::size_t i, ValueId id) {
    if (has_output(i)) given_.emplace_back(i, id);
  }

  ValueId scalar(float value) { return graph_.add_constant(Tensor::of<float>({}, {value})); }
  ValueId integer(DType type, std::int64_t value);
  ValueId ints(const std::vector<std::int64_t>& values);
  // begin, begin + 1, ... of `type`, int32 or int64; the shape has `count` elements.
  ValueId positions(DType type, std::int64_t begin, std::int64_t count, const Shape& shape);
  ValueId constant(Tensor tensor) { return graph_.add_constant(std::move(tensor)); }

  ValueId reshape(ValueId x, const Shape& shape) { return add("Reshape", {x, ints(shape)}); }
  ValueId transpose(ValueId x, const std::vector<std::int64_t>& order) {
    return add("Transpose", {x}, {{"perm", order}});
  }
  ValueId concat(const std::vector<ValueId>& parts, std::int64_t axis) {
    return add("Concat", parts, {{"axis", axis}});
  }
  // Elements begin .. end - 1 of an axis.
  ValueId slice(ValueId x, std::int64_t axis, std::int64_t begin, std::int64_t end);
  // ReduceMean and the like over some axes, which stay with size 1.
  ValueId reduce(const char* type, ValueId x, const std::vector<std::int64_t>& axes);
  ValueId gather(ValueId x, ValueId indices, std::int64_t axis) {
    return add("Gather", {x, indices}, {{"axis", axis}});
  }
  // To the ONNX data type `to`: 1 float32, 6 int32, 7 int64.
  ValueId cast(ValueId x, std::int64_t to) { return add("Cast", {x}, {{"to", to}}); }

 private:
  void name_outputs();
  void wrong_type(const char* name);

  Graph& graph_;
  const Node& node_;
  Attributes attributes_;
  Sink& sink_;
  std::vector<Node> parts_;
  std::vector<std::pair<std::size_t, ValueId>> given_;  // outputs
  bool failed_ = false;
};

}  // namespace etch

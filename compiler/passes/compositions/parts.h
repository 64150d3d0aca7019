// What writes an operator as several others: the node whose meaning is written, and the parts that
// take its place, in order. Used by the rules of unfuse.cc and of this folder.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/onnx_types.h"

namespace etch {

using Attributes = std::map<std::string, Attribute>;
using Ints = std::vector<std::int64_t>;

class Parts {
 public:
  Parts(Graph& graph, const Node& node, Sink& sink)
      : graph_(graph), node_(node), attributes_(node.attributes), sink_(sink) {}

  // The parts so far; the last of them gives output 0 unless give() has named another. Attributes
  // that no part took are reported. Empty after an error.
  std::vector<Node> finish();
  // The parts so far as they are, for a node that stays and reads them.
  std::vector<Node> take_parts() { return std::exchange(parts_, {}); }

  // ---- the node ----
  const std::string& op_type() const { return node_.op_type; }
  std::int64_t opset() const { return graph_.opset(node_.domain); }
  std::int64_t onnx_opset() const { return graph_.opset(""); }
  std::size_t inputs() const { return node_.inputs.size(); }
  ValueId input(std::size_t i) const {
    return i < node_.inputs.size() ? node_.inputs[i] : kNoValue;
  }
  ValueId output(std::size_t i) const {
    return i < node_.outputs.size() ? node_.outputs[i] : kNoValue;
  }
  bool has_input(std::size_t i) const { return input(i) != kNoValue; }
  bool has_output(std::size_t i) const { return output(i) != kNoValue; }
  // What the file says of the size of an output's dimension; -1: nothing.
  std::int64_t declared_size(std::size_t i, std::size_t dimension) const;
  // False after a report when input i is missing.
  bool needs(std::size_t i);
  // False after a report unless input i is there, of this type and shape; -1 allows any size.
  bool expects(std::size_t i, DType type, const Shape& shape);
  // The same for an input that may be omitted.
  bool allows(std::size_t i, DType type, const Shape& shape) {
    return !has_input(i) || expects(i, type, shape);
  }
  // Of an input that is there.
  // (by value: adding parts moves the values of the graph)
  Shape shape(std::size_t i) const { return *graph_.value(input(i)).shape; }
  DType dtype(std::size_t i) const { return *graph_.value(input(i)).dtype; }
  // Null: omitted, or known at run time only.
  const Tensor* constant(std::size_t i) const;
  // The integers of input i; false after a report when they are not known when compiling.
  bool read(std::size_t i, const char* role, Ints& out);
  std::size_t rank(ValueId id) const { return graph_.value(id).shape->size(); }

  // Takes an attribute, or `fallback` where it is absent or, after a report, of another type.
  template <class T>
  T take(const char* name, T fallback) {
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) return fallback;
    const T* value = std::get_if<T>(&found->second);
    if (value == nullptr) fail(DiagKind::kAttr, cat("attribute '", name, "' has a wrong type"));
    T out = value == nullptr ? fallback : *value;
    attributes_.erase(found);
    return out;
  }
  bool has(const char* name) const { return attributes_.contains(name); }
  const Attributes& attributes() const { return attributes_; }  // that are left
  // Takes an integer attribute; E-UNSUPPORTED unless it is `only`.
  void only(const char* name, std::int64_t only);
  // All that are left, for a part to check.
  Attributes take_all() { return std::exchange(attributes_, {}); }
  // Takes the attribute `name` as an axis counted from 0; nothing fits: -1 after a report.
  std::int64_t take_axis(const char* name, std::int64_t fallback, std::size_t rank);
  // False after a report unless input i has one of these types.
  bool has_type(std::size_t i, std::initializer_list<DType> allowed);

  // ---- the parts ----
  ValueId add(const char* type, std::vector<ValueId> inputs, Attributes attributes = {},
              const char* domain = "");
  // A part of any number of outputs, which new_value() makes: the beginning or end of a loop.
  void add(Node part);
  ValueId new_value() { return graph_.add_value({}); }
  // The last part gives the value `id`.
  void name_last(ValueId id) { parts_.back().outputs[0] = id; }
  // Output i of the node is `id`, which a part gives; else a copy of it.
  void give(std::size_t i, ValueId id);

  ValueId constant(Tensor tensor) { return graph_.add_constant(std::move(tensor)); }
  ValueId scalar(float value) { return constant(Tensor::of<float>({}, {value})); }
  // A list, or with a shape a tensor, of int64.
  ValueId ints(const Ints& values) {
    return ints({static_cast<std::int64_t>(values.size())}, values);
  }
  ValueId ints(Shape shape, const Ints& values) {
    return constant(Tensor::of<std::int64_t>(std::move(shape), values));
  }
  // A scalar of `type`: float32, int32 or int64.
  ValueId number(DType type, std::int64_t value);
  // begin, begin + 1, ... of `type`, int32 or int64; the shape has `count` elements.
  ValueId positions(DType type, std::int64_t begin, std::int64_t count, const Shape& shape);
  ValueId concat(const std::vector<ValueId>& parts, std::int64_t axis) {
    return add("Concat", parts, {{"axis", axis}});
  }
  ValueId gather(ValueId x, ValueId indices, std::int64_t axis) {
    return add("Gather", {x, indices}, {{"axis", axis}});
  }
  ValueId reshape(ValueId x, const Shape& shape) { return add("Reshape", {x, ints(shape)}); }
  ValueId transpose(ValueId x, const Ints& perm);  // x itself where nothing moves
  ValueId cast(ValueId x, DType type) {
    return add("Cast", {x}, {{"to", std::int64_t{onnx_number_of(type)}}});
  }
  // A reduction over `axes`, which are counted from 0; x itself where there are none.
  ValueId reduce(const char* type, ValueId x, const Ints& axes, bool keep = true);
  // The elements from `begin` up to `end` along an axis.
  ValueId slice(ValueId x, std::int64_t axis, std::int64_t begin, std::int64_t end);

  void fail(DiagKind kind, std::string what);
  // Reports that input i is known at run time only.
  void needs_constant(std::size_t i, const char* role,
                      const char* what = "must be known at compile time");
  bool failed() const { return failed_; }

 private:
  Graph& graph_;
  const Node& node_;
  Attributes attributes_;
  Sink& sink_;
  std::vector<Node> parts_;
  std::vector<std::pair<std::size_t, ValueId>> given_;
  bool failed_ = false;
};

// Whether a tensor of this shape has at most so many elements, whatever the sizes are.
bool has_at_most(const Shape& shape, std::int64_t elements);
// 0, 1, ... n - 1
Ints count_up(std::size_t n);
// The values along one axis of rank `rank`, of size 1 along the others.
Shape along(std::size_t rank, std::size_t axis, std::int64_t size);

}  // namespace etch

// An AttributeProto says its type and has one field per type; a file in which the two disagree
// could mean either, so it is refused.
#include "compiler/import/attribute.h"

#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/tensor_data.h"
#include "compiler/ir/four_bits.h"

namespace etch {

namespace {

using Proto = onnx::AttributeProto;

// Whether each field of the message is filled, by the type that it belongs to.
struct Filled {
  Proto::AttributeType type;
  bool filled;
};

bool agrees_with_type(const Proto& proto) {
  const Filled fields[] = {
      {Proto::FLOAT, proto.has_f()},
      {Proto::INT, proto.has_i()},
      {Proto::STRING, proto.has_s()},
      {Proto::TENSOR, proto.has_t()},
      {Proto::GRAPH, proto.has_g()},
      {Proto::SPARSE_TENSOR, proto.has_sparse_tensor()},
      {Proto::TYPE_PROTO, proto.has_tp()},
      {Proto::FLOATS, proto.floats_size() > 0},
      {Proto::INTS, proto.ints_size() > 0},
      {Proto::STRINGS, proto.strings_size() > 0},
      {Proto::TENSORS, proto.tensors_size() > 0},
      {Proto::GRAPHS, proto.graphs_size() > 0},
      {Proto::SPARSE_TENSORS, proto.sparse_tensors_size() > 0},
      {Proto::TYPE_PROTOS, proto.type_protos_size() > 0},
  };
  for (const Filled& field : fields) {
    if (field.filled && field.type != proto.type()) return false;
  }
  return true;
}

std::string attribute_location(const Node& node, const Proto& proto) {
  return cat(location_of(node), " attribute '", printable(proto.name()), "'");
}

template <class T, class Field>
std::vector<T> list(const Field& field) {
  return std::vector<T>(field.begin(), field.end());
}

class Reader {
 public:
  Reader(const Proto& proto, const AttributeBindings* bindings, const Limits& limits,
         ExternalData& external, const Node& node, Sink& sink)
      : proto_(proto),
        bindings_(bindings),
        limits_(limits),
        external_(external),
        node_(node),
        sink_(sink),
        location_(attribute_location(node, proto)) {}

  std::optional<Attribute> read() {
    if (proto_.name().empty()) return fail(DiagKind::kName, "has no name");
    if (std::cmp_greater(proto_.name().size(), limits_.name_bytes)) {
      return fail(DiagKind::kLimit, cat("has a name of ", proto_.name().size(), " bytes, ",
                                        at_most(limits_, &Limits::name_bytes)));
    }
    if (node_.attributes.count(proto_.name()) != 0) return fail(DiagKind::kAttr, "is given twice");
    const Proto* const source = referred(proto_, bindings_, node_, sink_);
    if (source == nullptr) return std::nullopt;
    if (!agrees_with_type(*source)) {
      return fail(DiagKind::kAttr, "has a type that its content contradicts");
    }
    return content(*source);
  }

 private:
  std::nullopt_t fail(DiagKind kind, std::string what) {
    sink_.report({Severity::kError, kind, node_.index, location_, std::move(what)});
    return std::nullopt;
  }

  std::optional<Attribute> content(const Proto& proto) {
    switch (proto.type()) {
      case Proto::FLOAT:
        return proto.f();
      case Proto::INT:
        return std::int64_t{proto.i()};
      case Proto::STRING:
        return proto.s();
      case Proto::FLOATS:
        return list<float>(proto.floats());
      case Proto::INTS:
        return list<std::int64_t>(proto.ints());
      case Proto::STRINGS:
        return list<std::string>(proto.strings());
      case Proto::TENSOR:
        return decode_tensor(proto.t(), limits_, location_, sink_, &external_);
      case Proto::UNDEFINED:
        return fail(DiagKind::kAttr, "has no type");
      case Proto::GRAPH:
      case Proto::GRAPHS:
        return fail(DiagKind::kUnsupported,
                    "is a subgraph, which only If, Loop, Scan and FlexAttention have");
      default:
        return fail(DiagKind::kUnsupported, "has a type that no supported operator takes");
    }
  }

  const Proto& proto_;
  const AttributeBindings* bindings_;
  const Limits& limits_;
  ExternalData& external_;
  const Node& node_;
  Sink& sink_;
  std::string location_;
};

}  // namespace

const Proto* referred(const Proto& proto, const AttributeBindings* bindings, const Node& node,
                      Sink& sink) {
  const std::string& name = proto.ref_attr_name();
  if (name.empty()) return &proto;
  const auto refuse = [&](std::string what) {
    sink.report({Severity::kError, DiagKind::kAttr, node.index, attribute_location(node, proto),
                 std::move(what)});
    return nullptr;
  };
  if (bindings == nullptr) return refuse("refers to an attribute of a function, but is not in one");
  const auto found = bindings->find(name);
  if (found == bindings->end())
    return refuse(cat("refers to '", printable(name), "', which the function does not declare"));
  if (found->second != nullptr && found->second->type() != proto.type())
    return refuse(cat("refers to '", printable(name), "', which has another type"));
  return found->second;
}

bool is_flex_attention(const Node& node) {
  return node.domain == "ai.onnx.preview" && node.op_type == "FlexAttention";
}

bool is_subgraph(const Node& node, const Proto& proto) {
  if (proto.type() != Proto::GRAPH) return false;
  if (is_flex_attention(node)) return proto.name() == "score_mod" || proto.name() == "prob_mod";
  if (!node.domain.empty()) return false;
  if (node.op_type == "Loop" || node.op_type == "Scan") return proto.name() == "body";
  return node.op_type == "If" && (proto.name() == "then_branch" || proto.name() == "else_branch");
}

void read_attributes(const onnx::NodeProto& proto, const AttributeBindings* bindings,
                     const Limits& limits, ExternalData& external, Node& node, Sink& sink) {
  for (const Proto& attribute : proto.attribute()) {
    if (is_subgraph(node, attribute)) continue;
    // It would be taken for what a pass has noted.
    if (attribute.name() == kFourBits) {
      sink.report({Severity::kError, DiagKind::kAttr, node.index,
                   attribute_location(node, attribute), "is not an attribute of this operator"});
      continue;
    }
    auto content = Reader(attribute, bindings, limits, external, node, sink).read();
    if (content) node.attributes.emplace(attribute.name(), std::move(*content));
  }
}

}  // namespace etch

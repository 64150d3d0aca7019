// See function_table.h. Classes of older ONNX releases do not know `overload` (of 1.16) and
// `attribute_proto` (of 1.13); protobuf keeps such fields as unknown ones, which are read here.
#include "compiler/import/function_table.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/parse.h"

namespace etch {

namespace {

constexpr int kOverloadOfNode = 8, kOverloadOfFunction = 13, kAttributeProto = 11;

// The strings, or bytes of messages, of a field, whether its class knows it or not.
std::vector<std::string> contents_of(const google::protobuf::Message& message, int number) {
  std::vector<std::string> out;
  const auto* const reflection = message.GetReflection();
  const auto* const field = message.GetDescriptor()->FindFieldByNumber(number);
  if (field == nullptr) {
    const auto& unknown = reflection->GetUnknownFields(message);
    for (int i = 0; i < unknown.field_count(); ++i) {
      const auto& each = unknown.field(i);
      if (each.number() != number) continue;
      if (each.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
        out.push_back(each.length_delimited());
    }
  } else if (field->is_repeated()) {
    for (int i = 0; i < reflection->FieldSize(message, field); ++i)
      out.push_back(reflection->GetRepeatedMessage(message, field, i).SerializeAsString());
  } else if (reflection->HasField(message, field)) {
    out.push_back(reflection->GetString(message, field));
  }
  return out;
}

std::string key_of(const std::string& domain, const std::string& name,
                   const std::vector<std::string>& overload) {
  const std::string separator(1, '\0');
  return normal_domain(domain) + separator + name + separator +
         (overload.empty() ? "" : overload.back());
}

}  // namespace

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

FunctionTable::FunctionTable(const onnx::ModelProto& model, const Limits& limits, Sink& sink) {
  for (const onnx::FunctionProto& proto : model.functions()) {
    const std::string location = cat("function '", printable(proto.name()), "'");
    ModelFunction function;
    function.proto = &proto;
    function.bytes = static_cast<std::int64_t>(proto.ByteSizeLong());
    for (const auto& node : proto.node()) function.names += 1 + node.output_size();
    for (const auto& import : proto.opset_import())
      function.opsets.emplace(normal_domain(import.domain()), import.version());
    for (const std::string& bytes : contents_of(proto, kAttributeProto)) {
      if (parse_message(bytes, static_cast<int>(limits.depth), function.defaults.emplace_back()))
        continue;
      sink.error(DiagKind::kParse, location, "has an attribute that is damaged");
    }
    std::string key = key_of(proto.domain(), proto.name(), contents_of(proto, kOverloadOfFunction));
    if (functions_.try_emplace(std::move(key), std::move(function)).second) continue;
    sink.error(DiagKind::kGraph, location, "is given twice");
  }
}

const ModelFunction* FunctionTable::find(const onnx::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto found =
      functions_.find(key_of(node.domain(), node.op_type(), contents_of(node, kOverloadOfNode)));
  return found == functions_.end() ? nullptr : &found->second;
}

}  // namespace etch

// See hostile_names.h.
#include "tests/support/hostile_names.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// Words that mean something to a compiler or its library.
const std::vector<std::string> kWords = {
    "int",     "class",    "return",   "namespace", "template",   "co_await", "_Bool",    "__x",
    "_Upper",  "linux",    "unix",     "i386",      "NULL",       "main",     "memcpy",   "printf",
    "errno",   "assert",   "INT_MAX",  "std",       "etch",       "model",    "run",      "arena",
    "t0",      "n0",       "x",        "y",         "weights",    "INFINITY", "offsetof", "_Pragma",
    "defined", "__FILE__", "operator", "true",      "report.json"};

// Gives every text its hostile counterpart: the same for the same, another for another.
class Renamer {
 public:
  explicit Renamer(std::function<std::string(std::size_t)> make) : make_(std::move(make)) {}
  void operator()(std::string& text) {
    if (text.empty()) return;
    const auto [place, fresh] = known_.try_emplace(text, "");
    if (fresh) place->second = make_(known_.size() - 1);
    text = place->second;
  }
  std::string another() { return make_(known_.size() + extra_++); }

 private:
  std::function<std::string(std::size_t)> make_;
  std::map<std::string, std::string> known_;
  std::size_t extra_ = 1000;
};

void rename(onnx::ValueInfoProto& value, Renamer& names) {
  names(*value.mutable_name());
  value.set_doc_string(names.another());
  if (!value.has_type() || !value.type().has_tensor_type()) return;
  for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (dim.has_dim_param()) names(*dim.mutable_dim_param());
  }
}

void rename(onnx::NodeProto& node, Renamer& names) {
  for (std::string& name : *node.mutable_input()) names(name);
  for (std::string& name : *node.mutable_output()) names(name);
  node.set_name(names.another());
  node.set_doc_string(names.another());
  for (auto& attribute : *node.mutable_attribute()) {
    attribute.set_doc_string(names.another());
    if (!attribute.has_t()) continue;
    attribute.mutable_t()->set_name(names.another());
    attribute.mutable_t()->set_doc_string(names.another());
  }
}

// The model with all that can be any text replaced, and what it has not got added.
std::string renamed(std::string_view bytes, Renamer names) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(std::string(bytes)));
  model.set_producer_name(names.another());
  model.set_producer_version(names.another());
  model.set_domain(names.another());
  model.set_doc_string(names.another());
  auto& property = *model.add_metadata_props();
  property.set_key(names.another());
  property.set_value(names.another());
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name(names.another());
  graph.set_doc_string(names.another());
  for (auto& value : *graph.mutable_input()) rename(value, names);
  for (auto& value : *graph.mutable_output()) rename(value, names);
  for (auto& value : *graph.mutable_value_info()) rename(value, names);
  for (auto& tensor : *graph.mutable_initializer()) {
    names(*tensor.mutable_name());
    tensor.set_doc_string(names.another());
  }
  for (auto& node : *graph.mutable_node()) rename(node, names);
  return model.SerializeAsString();
}

}  // namespace

const std::vector<HostileFamily>& hostile_families() {
  using namespace std::string_literals;
  static const std::vector<HostileFamily> all = {
      {"comment", "*/ int evil", "(void) { return 1; } /*"},
      {"line comment", "// ", " //"},
      {"newline", "x\n#error injected ", "\r\nint evil;\n"},
      {"other line ends", "x\u2028int evil;\u2029\v\f", "\u0085"},
      {"backslash", "\\", "\\"},
      {"backslash and newline", "\\\n", "\\\n"},
      {"trigraph", "?\?/\n?\?)?\?<", "?\?/"},
      {"directions", "\u202e\u2066evil", "\u2069\u202c\u200f"},
      {"control bytes", "\a\b\x1b[31m\x1b]0;title\a", "\x7f\x01"s},
      {"NUL", "x\0y"s, "\0"s},
      {"template", "{{ 7*7 }}{% raw %}${PATH}@NAME@$<1:x>", "%s%n%p"},
      {"raw string", ")\" )ETCH_EMBED\" R\"(", ")\""},
      {"quotes", "\"; system(\"evil\"); //'", "\"'`$(evil)"},
      {"directive", "\n#include </etc/passwd>\n#define int ", "\n#pragma GCC poison\n"},
      {"HTML", "<script>alert(1)</script><img src=x onerror=evil>",
       "\"><b a='&lt;'></table></html>"},
      {"XML", "]]><!ENTITY x SYSTEM 'file:///etc/passwd'>&x;<![CDATA[", "--><?php evil ?>"},
      {"YAML", "\n  - !!python/object: evil\n---\n", ": [}"},
      {"path", "../../../../etc/passwd", "/../.."},
      {"spreadsheet", "=cmd|' /C calc'!A0", "'; DROP TABLE nodes; --"},
      {"long", std::string(60000, 'L'), ""},
      {"only spaces", "   ", "   "},
  };
  return all;
}

std::string hostile(std::string_view model, const HostileFamily& family) {
  return renamed(model,
                 Renamer([&family](std::size_t i) { return cat(family.before, i, family.after); }));
}

std::string hostile(std::string_view model) {
  return renamed(model, Renamer([](std::size_t i) {
                   const std::size_t both = hostile_families().size() + kWords.size();
                   if (i % both >= hostile_families().size()) {
                     const std::string& word = kWords[i % both - hostile_families().size()];
                     return i < both ? word : cat(word, i);
                   }
                   const HostileFamily& family = hostile_families()[i % both];
                   return cat(family.before, i, family.after);
                 }));
}

std::string small_network() {
  ModelBuilder model;
  model.opset("com.microsoft", 1);
  model.input("x", DType::kF32, {"N", 4, 6, 6});
  model.initializer("s", Tensor::of<float>({}, {0.05F}));
  model.initializer("z", Tensor::of<std::uint8_t>({}, {120}));
  model.initializer("ws", Tensor::of<float>({}, {0.02F}));
  model.initializer("wz", Tensor::of<std::int8_t>({}, {0}));
  std::vector<std::int8_t> weights(4 * 4 * 3 * 3);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<std::int8_t>(i * 37);
  model.initializer("w", Tensor::of<std::int8_t>({4, 4, 3, 3}, weights));
  weights.resize(4 * 9);
  model.initializer("dw", Tensor::of<std::int8_t>({4, 1, 3, 3}, weights));
  model.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.node("QLinearConv", {"q", "s", "z", "w", "ws", "wz", "s", "z"}, {"c"},
             {{"pads", Ints{1, 1, 1, 1}}});
  model.node("QLinearConv", {"c", "s", "z", "dw", "ws", "wz", "s", "z"}, {"d"},
             {{"pads", Ints{1, 1, 1, 1}}, {"group", std::int64_t{4}}});
  model.node("QLinearSigmoid", {"d", "s", "z", "s", "z"}, {"t"}, {}, "com.microsoft");
  model.node("QLinearAdd", {"t", "s", "z", "c", "s", "z", "s", "z"}, {"a"}, {}, "com.microsoft");
  model.node("MaxPool", {"a"}, {"p"}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  model.node("DequantizeLinear", {"p", "s", "z"}, {"y"});
  model.output("y", DType::kF32, {"N", 4, 3, 3});
  model.output("p");
  return model.bytes();
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace etch

// The text form of a graph: one value or node per line, the same bytes for the same graph.
// Small constants are printed whole, large ones as a checksum, so that a diff shows changes.
#include <charconv>
#include <string>
#include <variant>

#include "compiler/base/text.h"
#include "compiler/ir/graph.h"

namespace etch {

namespace {

constexpr std::int64_t kMostPrintedElements = 8;

std::string id_text(ValueId id) { return id == kNoValue ? "-" : cat('%', id); }

std::string ids_text(const std::vector<ValueId>& ids) {
  std::string out;
  for (std::size_t i = 0; i < ids.size(); ++i) out += cat(i == 0 ? "" : ", ", id_text(ids[i]));
  return out;
}

bool is_float(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kF16 || type == DType::kBF16;
}

std::string checksum(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const std::byte byte : bytes)
    hash = (hash ^ std::to_integer<unsigned>(byte)) * 0x100000001b3U;
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, hash, 16).ptr;
  return std::string(digits, end);
}

std::string tensor_text(const Tensor& tensor) {
  const std::string type = cat(name_of(tensor.dtype()), to_string(tensor.shape()));
  if (tensor.size() > kMostPrintedElements) return cat(type, " #", checksum(tensor.bytes()));
  std::string out = type + " {";
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    out += i == 0 ? "" : ", ";
    out += is_float(tensor.dtype()) ? decimal(tensor.real(i)) : cat(tensor.integer(i));
  }
  return out + "}";
}

std::string item_text(std::int64_t item) { return cat(item); }
std::string item_text(float item) { return decimal(item); }
std::string item_text(const std::string& item) { return cat('"', printable(item), '"'); }
std::string item_text(const Tensor& item) { return tensor_text(item); }
template <class T>
std::string item_text(const std::vector<T>& items) {
  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : ", ") + item_text(items[i]);
  return out + "]";
}

std::string value_text(const Value& value) {
  if (value.constant != nullptr) return tensor_text(*value.constant);
  return cat(value.dtype.has_value() ? name_of(*value.dtype) : "?",
             value.shape.has_value() ? to_string(*value.shape) : "[?]");
}

std::string node_text(const Node& node) {
  std::string out = cat(ids_text(node.outputs), " = ");
  if (!node.domain.empty()) out += cat(printable(node.domain), "::");
  out += cat(printable(node.op_type), "(", ids_text(node.inputs), ")");
  for (const auto& [name, attribute] : node.attributes) {
    out += cat(" ", printable(name), "=");
    out += std::visit([](const auto& item) { return item_text(item); }, attribute);
  }
  return node.name.empty() ? out : cat(out, "  # ", printable(node.name));
}

}  // namespace

std::string dump(const Graph& graph) {
  std::string out = cat("graph ", item_text(graph.name), " ir ", graph.ir_version, "\n");
  for (const auto& [domain, version] : graph.opsets) {
    out += cat("opset ", domain.empty() ? "ai.onnx" : printable(domain), " ", version, "\n");
  }
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    const Value& value = graph.values[v];
    out += cat("%", v, " ", value_text(value));
    out += value.name.empty() ? "\n" : cat("  # ", printable(value.name), "\n");
  }
  out += cat("inputs ", ids_text(graph.inputs), "\n");
  for (const Node& node : graph.nodes) out += node_text(node) + "\n";
  return out + cat("outputs ", ids_text(graph.outputs), "\n");
}

}  // namespace etch

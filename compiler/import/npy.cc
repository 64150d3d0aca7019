// NumPy's file format; see npy.h. A file is a magic number, two bytes of version, the length of the
// header, a header that is a dictionary of Python in text, and the elements.
#include "compiler/import/npy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "compiler/base/text.h"

namespace etch {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Kind {
  std::string_view descr;  // without the sign of the byte order
  int onnx;
};
constexpr Kind kKinds[] = {
    {"f2", onnx::TensorProto::FLOAT16}, {"f4", onnx::TensorProto::FLOAT},
    {"f8", onnx::TensorProto::DOUBLE},  {"b1", onnx::TensorProto::BOOL},
    {"u1", onnx::TensorProto::UINT8},   {"u2", onnx::TensorProto::UINT16},
    {"u4", onnx::TensorProto::UINT32},  {"u8", onnx::TensorProto::UINT64},
    {"i1", onnx::TensorProto::INT8},    {"i2", onnx::TensorProto::INT16},
    {"i4", onnx::TensorProto::INT32},   {"i8", onnx::TensorProto::INT64},
};

// The text after "'key':" in the dictionary, without spaces before it; empty if it is not there.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  if (at == header.npos) return {};
  const std::size_t colon = header.find(':', at);
  const std::size_t begin = colon == header.npos ? colon : header.find_first_not_of(' ', colon + 1);
  return begin == header.npos ? std::string_view() : header.substr(begin);
}

// "(1, 28, 28)", "(3,)", "()".
bool read_shape(std::string_view text, onnx::TensorProto& proto) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == text.npos) return false;
  text = text.substr(1, end - 1);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    const std::size_t first = word.find_first_not_of(' ');
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (first == word.npos) return text.empty();  // after the comma of "(3,)"
    const auto size =
        parse_integer(word.substr(first), 0, std::numeric_limits<std::int64_t>::max());
    if (!size) return false;
    proto.add_dims(*size);
  }
  return true;
}

// The bytes of the header, and `at` after it.
std::optional<std::string_view> header_of(std::string_view bytes, std::size_t& at) {
  if (bytes.size() < 10 || bytes[6] < 1 || bytes[6] > 3) return std::nullopt;
  const int digits = bytes[6] == 1 ? 2 : 4;
  if (bytes.size() < 8U + static_cast<std::size_t>(digits)) return std::nullopt;
  std::size_t length = 0;
  for (int i = digits - 1; i >= 0; --i)
    length = 256 * length + static_cast<unsigned char>(bytes[8U + static_cast<std::size_t>(i)]);
  const std::size_t begin = 8U + static_cast<std::size_t>(digits);
  if (length > bytes.size() - begin) return std::nullopt;
  at = begin + length;
  return bytes.substr(begin, length);
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(kMagic); }

std::string read_npy(std::string_view bytes, onnx::TensorProto& proto) {
  std::size_t at = 0;
  const std::optional<std::string_view> header = header_of(bytes, at);
  if (!header) return "its .npy header is cut off or of an unknown version";
  const std::string_view descr = value_of(*header, "'descr'");
  const std::string_view type = descr.substr(0, 5);  // '<f4'
  if (type.size() != 5 || type[0] != '\'' || type[4] != '\'') return "its elements are no numbers";
  if (type[1] == '>' && type[3] != '1')
    return "is in big endian: numpy.save(file, array.astype(array.dtype.newbyteorder('<')))";
  for (const Kind& kind : kKinds) {
    if (type.substr(2, 2) == kind.descr) proto.set_data_type(kind.onnx);
  }
  if (!proto.has_data_type()) return cat("its type ", printable(type), " is none of ONNX's");
  if (!value_of(*header, "'fortran_order'").starts_with("False"))
    return "is in column-major order: numpy.save(file, numpy.ascontiguousarray(array))";
  if (!read_shape(value_of(*header, "'shape'"), proto)) return "its shape cannot be read";
  proto.set_raw_data(std::string(bytes.substr(at)));
  return {};
}

}  // namespace etch

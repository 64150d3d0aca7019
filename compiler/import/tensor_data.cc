// Decodes tensor payloads. ONNX stores elements either as little-endian bytes in raw_data or as
// numbers in one typed field that depends on the element type (onnx.proto, TensorProto); every
// length and every number is checked against type and shape.
#include "compiler/import/tensor_data.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"

namespace etch {

static_assert(std::endian::native == std::endian::little, "raw_data is copied unchanged");

namespace {

struct ForeignType {
  std::int32_t number;
  std::string_view name;
};
constexpr ForeignType kForeignTypes[] = {
    {0, "undefined"},     {8, "string"},          {14, "complex64"},  {15, "complex128"},
    {17, "float8e4m3fn"}, {18, "float8e4m3fnuz"}, {19, "float8e5m2"}, {20, "float8e5m2fnuz"},
    {23, "float4e2m1"},   {24, "float8e8m0"},     {25, "uint2"},      {26, "int2"}};

bool is_4bit(DType dtype) { return dtype == DType::kU4 || dtype == DType::kS4; }

class Decoder {
 public:
  Decoder(const onnx::TensorProto& proto, const Limits& limits, const std::string& location,
          Sink& sink, ExternalData* external)
      : proto_(proto), limits_(limits), location_(location), sink_(sink), external_(external) {}

  std::optional<Tensor> decode() {
    if (!check_location()) return std::nullopt;
    if (proto_.has_segment()) return fail(DiagKind::kTensor, "is a segment of a larger tensor");
    const std::optional<DType> dtype = dtype_from_onnx(proto_.data_type());
    if (!dtype) {
      return fail(DiagKind::kType,
                  cat("element type ", onnx_type_text(proto_.data_type()), " is not supported"));
    }
    const std::optional<Shape> shape = read_shape();
    if (!shape || !check_data(*dtype, element_count(*shape))) return std::nullopt;
    Tensor tensor(*dtype, *shape);  // not before it is known that the data is there
    if (!fill(tensor)) return std::nullopt;
    return tensor;
  }

 private:
  std::nullopt_t fail(DiagKind kind, std::string what) {
    sink_.error(kind, location_, std::move(what));
    return std::nullopt;
  }

  bool is_external() const { return proto_.data_location() == onnx::TensorProto::EXTERNAL; }

  // The file must say once and clearly where the data is.
  bool check_location() {
    if (!is_external() && proto_.external_data_size() > 0) {
      fail(DiagKind::kExtData, "names another file for data that is said to be here");
      return false;
    }
    if (is_external() && (proto_.has_raw_data() || typed_numbers() > 0)) {
      fail(DiagKind::kExtData, "has data here and in another file");
      return false;
    }
    return true;
  }

  bool fill(Tensor& tensor) {
    if (source_) return copy_external(tensor);
    return proto_.has_raw_data() ? copy_raw(tensor, proto_.raw_data()) : copy_typed(tensor);
  }

  // The shape, if its size, counting zeros as ones, is within the limit.
  std::optional<Shape> read_shape() {
    Shape shape(proto_.dims().begin(), proto_.dims().end());
    if (shape.size() > Limits::kRank) {
      return fail(DiagKind::kLimit,
                  cat("has rank ", shape.size(), ", at most ", Limits::kRank, " is possible"));
    }
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
      if (size < 0) return fail(DiagKind::kTensor, cat("has the shape ", to_string(shape)));
      const auto product = checked_mul(count, std::max<std::int64_t>(size, 1));
      if (!product || *product > limits_.constant_elements) {
        return fail(DiagKind::kLimit, cat("has the shape ", to_string(shape), ", of its elements ",
                                          at_most(limits_, &Limits::constant_elements)));
      }
      count = *product;
    }
    return shape;
  }

  bool check_data(DType dtype, std::int64_t count) {
    if (!is_external()) return check_fields(dtype, count);
    if (external_ == nullptr) {
      fail(DiagKind::kExtData, "the data is in another file, which is not read");
      return false;
    }
    source_ = external_->open(proto_, stored_bytes(dtype, count), location_, sink_);
    return source_.has_value();
  }

  // As raw_data or in another file.
  static std::int64_t stored_bytes(DType dtype, std::int64_t count) {
    return is_4bit(dtype) ? ceil_div(count, 2) : count * bytes_of(dtype);
  }

  // In all fields for numbers.
  std::int64_t typed_numbers() const {
    return proto_.float_data_size() + std::int64_t{proto_.int32_data_size()} +
           proto_.int64_data_size() + proto_.double_data_size() + proto_.uint64_data_size() +
           proto_.string_data_size();
  }

  // Exactly the field that the type calls for may hold data, in exactly the right amount.
  bool check_fields(DType dtype, std::int64_t count) {
    const std::int64_t packed = is_4bit(dtype) ? ceil_div(count, 2) : count;
    const std::int64_t raw_bytes = stored_bytes(dtype, count);
    const std::int64_t typed = typed_numbers();
    if (proto_.has_raw_data()) {
      const auto got = static_cast<std::int64_t>(proto_.raw_data().size());
      if (typed != 0) fail(DiagKind::kTensor, "has both raw and typed data");
      if (got != raw_bytes) {
        fail(DiagKind::kTensor, cat("needs ", raw_bytes, " bytes of raw data, has ", got));
      }
      return typed == 0 && got == raw_bytes;
    }
    const std::int64_t got = typed_count(dtype);
    if (got == packed && typed == got) return true;
    fail(DiagKind::kTensor, cat("needs ", packed, " numbers in the field for ", name_of(dtype),
                                ", has ", got, " there and ", typed - got, " in other fields"));
    return false;
  }

  std::int64_t typed_count(DType dtype) const {
    switch (dtype) {
      case DType::kF32:
        return proto_.float_data_size();
      case DType::kF64:
        return proto_.double_data_size();
      case DType::kS64:
        return proto_.int64_data_size();
      case DType::kU64:
      case DType::kU32:
        return proto_.uint64_data_size();
      default:
        return proto_.int32_data_size();
    }
  }

  bool copy_external(Tensor& tensor) {
    if (is_4bit(tensor.dtype())) {
      std::string raw(tensor.bytes().size() / 2 + tensor.bytes().size() % 2, '\0');
      return external_->read(*source_, std::as_writable_bytes(std::span(raw)), location_, sink_) &&
             copy_raw(tensor, raw);
    }
    return external_->read(*source_, tensor.mutable_bytes(), location_, sink_) &&
           check_bools(tensor);
  }

  bool copy_raw(Tensor& tensor, const std::string& raw) {
    const std::span<std::byte> out = tensor.mutable_bytes();
    if (is_4bit(tensor.dtype())) {
      unpack(tensor, [&](std::size_t i) { return static_cast<unsigned char>(raw[i]); });
      return true;
    }
    if (!out.empty()) std::memcpy(out.data(), raw.data(), out.size());
    return check_bools(tensor);
  }

  bool check_bools(Tensor& tensor) {
    if (tensor.dtype() != DType::kBool) return true;
    const auto flags = tensor.as<std::uint8_t>();
    const bool good = std::all_of(flags.begin(), flags.end(), [](auto flag) { return flag <= 1; });
    if (!good) fail(DiagKind::kTensor, "has a bool that is neither 0 nor 1");
    return good;
  }

  // Two elements per byte, the first in the low bits.
  template <class ByteAt>
  static void unpack(Tensor& tensor, ByteAt byte_at) {
    const std::span<std::byte> out = tensor.mutable_bytes();
    const bool sign = tensor.dtype() == DType::kS4;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const unsigned nibble =
          (static_cast<unsigned>(byte_at(i / 2)) >> (i % 2 == 0 ? 0U : 4U)) & 15U;
      const unsigned extended = sign && nibble >= 8 ? nibble | 0xF0U : nibble;
      out[i] = static_cast<std::byte>(extended);
    }
  }

  bool copy_typed(Tensor& tensor) {
    switch (tensor.dtype()) {
      case DType::kF32:
        return copy_all<float>(tensor, proto_.float_data());
      case DType::kF64:
        return copy_all<double>(tensor, proto_.double_data());
      case DType::kS64:
        return copy_all<std::int64_t>(tensor, proto_.int64_data());
      case DType::kU64:
        return copy_all<std::uint64_t>(tensor, proto_.uint64_data());
      case DType::kS32:
        return copy_all<std::int32_t>(tensor, proto_.int32_data());
      case DType::kU32:
        return copy_checked<std::uint32_t>(tensor, proto_.uint64_data(), max_of(DType::kU32));
      case DType::kU16:
        return copy_checked<std::uint16_t>(tensor, proto_.int32_data(), max_of(DType::kU16));
      case DType::kS16:
        return copy_checked<std::int16_t>(tensor, proto_.int32_data(), max_of(DType::kS16));
      case DType::kF16:
      case DType::kBF16:  // bit patterns
        return copy_checked<std::uint16_t>(tensor, proto_.int32_data(), 0xFFFF);
      case DType::kU8:
        return copy_checked<std::uint8_t>(tensor, proto_.int32_data(), max_of(DType::kU8));
      case DType::kS8:
        return copy_checked<std::int8_t>(tensor, proto_.int32_data(), max_of(DType::kS8));
      case DType::kBool:
        return copy_checked<std::uint8_t>(tensor, proto_.int32_data(), 1);
      case DType::kU4:
      case DType::kS4:
        return copy_packed(tensor);
    }
    ETCH_CHECK(false);
  }

  template <class T, class Field>
  static bool copy_all(Tensor& tensor, const Field& field) {
    std::copy(field.begin(), field.end(), tensor.as<T>().begin());
    return true;
  }

  template <class T, class Field>
  bool copy_checked(Tensor& tensor, const Field& field, std::int64_t most) {
    const std::int64_t least = std::is_signed_v<T> ? -most - 1 : 0;
    const std::span<T> out = tensor.as<T>();
    for (int i = 0; i < field.size(); ++i) {
      const auto element = field[i];
      if (!std::in_range<std::int64_t>(element) || std::cmp_less(element, least) ||
          std::cmp_greater(element, most)) {
        fail(DiagKind::kTensor, cat("element ", i, " is ", element, ", outside the range of ",
                                    name_of(tensor.dtype())));
        return false;
      }
      out[static_cast<std::size_t>(i)] = static_cast<T>(element);
    }
    return true;
  }

  bool copy_packed(Tensor& tensor) {
    const auto& field = proto_.int32_data();
    const bool good = std::all_of(field.begin(), field.end(),
                                  [](std::int32_t byte) { return byte >= 0 && byte <= 255; });
    if (!good) {
      fail(DiagKind::kTensor, "has packed 4-bit data outside 0..255");
      return false;
    }
    unpack(tensor,
           [&](std::size_t i) { return static_cast<unsigned>(field[static_cast<int>(i)]); });
    return true;
  }

  const onnx::TensorProto& proto_;
  const Limits& limits_;
  const std::string& location_;
  Sink& sink_;
  ExternalData* external_;
  std::optional<ExternalData::Source> source_;
};

}  // namespace

std::string onnx_type_text(std::int32_t number) {
  if (const auto dtype = dtype_from_onnx(number)) return std::string(name_of(*dtype));
  for (const ForeignType& type : kForeignTypes) {
    if (type.number == number) return cat(type.name, " (", number, ")");
  }
  return cat(number);
}

std::string raw_data_of(const Tensor& tensor) {
  const std::span<const std::byte> bytes = tensor.bytes();
  if (!is_4bit(tensor.dtype())) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string packed((bytes.size() + 1) / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned nibble = std::to_integer<unsigned>(bytes[i]) & 15U;
    const auto so_far = static_cast<unsigned char>(packed[i / 2]);
    packed[i / 2] = static_cast<char>(so_far | (i % 2 == 0 ? nibble : nibble << 4U));
  }
  return packed;
}

std::optional<Tensor> decode_tensor(const onnx::TensorProto& proto, const Limits& limits,
                                    const std::string& location, Sink& sink,
                                    ExternalData* external) {
  return Decoder(proto, limits, location, sink, external).decode();
}

}  // namespace etch

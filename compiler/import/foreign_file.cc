// Recognises files by how they begin; see foreign_file.h.
#include "compiler/import/foreign_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compiler/base/text.h"

namespace etch {
namespace {

struct Mark {
  std::size_t at;  // bytes from the beginning of the file
  std::string_view bytes;
  const char* what;
};

constexpr char kExport[] = "torch.onnx.export(model, inputs, 'model.onnx') writes an ONNX model";

constexpr char kArrays[] =
    "has arrays of NumPy (.npy or .npz) and is no model: give the .onnx file; etch record MODEL "
    "--inputs FILE, of the Python package, makes test data of arrays";

using namespace std::string_view_literals;

constexpr Mark kMarks[] = {
    {4, "TFL3",
     "is a TensorFlow Lite model: python -m tf2onnx.convert --tflite FILE --output "
     "model.onnx writes an ONNX model"},
    {4, "ORTM", "is in ONNX Runtime's own format (.ort): give the .onnx file that it was made of"},
    {0, "version https://git-lfs", "is a pointer of Git LFS and not the file: run git lfs pull"},
    {0, "\x93NUMPY", kArrays},
    {0, "\x89HDF\r\n",
     "is an HDF5 file, as Keras writes it: python -m tf2onnx.convert --keras FILE "
     "--output model.onnx writes an ONNX model"},
    {0, "<?xml", "is XML, as of an OpenVINO model: give the ONNX model that it was made of"},
    {0, "\x1f\x8b", "is compressed by gzip: unpack it first"},
    {0, "BZh", "is compressed by bzip2: unpack it first"},
    {0,
     "\xfd"
     "7zXZ",
     "is compressed by xz: unpack it first"},
    {0, "\x28\xb5\x2f\xfd", "is compressed by zstd: unpack it first"},
    {0, "%PDF", "is a PDF document, not a model"},
    {0,
     "\x7f"
     "ELF",
     "is a program or a library, not a model"},
};

// The names of the first entries of a zip file tell what kind of zip it is.
std::string zip_file(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 4096);
  if (head.find("data.pkl") != head.npos || head.find("/version") != head.npos)
    return cat("is a file of PyTorch (.pt): ", kExport);
  if (head.find(".npy") != head.npos) return kArrays;
  return "is a zip archive: unpack it first, or, if it is one of PyTorch or Keras, export the "
         "network to ONNX";
}

bool is_markup(std::string_view bytes) {
  for (const std::string_view tag :
       {"<!DOCTYPE html"sv, "<!doctype html"sv, "<html"sv, "<HTML"sv}) {
    if (bytes.find(tag) < 256) return true;
  }
  return false;
}

// A varint from `at` on, and `at` after it.
std::optional<std::uint64_t> read_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80U) return value;
  }
  return std::nullopt;
}

// TensorProto begins with its sizes (field 1), then the type of its elements as a number in field
// 2, which in a model is a text.
bool is_tensor(std::string_view bytes) {
  constexpr std::uint64_t kSize = 0x08, kSizes = 0x0a, kType = 0x10;
  constexpr std::uint64_t kMostType = 40;  // of ONNX's element types
  std::size_t at = 0;
  auto tag = read_varint(bytes, at);
  while (tag == kSize || tag == kSizes) {
    const auto value = read_varint(bytes, at);
    if (!value || (tag == kSizes && *value > bytes.size() - at)) return false;
    if (tag == kSizes) at += *value;
    tag = read_varint(bytes, at);
  }
  const auto type = tag == kType ? read_varint(bytes, at) : std::nullopt;
  return type && *type > 0 && *type <= kMostType;
}

}  // namespace

std::string foreign_file(std::string_view bytes) {
  if (bytes.empty()) return "is empty: copy or download it again";
  for (const Mark& mark : kMarks) {
    if (bytes.size() > mark.at && bytes.substr(mark.at).starts_with(mark.bytes)) return mark.what;
  }
  if (bytes.starts_with("PK\x03\x04")) return zip_file(bytes);
  if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
    return cat("is a pickle of Python, as old files of PyTorch are: ", kExport);
  if (is_markup(bytes)) return "is a web page: the download did not give the file itself";
  if (bytes.size() > 9 && bytes.substr(8).starts_with("{\""))
    return cat("is a safetensors file, which has weights and no graph: ", kExport);
  if (is_tensor(bytes))
    return "is a tensor (TensorProto), as test data are, and no model: give the .onnx file";
  if (bytes.starts_with("{") || bytes.starts_with("[")) return "is JSON, not an ONNX model";
  return {};
}

std::string truncated_message(std::string_view bytes) {
  constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5;
  constexpr std::uint64_t kMostFields = 30;  // ModelProto has fields up to 26
  std::size_t at = 0;
  int fields = 0;
  while (at < bytes.size()) {
    const auto tag = read_varint(bytes, at);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > kMostFields) return {};
    std::uint64_t size = 0;
    const std::uint64_t wire = *tag & 7U;
    if (wire == kVarint) {
      if (!read_varint(bytes, at)) return {};
    } else if (wire == kDelimited) {
      const auto length = read_varint(bytes, at);
      if (!length) return {};
      size = *length;
    } else if (wire == kFixed32 || wire == kFixed64) {
      size = wire == kFixed32 ? 4 : 8;
    } else {
      return {};
    }
    const std::uint64_t left = bytes.size() - at;
    if (size > left) {
      // A file of other contents also looks like this, but not after some good fields.
      if (fields == 0 || size > (std::uint64_t{1} << 40)) return {};
      return cat("ends ", size - left,
                 " bytes too early: it is damaged, or only a part of the file was copied; "
                 "copy or download it again");
    }
    at += size;
    ++fields;
  }
  return {};
}

}  // namespace etch

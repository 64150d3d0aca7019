// Tensor data in files beside the model (TensorProto.external_data; onnx.proto, "Serialization"
// and ONNX's docs/ExternalData.md), which exporters write for large weights. A model names these
// files, and a model can come from anyone: files are read beneath one folder that the user names
// (--external-data DIR), and nothing else is. Internal to import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "compiler/base/descriptor.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/limits.h"

namespace etch {

// What a tensor says of its data, numbers parsed. Keys that onnx.proto does not know, keys given
// twice and numbers that are no decimal integers >= 0 are E-EXTDATA; a checksum is not verified.
struct ExternalEntry {
  std::string location;  // plain and relative: no "..", ".", empty part, backslash or NUL
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
};
std::optional<ExternalEntry> read_external_entry(const onnx::TensorProto& proto,
                                                 const std::string& where, Sink& sink);

// Reads data from files beneath one folder. Neither a symbolic link nor a file with a second hard
// link, a device, a pipe or a folder is read: each could stand for a file outside.
class ExternalData {
 public:
  // Files beneath `folder`; with an empty one every request is E-EXTDATA.
  ExternalData(std::string folder, const Limits& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  // A file that has all the bytes wanted: known before memory is taken for them.
  struct Source {
    Descriptor file;
    std::int64_t offset;
    std::string text;  // the file, for messages
  };
  // Of the data of `proto`, which needs `bytes` bytes. Reports E-EXTDATA, or E-LIMIT when all
  // sources together exceed Limits::external_bytes, at `where`.
  std::optional<Source> open(const onnx::TensorProto& proto, std::int64_t bytes,
                             const std::string& where, Sink& sink);
  // Fills `out`, as many bytes as were asked for.
  [[nodiscard]] bool read(const Source& source, std::span<std::byte> out, const std::string& where,
                          Sink& sink);

  // Of each file what was read, but at most its size: tensors may share their bytes.
  std::int64_t distinct_bytes() const;
  // Of all that was read, in order; empty if nothing was.
  const std::string& digest() const { return digest_; }

 private:
  struct FileUse {
    std::int64_t size = 0, read = 0;
  };
  [[nodiscard]] bool spend(std::int64_t bytes, const std::string& where, Sink& sink);
  void count(int file, std::int64_t bytes);  // as read

  std::string folder_;
  Limits limits_;
  std::int64_t bytes_read_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, FileUse> files_;  // by device and inode
  std::set<std::string> missing_;  // files that were reported: once for all tensors in them
  std::string digest_;
};

// How a name beneath a folder is opened; kSteps is for kernels and emulators without openat2.
enum class OpenBy { kOneCall, kSteps };

// A descriptor of `location`, which is plain, beneath `folder` (a descriptor), without following
// symbolic links; -1 with errno set.
int open_beneath(int folder, const std::string& location, OpenBy how);

}  // namespace etch

// See npz.h. A zip file ends with a record that says where its directory is; the directory has, of
// every file in it, the name, the lengths, the CRC-32 and where the file begins.
#include "compiler/import/npz.h"

#include <zlib.h>

#include <cstddef>
#include <cstdint>

#include "compiler/base/text.h"
#include "compiler/import/npy.h"
#include "compiler/import/tensor_data.h"

namespace etch {
namespace {

constexpr std::string_view kEntryMagic("PK\x01\x02", 4);
constexpr std::string_view kFileMagic("PK\x03\x04", 4);
constexpr std::string_view kEndMagic("PK\x05\x06", 4);
constexpr std::size_t kEntryBytes = 46, kFileBytes = 30, kEndBytes = 22;  // without names
constexpr std::size_t kMostComment = 0xffff;
constexpr std::uint64_t kInZip64 = 0xffffffff;  // the number is in a field of its own
constexpr std::uint64_t kMostDeflated = 1032;   // bytes that one byte can stand for
constexpr int kStored = 0, kDeflated = 8;

struct Entry {
  std::string_view name;
  unsigned flags = 0;
  int method = 0;
  std::uint64_t crc = 0, packed = 0, unpacked = 0, at = 0;
};

// `count` bytes in little endian; the caller knows that they are there.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Where the record at the end of the archive begins: after the last of its marks whose comment ends
// with the file, as a comment may contain the mark, or after the last of all.
std::size_t end_of_directory(std::string_view bytes) {
  const std::size_t last = bytes.rfind(kEndMagic);
  for (std::size_t at = last; at != bytes.npos; at = bytes.rfind(kEndMagic, at - 1)) {
    const std::size_t after = bytes.size() - at;
    if (after > kEndBytes + kMostComment) break;
    if (after >= kEndBytes && number_at(bytes, at + 20, 2) == after - kEndBytes) return at;
    if (at == 0) break;
  }
  return last;
}

// What is wrong with the archive, empty if nothing is.
std::string read_directory(std::string_view bytes, std::vector<Entry>& entries) {
  const std::size_t end = end_of_directory(bytes);
  if (end == bytes.npos || bytes.size() - end < kEndBytes ||
      bytes.size() - end > kEndBytes + kMostComment) {
    return "is cut off: the directory at the end of the archive is missing";
  }
  std::size_t at = number_at(bytes, end + 16, 4);
  for (std::uint64_t count = number_at(bytes, end + 10, 2); count > 0; --count) {
    if (at > end || end - at < kEntryBytes || bytes.substr(at, 4) != kEntryMagic)
      return "has a damaged directory";
    const std::size_t name = number_at(bytes, at + 28, 2);
    const std::size_t rest = number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
    if (end - at - kEntryBytes < name + rest) return "has a damaged directory";
    entries.push_back(
        {bytes.substr(at + kEntryBytes, name), static_cast<unsigned>(number_at(bytes, at + 8, 2)),
         static_cast<int>(number_at(bytes, at + 10, 2)), number_at(bytes, at + 16, 4),
         number_at(bytes, at + 20, 4), number_at(bytes, at + 24, 4), number_at(bytes, at + 42, 4)});
    at += kEntryBytes + name + rest;
  }
  return {};
}

// Undoes deflate; false unless `packed` gives exactly `out`.
bool inflate_to(std::string_view packed, std::string& out) {
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;  // no header of zlib's own
  std::string source(packed);                                     // zlib's pointer is not const
  stream.next_in = reinterpret_cast<Bytef*>(source.data());
  stream.avail_in = static_cast<uInt>(source.size());  // below 4 GB, as `packed` has 32 bits
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = ::inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
  return ::inflateEnd(&stream) == Z_OK && whole;
}

// The bytes of one file; `fault` says what is wrong if there are none.
std::optional<std::string> unpack(std::string_view bytes, const Entry& entry, std::string& fault) {
  const auto fail = [&](const char* what) {
    fault = what;
    return std::nullopt;
  };
  fault = "is damaged";
  if ((entry.flags & 1) != 0) return fail("is encrypted");
  if (entry.packed == kInZip64 || entry.unpacked == kInZip64 || entry.at == kInZip64)
    return fail("has more than 4 GB");
  if (entry.at > bytes.size() || bytes.size() - entry.at < kFileBytes ||
      bytes.substr(entry.at, 4) != kFileMagic) {
    return std::nullopt;
  }
  const std::size_t names = number_at(bytes, entry.at + 26, 2) + number_at(bytes, entry.at + 28, 2);
  const std::size_t begin = entry.at + kFileBytes + names;
  if (begin > bytes.size() || bytes.size() - begin < entry.packed) return std::nullopt;
  const std::string_view packed = bytes.substr(begin, entry.packed);
  std::string out;
  if (entry.method == kStored) {
    if (entry.packed != entry.unpacked) return std::nullopt;
    out = packed;
  } else if (entry.method == kDeflated) {
    if (entry.unpacked / kMostDeflated > entry.packed) return std::nullopt;
    out.resize(entry.unpacked);
    if (!inflate_to(packed, out)) return std::nullopt;
  } else {
    return fail("is packed in a way that NumPy does not use");
  }
  const auto* const data = reinterpret_cast<const Bytef*>(out.data());
  if (::crc32_z(0, data, out.size()) != entry.crc) return std::nullopt;
  return out;
}

}  // namespace

bool is_zip(std::string_view bytes) {
  return bytes.starts_with(kFileMagic) || bytes.starts_with(kEndMagic);  // the latter: of no file
}

std::optional<std::vector<NamedArray>> read_npz(std::string_view bytes,
                                                const std::set<std::string>& wanted,
                                                const Limits& limits, const std::string& location,
                                                Sink& sink) {
  std::vector<Entry> entries;
  if (const std::string fault = read_directory(bytes, entries); !fault.empty()) {
    sink.error(DiagKind::kParse, location, fault);
    return std::nullopt;
  }
  std::vector<NamedArray> arrays;
  std::set<std::string_view> seen;
  std::uint64_t total = 0;
  for (const Entry& entry : entries) {
    std::string_view name = entry.name;
    if (name.ends_with(".npy")) name.remove_suffix(4);
    arrays.push_back({std::string(name), std::nullopt});
    if (!wanted.contains(arrays.back().name)) continue;
    total += entry.unpacked;
    if (total > static_cast<std::uint64_t>(limits.external_bytes)) {
      sink.error(
          DiagKind::kLimit, location,
          cat("has arrays of ", total, " bytes, ", at_most(limits, &Limits::external_bytes)));
      return std::nullopt;
    }
    std::string fault;
    std::optional<std::string> file;
    if (seen.insert(name).second) {
      file = unpack(bytes, entry, fault);
    } else {
      fault = "is there twice";
    }
    onnx::TensorProto proto;
    if (file) fault = is_npy(*file) ? read_npy(*file, proto) : "is no array";
    if (!fault.empty()) {
      sink.error(DiagKind::kParse, location, cat("array '", printable(name), "' ", fault));
      return std::nullopt;
    }
    arrays.back().value = decode_tensor(proto, limits, location, sink);
    if (!arrays.back().value) return std::nullopt;
  }
  return arrays;
}

}  // namespace etch

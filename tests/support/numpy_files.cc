// See numpy_files.h.
#include "tests/support/numpy_files.h"

#include <zlib.h>

#include <cstdint>
#include <cstring>

#include "compiler/base/text.h"

namespace etch {
namespace {

// `count` bytes in little endian.
std::string little(std::uint64_t value, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

// Without a header of zlib's own, as zip has it.
std::string deflate_of(const std::string& plain) {
  z_stream stream{};
  ::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string source = plain;
  std::string out(::deflateBound(&stream, source.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(source.data());
  stream.avail_in = static_cast<uInt>(source.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace

std::string npy_file(const std::string& descr, const std::string& shape,
                     const std::string& elements) {
  return npy_of(cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }"),
                elements);
}

std::string npy_of(const std::string& dictionary, const std::string& elements) {
  std::string header = dictionary;
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return cat("\x93NUMPY\x01", std::string(1, '\0'), little(header.size(), 2), header, elements);
}

std::string float_bytes(const std::vector<float>& values) {
  std::string out(values.size() * sizeof(float), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::string npz_file(const std::vector<std::pair<std::string, std::string>>& files, bool deflated) {
  std::string out, directory;
  for (const auto& [name, plain] : files) {
    const std::string packed = deflated ? deflate_of(plain) : plain;
    const auto* const data = reinterpret_cast<const Bytef*>(plain.data());
    const std::string facts =
        cat(little(0, 2), little(deflated ? 8 : 0, 2), little(0, 4),
            little(::crc32_z(0, data, plain.size()), 4), little(packed.size(), 4),
            little(plain.size(), 4), little(name.size(), 2));
    directory += cat("PK\x01\x02", little(20, 2), little(20, 2), facts, little(0, 2), little(0, 2),
                     little(0, 2), little(0, 2), little(0, 4), little(out.size(), 4), name);
    // numpy.savez leaves room for lengths of 64 bits here, not in the directory.
    const std::string extra =
        cat(little(1, 2), little(16, 2), little(plain.size(), 8), little(packed.size(), 8));
    out += cat("PK\x03\x04", little(20, 2), facts, little(extra.size(), 2), name, extra, packed);
  }
  return cat(out, directory, "PK\x05\x06", little(0, 4), little(files.size(), 2),
             little(files.size(), 2), little(directory.size(), 4), little(out.size(), 4),
             little(0, 2));
}

}  // namespace etch

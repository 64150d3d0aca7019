// Archives of arrays in NumPy's format (.npz): zip files of .npy files, stored as they are by
// numpy.savez and deflated by numpy.savez_compressed. The bytes are of unknown origin.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/limits.h"
#include "compiler/ir/tensor.h"

namespace etch {

struct NamedArray {
  std::string name;  // without ".npy"
  Tensor value;
};

// Whether the bytes begin as those of a zip file do.
bool is_zip(std::string_view bytes);

// The arrays in the order of the archive. Reports at `location` E-PARSE for what is no such
// archive, damaged (lengths and CRC-32 are checked), encrypted, packed otherwise or larger than
// 4 GB, what decode_tensor() reports of one array, and E-LIMIT where the arrays have more than
// Limits::external_bytes together.
std::optional<std::vector<NamedArray>> read_npz(std::string_view bytes, const Limits& limits,
                                                const std::string& location, Sink& sink);

}  // namespace etch

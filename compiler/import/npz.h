// Archives of arrays in NumPy's format (.npz): zip files of .npy files, stored as they are by
// numpy.savez and deflated by numpy.savez_compressed. The bytes are of unknown origin.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/limits.h"
#include "compiler/ir/tensor.h"

namespace etch {

struct NamedArray {
  std::string name;             // without ".npy"
  std::optional<Tensor> value;  // null: not asked for
};

// Whether the bytes begin as those of a zip file do.
bool is_zip(std::string_view bytes);

// The arrays in the order of the archive, with the values of those that are `wanted`: labels may be
// beside the samples, of types that no tensor has. Reports at `location` E-PARSE for what is no
// such archive; of arrays that are wanted E-PARSE for what is there twice, damaged (lengths and
// CRC-32 are checked), encrypted, packed otherwise or larger than 4 GB, what decode_tensor()
// reports, and E-LIMIT where they have more than Limits::external_bytes together.
std::optional<std::vector<NamedArray>> read_npz(std::string_view bytes,
                                                const std::set<std::string>& wanted,
                                                const Limits& limits, const std::string& location,
                                                Sink& sink);

}  // namespace etch

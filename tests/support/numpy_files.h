// Bytes of NumPy's files, written out here so that no test needs NumPy: what numpy.save,
// numpy.savez and numpy.savez_compressed write.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace etch {

// A .npy file of version 1: `descr` such as "<f4", `shape` such as "(2, 1)".
std::string npy_file(const std::string& descr, const std::string& shape,
                     const std::string& elements);

// The same with any text as the dictionary.
std::string npy_of(const std::string& dictionary, const std::string& elements);

// The elements of a .npy file of float32.
std::string float_bytes(const std::vector<float>& values);

// A .npz file with these .npy files, in the order given.
std::string npz_file(const std::vector<std::pair<std::string, std::string>>& files,
                     bool deflated = false);

}  // namespace etch

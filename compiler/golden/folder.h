// The folder of `etch golden`: golden.json, model.onnx, sample_I/input_J.pb (.npy or .bin, if those
// were given), and the tuning file if there was one. It holds all that is needed to verify, so that
// it can be part of any repository.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/golden/file.h"
#include "compiler/host/reporter.h"

namespace etch::cli {

struct GoldenFolder {
  std::filesystem::path path;

  std::filesystem::path file() const { return path / kGoldenFile; }
  std::filesystem::path model() const { return path / "model.onnx"; }
  std::filesystem::path tuning() const { return path / "tuning.txt"; }
  std::filesystem::path sample(std::size_t index) const;

  // Whether there is something that no recording has left: it is not to be written to.
  bool holds_other_files() const;

  // Reports E-IO with what is wrong where.
  std::optional<Golden> read(Reporter& reporter) const;
  // Makes or replaces file().
  bool write(const Golden& golden, Reporter& reporter) const;
};

// What a recording keeps.
struct Recording {
  const Golden& golden;
  std::filesystem::path model;
  std::vector<std::filesystem::path> data;  // folders with inputs
  std::filesystem::path tuning;             // empty: none
};

// Makes the folder, or replaces an earlier recording in it; other files in it stay. All or nothing.
bool write_recording(const Recording& recording, const GoldenFolder& folder, Reporter& reporter);

// The SHA-256 of a file; null after an I/O error.
std::optional<std::string> hash_of_file(const std::filesystem::path& path, Reporter& reporter);

// The first of `data` that have at most `most` bytes in total, but at least one.
std::vector<std::filesystem::path> first_data_sets(std::vector<std::filesystem::path> data,
                                                   std::uintmax_t most);

}  // namespace etch::cli

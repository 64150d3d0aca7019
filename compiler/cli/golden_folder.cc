// See golden_folder.h.
#include "compiler/cli/golden_folder.h"

#include <system_error>

#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/cli/network.h"
#include "compiler/import/file.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// input_0.pb, input_1.pb ... as far as they go.
std::vector<fs::path> input_files(const fs::path& folder) {
  std::vector<fs::path> files;
  while (true) {
    fs::path file = folder / cat("input_", files.size(), ".pb");
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return files;
    files.push_back(std::move(file));
  }
}

bool copy(const fs::path& from, const fs::path& to, Reporter& reporter) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (!error && fs::equivalent(from, to, error)) return true;  // recorded again from itself
  error.clear();
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) reporter.io_error(to.string(), cat("cannot be written: ", error.message()));
  return !error;
}

}  // namespace

fs::path GoldenFolder::sample(std::size_t index) const { return path / cat("sample_", index); }

bool GoldenFolder::holds_other_files() const {
  std::error_code error;
  if (fs::exists(file(), error)) return false;
  return fs::exists(path, error) && (!fs::is_directory(path, error) || !fs::is_empty(path, error));
}

std::optional<Golden> GoldenFolder::read(Reporter& reporter) const {
  Sink sink;
  const std::optional<std::string> text = read_file(file().string(), kMostGoldenBytes, "", sink);
  reporter.diagnostics(sink, file().string());
  if (!text) return std::nullopt;
  std::string fault;
  std::optional<Golden> golden = parse_golden(*text, fault);
  if (!golden) reporter.io_error(file().string(), fault);
  return golden;
}

bool GoldenFolder::write(const Golden& golden, Reporter& reporter) const {
  const std::string text = to_json(golden);
  std::string fault;
  const std::optional<Golden> again = parse_golden(text, fault);
  if (!again || *again != golden) {
    reporter.io_error(file().string(), cat("cannot hold this: ", fault.empty() ? "an option is not "
                                                                                 "UTF-8 text"
                                                                               : fault));
    return false;
  }
  return write_files({{kGoldenFile, text}}, path, reporter);
}

bool GoldenFolder::copy_inputs(const fs::path& from_model, const std::vector<fs::path>& data,
                               Reporter& reporter) const {
  std::error_code error;
  for (std::size_t i = data.size(); i < kMostGoldenSamples; ++i) fs::remove_all(sample(i), error);
  if (!copy(from_model, model(), reporter)) return false;
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (const fs::path& file : input_files(data[i])) {
      if (!copy(file, sample(i) / file.filename(), reporter)) return false;
    }
  }
  return true;
}

std::optional<std::string> hash_of_file(const fs::path& path, Reporter& reporter) {
  constexpr std::size_t kMost = std::size_t{2} << 30;  // no protobuf is larger
  Sink sink;
  const std::optional<std::string> bytes = read_file(path.string(), kMost, "", sink);
  reporter.diagnostics(sink, path.string());
  if (!bytes) return std::nullopt;
  return sha256_hex(*bytes);
}

std::vector<fs::path> first_data_sets(std::vector<fs::path> data, std::uintmax_t most) {
  std::uintmax_t total = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (const fs::path& file : input_files(data[i])) {
      std::error_code error;
      const std::uintmax_t bytes = fs::file_size(file, error);
      if (!error) total += bytes;
    }
    if (total > most && i > 0) {
      data.resize(i);
      break;
    }
  }
  return data;
}

}  // namespace etch::cli

// See golden_folder.h.
#include "compiler/golden/folder.h"

#include <system_error>

#include "compiler/base/file_write.h"
#include "compiler/base/scratch_folder.h"
#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/host/data_set.h"
#include "compiler/host/file_output.h"
#include "compiler/import/file.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kSample = "sample_";

// The files of input 0, 1 ... as far as they go.
std::vector<fs::path> input_files(const fs::path& folder) {
  std::vector<fs::path> files;
  while (true) {
    if (!has_tensor(folder, "input", files.size())) return files;
    files.push_back(tensor_path(folder, "input", files.size()));
  }
}

// The golden as text; null and an I/O error if it could not be read back.
std::optional<std::string> text_of(const Golden& golden, const fs::path& path, Reporter& reporter) {
  std::string text = to_json(golden);
  std::string fault;
  const std::optional<Golden> again = parse_golden(text, fault);
  if (again && *again == golden) return text;
  if (fault.empty()) fault = "an option is not UTF-8 text";
  reporter.io_error(path.string(), cat("cannot hold this: ", fault));
  return std::nullopt;
}

// Of any file that this machine can hold.
std::optional<std::string> bytes_of(const fs::path& path, Reporter& reporter) {
  constexpr std::size_t kMost = std::size_t{2} << 30;  // no protobuf is larger
  Sink sink;
  std::optional<std::string> bytes = read_file(path.string(), kMost, "", sink);
  reporter.diagnostics(sink, path.string());
  return bytes;
}

bool copy(const fs::path& from, const fs::path& to, Reporter& reporter) {
  const std::optional<std::string> bytes = bytes_of(from, reporter);
  if (bytes) write_new_file(to, *bytes);
  return bytes.has_value();
}

// The model, the inputs and the tuning file, to an empty folder.
bool copy_inputs(const Recording& recording, const GoldenFolder& to, Reporter& reporter) {
  if (!copy(recording.model, to.model(), reporter)) return false;
  for (std::size_t i = 0; i < recording.data.size(); ++i) {
    make_folder(to.sample(i));
    for (const fs::path& file : input_files(recording.data[i])) {
      if (!copy(file, to.sample(i) / file.filename(), reporter)) return false;
    }
  }
  return recording.tuning.empty() || copy(recording.tuning, to.tuning(), reporter);
}

// Whether it is called as sample() calls them: "sample_7", but not "sample_notes.txt".
bool is_sample_name(const std::string& name) {
  if (!name.starts_with(kSample)) return false;
  const auto index = parse_integer(std::string_view(name).substr(kSample.size()), 0,
                                   static_cast<std::int64_t>(kMostGoldenSamples) - 1);
  return index && name == cat(kSample, *index);  // not "sample_07"
}

bool is_of_recording(const GoldenFolder& folder, const fs::directory_entry& entry) {
  const fs::path& path = entry.path();
  if (path == folder.file() || path == folder.model() || path == folder.tuning()) return true;
  return entry.symlink_status().type() == fs::file_type::directory &&
         is_sample_name(path.filename().string());
}

// What users put beside an earlier recording.
void copy_others(const GoldenFolder& from, const GoldenFolder& to) {
  if (!fs::exists(from.path)) return;
  remove_stale_scratch(from.path);
  for (const auto& entry : fs::directory_iterator(from.path)) {
    if (is_of_recording(from, entry)) continue;
    if (is_scratch_name(entry.path().filename().string())) continue;
    fs::copy(entry.path(), to.path / entry.path().filename(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
}

}  // namespace

fs::path GoldenFolder::sample(std::size_t index) const { return path / cat(kSample, index); }

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
  const std::optional<std::string> text = text_of(golden, file(), reporter);
  return text && write_file(file(), *text, reporter);
}

bool write_recording(const Recording& recording, const GoldenFolder& folder, Reporter& reporter) {
  const auto fill = [&](const fs::path& path) {
    const GoldenFolder fresh{path};
    const std::optional<std::string> text = text_of(recording.golden, folder.file(), reporter);
    if (!text || !copy_inputs(recording, fresh, reporter)) return false;
    copy_others(folder, fresh);
    write_new_file(fresh.file(), *text);
    return true;
  };
  return write_folder(folder.path, fill, reporter);
}

std::optional<std::string> hash_of_file(const fs::path& path, Reporter& reporter) {
  const std::optional<std::string> bytes = bytes_of(path, reporter);
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

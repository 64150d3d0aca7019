// What may be replaced, and the files; see output_folder.h. Beside the target and into place: see
// compiler/base/replace.h.
#include "compiler/emit/output_folder.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/file_write.h"
#include "compiler/base/replace.h"
#include "compiler/base/text.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

bool is_plain_relative(const fs::path& path) {
  return path.is_relative() && !path.empty() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) {
           return part == ".." || part == "." || part.empty();
         });
}

// Makes `folder` and what is missing between it and those in `made`.
void make_folders(const fs::path& folder, std::set<fs::path>& made) {
  if (!made.insert(folder).second) return;
  make_folders(folder.parent_path(), made);
  make_folder(folder);
}

void write_tree(const fs::path& root, const std::vector<OutputFile>& files) {
  std::set<fs::path> folders = {root};
  for (const OutputFile& file : files) {
    ETCH_CHECK(is_plain_relative(file.path));
    const fs::path path = root / file.path;
    make_folders(path.parent_path(), folders);
    write_new_file(path, file.content);
  }
}

// Picks who wrote a mark and its list of files, event by event: the file may come from
// anybody, and a document of a million brackets would need a million calls to be copied.
class ReportReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool is_ours() const { return complete_ && generator_ == "etch" && has_files_; }
  std::set<std::string> take_files() { return std::move(files_); }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& value) override {
    if (depth_ == 1 && key_ == "generator") generator_ = value;
    if (depth_ == 2 && in_files_) files_.insert(value);
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) key_ = name;
    return true;
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override {
    if (depth_ == 0) return false;  // a report is an object
    if (depth_ == 1) in_files_ = key_ == "files";
    has_files_ = has_files_ || in_files_;
    ++depth_;
    return true;
  }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  bool leave() {
    --depth_;
    if (depth_ == 1) in_files_ = false;
    complete_ = depth_ == 0;
    return true;
  }

  std::int64_t depth_ = 0;
  std::string key_;  // of the outermost object
  bool in_files_ = false, has_files_ = false, complete_ = false;
  std::string generator_;
  std::set<std::string> files_;
};

// The files that the mark in `folder` lists, or nothing if Etch did not write one there.
std::optional<std::set<std::string>> own_files(const fs::path& folder, const char* mark) {
  std::error_code error;
  constexpr std::uintmax_t kMostBytes = 64 << 20;
  const fs::path path = folder / mark;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || error) return std::nullopt;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > kMostBytes) return std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  ReportReader report;
  if (!nlohmann::json::sax_parse(stream, &report) || !report.is_ours()) return std::nullopt;
  return report.take_files();
}

// Throws unless everything in `target` was written by Etch.
void check_ours(const fs::path& target, const char* mark) {
  const auto known = own_files(target, mark);
  const std::string hint = "; remove it, choose another folder, or use --force";
  if (!known) throw IoFailure{target, cat("exists and was not written by etch", hint)};
  for (const auto& entry : fs::recursive_directory_iterator(target)) {
    if (entry.is_directory() && !entry.is_symlink() && !fs::is_empty(entry.path())) continue;
    const std::string name = entry.path().lexically_relative(target).generic_string();
    if (known->count(name) == 0) {
      throw IoFailure{target, cat("holds '", printable(name), "', which etch did not write", hint)};
    }
  }
}

// Throws if there is something that must not be replaced.
void check_target(const fs::path& target, Overwrite overwrite, const char* mark) {
  if (!is_folder_there(target)) return;
  if (overwrite == Overwrite::kOwnFiles && !fs::is_empty(target)) check_ours(target, mark);
}

void write_or_throw(const std::vector<OutputFile>& files, const fs::path& given,
                    Overwrite overwrite, const char* mark) {
  if (given.empty()) throw IoFailure{given, "no folder is named"};
  const fs::path target = with_parent(given);
  remove_stale_scratch_above(target);
  check_target(target, overwrite, mark);
  FolderReplacement fresh(target);
  write_tree(fresh.path(), files);
  fresh.commit();
}

}  // namespace

bool write_output_folder(const std::vector<OutputFile>& files, const fs::path& target,
                         Overwrite overwrite, Sink& sink, const char* mark) {
  ETCH_CHECK(std::any_of(files.begin(), files.end(),
                         [&](const OutputFile& file) { return file.path == mark; }));
  try {
    write_or_throw(files, target, overwrite, mark);
    return true;
  } catch (const IoFailure& failure) {
    sink.error(DiagKind::kIo, cat("'", printable(failure.path.string()), "'"), failure.what);
  } catch (const fs::filesystem_error& failure) {
    sink.error(DiagKind::kIo, cat("'", printable(failure.path1().string()), "'"),
               failure.code().message());
  }
  return false;
}

}  // namespace etch

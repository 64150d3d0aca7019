// Files and folders that are there as a whole or not at all: they are written beside their place
// first and renamed into it when they are complete and on the disk. A failure, a signal or a full
// disk leaves what was there before.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/scratch_folder.h"

namespace etch {

// A folder that is filled beside its target and then takes its place.
class FolderReplacement {
 public:
  // Folders that are missing above `target` are part of what is renamed, so that they do not stay
  // after a failure either. Throws an IoFailure, as all of these do.
  explicit FolderReplacement(const std::filesystem::path& target);
  FolderReplacement(const FolderReplacement&) = delete;
  FolderReplacement& operator=(const FolderReplacement&) = delete;

  // The folder to be filled, with files that write_new_file() makes.
  const std::filesystem::path& path() const { return path_; }
  // In one step; what was at the target is removed, its permissions remain. If a failure keeps the
  // old folder from being put back, it is left in the scratch folder, and the message says where.
  void commit();

 private:
  std::filesystem::path place_;  // the topmost of what is missing, or the target
  bool replaces_;
  std::optional<ScratchFolder> scratch_;
  std::filesystem::path path_;
};

// `target` without a trailing slash, absolute, so that it has a parent and a name. Links above it
// are followed, so that ".." after one means what it means to the system; a link of that name is
// not.
std::filesystem::path with_parent(const std::filesystem::path& target);

// Whether there is a folder. Throws an IoFailure if it is something else, or a link.
bool is_folder_there(const std::filesystem::path& path);

// Makes or replaces a file; a link keeps pointing at it, and its permissions stay. What is no file,
// as /dev/stdout, is written to.
void replace_file(const std::filesystem::path& path, std::string_view content);

// Makes or replaces files of these names in `folder`, which is made if it is missing. All are
// written before the first is put into place. Other files in the folder stay.
void replace_files(const std::filesystem::path& folder,
                   const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace etch

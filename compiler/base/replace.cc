// See replace.h.
#include "compiler/base/replace.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "compiler/base/file_write.h"
#include "compiler/base/text.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

// For file systems that cannot exchange two names: for a moment there is no folder.
void replace_in_two_steps(ScratchFolder& scratch, const fs::path& tree, const fs::path& target) {
  constexpr char kCannotReplace[] = "cannot replace the folder";
  const fs::path old = scratch.path() / ScratchFolder::kOld;
  try {
    rename_to(target, old, kCannotReplace);
  } catch (IoFailure& failure) {
    failure.path = target;  // not a name that the user does not know
    throw;
  }
  try {
    rename_to(tree, target, kCannotReplace);
  } catch (const IoFailure& failure) {
    try {
      rename_to(old, target, "it cannot be put back");
    } catch (const IoFailure& second) {
      scratch.keep();
      const fs::path place = scratch.path().filename() / ScratchFolder::kOld;
      throw IoFailure{target, cat(failure.what, "; the old folder is in '", place.string(),
                                  "' beside it now, as ", second.what)};
    }
    throw;
  }
}

// Renames the new tree in a scratch folder to `target`; an old folder there ends up in the scratch
// folder.
void put_in_place(ScratchFolder& scratch, const fs::path& target, bool replace) {
  const fs::path tree = scratch.path() / ScratchFolder::kNew;
  if (!replace) return rename_to(tree, target, "cannot create the folder");
  const auto exchanged = [&] {
    return renameat2(AT_FDCWD, tree.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0;
  };
  if (exchanged() || (errno == EINTR && exchanged())) return;
  if (errno == EBUSY) fail_io(target, "is a mount point; name a folder in it", errno);
  if (errno != EINVAL && errno != ENOSYS) fail_io(target, "cannot replace the folder", errno);
  replace_in_two_steps(scratch, tree, target);
}

void sync_folders(const fs::path& root) {
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.symlink_status().type() == fs::file_type::directory) sync_folder(entry.path());
  }
  sync_folder(root);
}

// The nearest folder at or above `path`, an absolute one, that is there.
fs::path existing_folder(const fs::path& path) {
  fs::path at = path;
  while (at.has_relative_path() && !fs::exists(fs::status(at))) at = at.parent_path();
  return at;
}

// Where links lead to, if that is there.
fs::path followed(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? fs::absolute(path) : real;
}

// Gives the new file or folder the permissions of the one that it replaces, if any.
void keep_permissions(const fs::path& old, const fs::path& fresh, mode_t which = 0777) {
  struct stat facts {};
  if (stat(old.c_str(), &facts) != 0) return;
  if (chmod(fresh.c_str(), facts.st_mode & which) != 0) {
    fail_io(old, "cannot keep its permissions", errno);
  }
}

}  // namespace

fs::path with_parent(const fs::path& target) {
  fs::path path = fs::absolute(target);
  while (path.has_relative_path() && (path.filename().empty() || path.filename() == ".")) {
    path = path.parent_path();
  }
  if (path.filename() != "..") return fs::weakly_canonical(path.parent_path()) / path.filename();
  path = fs::weakly_canonical(path);
  return path.filename().empty() ? path.parent_path() : path;
}

bool is_folder_there(const fs::path& path) {
  const fs::file_status status = fs::symlink_status(path);
  if (fs::is_symlink(status)) {
    throw IoFailure{path, "is a symbolic link; name the folder that it leads to"};
  }
  if (fs::exists(status) && !fs::is_directory(status)) {
    throw IoFailure{path, "exists and is not a folder"};
  }
  return fs::exists(status);
}

FolderReplacement::FolderReplacement(const fs::path& given) : place_(with_parent(given)) {
  const fs::path target = place_;
  const fs::path parent = existing_folder(target.parent_path());
  while (place_.parent_path() != parent) place_ = place_.parent_path();
  replaces_ = is_folder_there(place_);
  scratch_.emplace(parent, place_.filename().string());
  path_ = scratch_->path() / ScratchFolder::kNew;
  make_folder(path_);
  if (place_ == target) return;
  for (const fs::path& part : target.lexically_relative(place_)) make_folder(path_ /= part);
}

void FolderReplacement::commit() {
  const fs::path tree = scratch_->path() / ScratchFolder::kNew;
  // Also set-group-ID and the sticky bit, which mean something for folders.
  if (replaces_) keep_permissions(place_, tree, 07777);
  sync_folders(tree);
  put_in_place(*scratch_, place_, replaces_);
  scratch_.reset();
  sync_folder(place_.parent_path());
}

void replace_file(const fs::path& path, std::string_view content) {
  const fs::file_type type = fs::status(path).type();
  if (type == fs::file_type::directory) throw IoFailure{path, "is a folder"};
  if (type != fs::file_type::regular && type != fs::file_type::not_found) {
    return write_through(path, content);
  }
  const fs::path place = followed(path);
  remove_stale_scratch(place.parent_path());
  {
    const ScratchFolder scratch(place.parent_path());
    const fs::path fresh = scratch.path() / ScratchFolder::kNew;
    write_new_file(fresh, content);
    keep_permissions(place, fresh);
    rename_to(fresh, place, "cannot replace the file");
  }
  sync_folder(place.parent_path());
}

void replace_files(const fs::path& folder,
                   const std::vector<std::pair<std::string, std::string>>& files) {
  if (!fs::exists(fs::status(folder))) {
    remove_stale_scratch_above(with_parent(folder));
    FolderReplacement fresh(folder);
    for (const auto& [name, content] : files) write_new_file(fresh.path() / name, content);
    return fresh.commit();
  }
  remove_stale_scratch(folder);
  {
    const ScratchFolder scratch(folder);
    for (const auto& [name, content] : files) {
      write_new_file(scratch.path() / name, content);
      keep_permissions(folder / name, scratch.path() / name);
    }
    for (const auto& [name, content] : files) {
      rename_to(scratch.path() / name, folder / name, "cannot replace the file");
    }
  }
  sync_folder(folder);
}

}  // namespace etch

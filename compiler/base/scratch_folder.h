// A private folder for work that is not finished, and what makes sure that it goes away: it is
// removed at the end of its scope, and when the program was killed before that, by the next run
// that makes one in the same place.
//
// A scratch folder is called .etch-work-XXXXXX, has mode 0700 and is locked (flock) as long as its
// program lives. In it, the file .etch-work says that it is one: with the folder's inode number,
// so that a copy is none, and the boot of the machine, because another machine on the same disk
// may not see the lock.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "compiler/base/descriptor.h"

namespace etch {

class ScratchFolder {
 public:
  // Names that have a meaning in a scratch folder: a tree that is to become `target`, and an old
  // one that was there. If a killed program leaves an old tree and no target, the next run puts the
  // tree back.
  static constexpr char kNew[] = "new";
  static constexpr char kOld[] = "old";

  // Makes one in `parent`. `target`: the name in `parent` that the old tree belongs to, if any.
  // Throws an IoFailure.
  explicit ScratchFolder(const std::filesystem::path& parent, const std::string& target = {});
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Leaves it where it is for the user: no later run takes it for a stale one either.
  void keep();

 private:
  bool lock();
  void mark(const std::string& target) const;

  std::filesystem::path path_;
  Descriptor folder_{-1};  // none if too many files were open
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool locked_ = false;
  bool kept_ = false;
};

// Whether a scratch folder could be called so.
bool is_scratch_name(const std::string& name);

// Removes the scratch folders in `parent` that programs of this user left when they were killed.
// Leaves everything alone that it is not sure about, and never fails.
void remove_stale_scratch(const std::filesystem::path& parent) noexcept;

// The same in every folder above `path`, an absolute one: folders that were missing when a program
// was killed may have been there at its end.
void remove_stale_scratch_above(const std::filesystem::path& path) noexcept;

}  // namespace etch

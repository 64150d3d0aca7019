// A folder for the length of a command: private to the user, under TMPDIR, and removed with
// everything in it when the object goes away, also after Ctrl-C (see interrupt.h).
#pragma once

#include <filesystem>
#include <memory>

#include "compiler/cli/interrupt.h"
#include "compiler/cli/reporter.h"

namespace etch::cli {

class WorkFolder {
 public:
  // A fresh temporary folder, or, with a non-empty `keep`, that folder: made if it is missing and
  // never removed. Null and an I/O error if it cannot be made.
  static std::unique_ptr<WorkFolder> make(const std::filesystem::path& keep, Reporter& reporter);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  enum class AtEnd { kRemove, kKeep };
  WorkFolder(std::filesystem::path path, AtEnd at_end) : path_(std::move(path)), at_end_(at_end) {}

  InterruptGuard guard_;  // first member: goes last, when the folder is gone
  std::filesystem::path path_;
  AtEnd at_end_;
};

}  // namespace etch::cli

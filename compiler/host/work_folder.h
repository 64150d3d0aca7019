// A folder for the length of a command: private to the user, under TMPDIR, and removed with
// everything in it when the object goes away, also after Ctrl-C (see interrupt.h); after a kill -9
// by the next command that makes one.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/base/scratch_folder.h"
#include "compiler/host/interrupt.h"
#include "compiler/host/reporter.h"

namespace etch::cli {

class WorkFolder {
 public:
  // A fresh temporary folder, or, with a non-empty `keep`, that folder: made if it is missing and
  // never removed. Null and an I/O error if it cannot be made.
  static std::unique_ptr<WorkFolder> make(const std::filesystem::path& keep, Reporter& reporter);
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  WorkFolder() = default;
  explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}

  InterruptGuard guard_;                  // first member: goes last, when the folder is gone
  std::optional<ScratchFolder> scratch_;  // none: the folder is to be kept
  std::filesystem::path path_;
};

}  // namespace etch::cli

// Making of the folder; see work_folder.h.
#include "compiler/host/work_folder.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "compiler/base/file_write.h"

namespace etch::cli {
namespace fs = std::filesystem;

std::unique_ptr<WorkFolder> WorkFolder::make(const fs::path& keep, Reporter& reporter) {
  std::error_code error;
  if (!keep.empty()) {
    fs::create_directories(keep, error);
    if (!error) {
      return std::unique_ptr<WorkFolder>(new WorkFolder(fs::absolute(keep)));
    }
    reporter.io_error(keep.string(), "cannot make this folder: " + error.message());
    return nullptr;
  }
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    const char* const variable = std::getenv("TMPDIR");
    reporter.io_error(variable == nullptr ? "/tmp" : variable, "is no folder for temporary files");
    return nullptr;
  }
  remove_stale_scratch(parent);
  try {
    std::unique_ptr<WorkFolder> made(new WorkFolder);
    made->scratch_.emplace(parent);
    made->path_ = made->scratch_->path();
    return made;
  } catch (const IoFailure& failure) {
    reporter.io_error(failure.path.string(), failure.what);
    return nullptr;
  }
}

}  // namespace etch::cli

// Making and removing of the folder; see work_folder.h.
#include "compiler/cli/work_folder.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace etch::cli {
namespace fs = std::filesystem;

std::unique_ptr<WorkFolder> WorkFolder::make(const fs::path& keep, Reporter& reporter) {
  std::error_code error;
  if (!keep.empty()) {
    fs::create_directories(keep, error);
    if (!error) {
      return std::unique_ptr<WorkFolder>(new WorkFolder(fs::absolute(keep), AtEnd::kKeep));
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
  std::string pattern = (parent / "etch-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    error.assign(errno, std::generic_category());
    reporter.io_error(parent.string(), "cannot make a temporary folder here: " + error.message());
    return nullptr;
  }
  return std::unique_ptr<WorkFolder>(new WorkFolder(pattern, AtEnd::kRemove));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;  // nobody is left to tell
  if (at_end_ == AtEnd::kRemove) fs::remove_all(path_, ignored);
}

}  // namespace etch::cli

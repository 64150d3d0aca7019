// See file_output.h.
#include "compiler/host/file_output.h"

#include "compiler/base/file_write.h"
#include "compiler/base/replace.h"
#include "compiler/host/interrupt.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// Whether `write`, which returns false or throws on failure, could be done in full.
template <class Write>
bool reported(const Write& write, Reporter& reporter) {
  const InterruptGuard guard;
  try {
    return write();
  } catch (const IoFailure& failure) {
    reporter.io_error(failure.path.string(), failure.what);
  } catch (const fs::filesystem_error& failure) {
    reporter.io_error(failure.path1().string(), failure.code().message());
  }
  return false;
}

}  // namespace

bool write_file(const fs::path& path, std::string_view text, Reporter& reporter) {
  return reported([&] { return replace_file(path, text), true; }, reporter);
}

bool write_named_files(const fs::path& folder,
                       const std::vector<std::pair<std::string, std::string>>& files,
                       Reporter& reporter) {
  return reported([&] { return replace_files(folder, files), true; }, reporter);
}

bool write_folder(const fs::path& folder, const std::function<bool(const fs::path&)>& fill,
                  Reporter& reporter) {
  const auto replace = [&] {
    remove_stale_scratch_above(with_parent(folder));
    FolderReplacement fresh(folder);
    if (!fill(fresh.path())) return false;
    fresh.commit();
    return true;
  };
  return reported(replace, reporter);
}

}  // namespace etch::cli

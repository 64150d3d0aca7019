// Files that commands write for their users: as a whole or not at all (compiler/base/replace.h),
// also after Ctrl-C. Each returns false after an I/O error.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/host/reporter.h"

namespace etch::cli {

// Makes or replaces one file.
bool write_file(const std::filesystem::path& path, std::string_view text, Reporter& reporter);

// Makes or replaces files of these names in `folder`, which is made if it is missing.
bool write_named_files(const std::filesystem::path& folder,
                       const std::vector<std::pair<std::string, std::string>>& files,
                       Reporter& reporter);

// Makes or replaces a folder by what `fill` puts into the one that it is given: with what throws an
// IoFailure, or returns false after an I/O error.
bool write_folder(const std::filesystem::path& folder,
                  const std::function<bool(const std::filesystem::path&)>& fill,
                  Reporter& reporter);

}  // namespace etch::cli

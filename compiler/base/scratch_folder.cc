// See scratch_folder.h. What happens between two processes: who makes a folder locks it at once and
// then looks whether it is still there, and who clears up locks it before removing it. So either
// the maker has the lock and the folder stays, or the folder goes and the maker makes another one.
#include "compiler/base/scratch_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "compiler/base/file_write.h"
#include "compiler/base/text.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".etch-work-";
constexpr std::string_view kRandom = "XXXXXX";
constexpr char kMarker[] = ".etch-work";
constexpr std::string_view kFirstLine = "A folder of etch for unfinished work; safe to remove.";

struct Marker {
  std::string inode, boot, target;
};

std::string boot_id() {
  std::string id;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::getline(file, id);
  return id;
}

// The marker in `folder`. Empty if there is none or it is something else.
Marker read_marker(const fs::path& folder) {
  const fs::path path = folder / kMarker;
  std::error_code error;
  constexpr std::uintmax_t kMostBytes = 8192;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || error) return {};
  if (fs::file_size(path, error) > kMostBytes || error) return {};
  std::ifstream file(path, std::ios::binary);
  Marker marker;
  std::string first;
  std::getline(file, first);
  if (first != kFirstLine) return {};
  std::getline(file, marker.inode);
  std::getline(file, marker.boot);
  marker.target.assign(std::istreambuf_iterator<char>(file), {});  // the rest: it may hold newlines
  return marker;
}

bool is_empty_but_for_marker(const fs::path& folder, std::error_code& error) {
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() != kMarker) return false;
  }
  return !error;
}

// Removes everything in `folder`, then the marker, then the folder: cut short anywhere, what is
// left is still known as a scratch folder.
bool remove_tree(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() != kMarker) entries.push_back(entry->path());
  }
  bool good = !error;
  for (const fs::path& entry : entries) {
    fs::remove_all(entry, error);
    good = good && !error;
  }
  if (!good) return false;
  unlink((folder / kMarker).c_str());
  return rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

// Lets folders be emptied that an old tree has without permission to write.
void make_writable(const fs::path& root) {
  std::error_code error;
  std::vector<fs::path> folders = {root};
  while (!folders.empty()) {
    const fs::path folder = folders.back();
    folders.pop_back();
    fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, error);
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->symlink_status(error).type() == fs::file_type::directory) {
        folders.push_back(entry->path());
      }
    }
  }
}

void remove_thoroughly(const fs::path& folder) {
  if (remove_tree(folder)) return;
  make_writable(folder);
  remove_tree(folder);
}

// Puts an old tree back whose place is empty.
void restore_old(const fs::path& folder, const std::string& target) {
  if (target.empty() || target == "." || target == ".." || target.find('/') != std::string::npos) {
    return;
  }
  const fs::path old = folder / ScratchFolder::kOld;
  const fs::path place = folder.parent_path() / target;
  std::error_code error;
  if (fs::symlink_status(old, error).type() != fs::file_type::directory) return;
  if (fs::symlink_status(place, error).type() != fs::file_type::not_found) return;
  fs::rename(old, place, error);
}

// What `folder`, open as `descriptor`, is, given that nobody holds its lock.
void remove_if_stale(const fs::path& folder, int descriptor) {
  constexpr std::time_t kDay = 24 * 60 * 60;
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) return;
  if (facts.st_uid != geteuid() || (facts.st_mode & 0777) != 0700) return;
  std::error_code error;
  const Marker marker = read_marker(folder);
  const std::string boot = boot_id();
  const bool same_boot = !boot.empty() && marker.boot == boot;
  const bool stale = marker.inode == cat(facts.st_ino) &&
                     (same_boot || facts.st_mtime < std::time(nullptr) - kDay);
  // Killed before it was marked.
  const bool unused = marker.inode.empty() && is_empty_but_for_marker(folder, error);
  if (!stale && !unused) return;
  if (stale) restore_old(folder, marker.target);
  remove_thoroughly(folder);
}

}  // namespace

bool is_scratch_name(const std::string& name) {
  return name.size() == kPrefix.size() + kRandom.size() && name.starts_with(kPrefix) &&
         std::all_of(name.begin() + kPrefix.size(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

ScratchFolder::ScratchFolder(const fs::path& parent, const std::string& target) {
  constexpr int kMostAttempts = 100;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::string pattern = (parent / cat(kPrefix, kRandom)).string();
    if (mkdtemp(pattern.data()) == nullptr) {
      if (errno == EINTR) continue;
      fail_io(parent, "cannot create a temporary folder", errno);
    }
    path_ = pattern;
    if (lock()) {
      if (lock_ >= 0) mark(target);
      return;
    }
  }
  fail_io(parent, "cannot create a temporary folder", EBUSY);
}

// False if another process took the new folder for a stale one. A file system without locks is no
// failure: then there is no marker either, and the folder stays if the program is killed.
bool ScratchFolder::lock() {
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock_ < 0) return errno != ENOENT;
  struct stat facts {};
  const bool locked = flock(lock_, LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno != EWOULDBLOCK) {
    close(lock_);
    lock_ = -1;
    return true;
  }
  if (locked && fstat(lock_, &facts) == 0 && facts.st_nlink > 0) return true;
  close(lock_);
  lock_ = -1;
  return false;
}

void ScratchFolder::mark(const std::string& target) const {
  struct stat facts {};
  if (fstat(lock_, &facts) != 0) return;
  const std::string text = cat(kFirstLine, "\n", facts.st_ino, "\n", boot_id(), "\n", target);
  try {
    write_new_file(path_ / kMarker, text);
  } catch (const IoFailure&) {  // what is to be written here will say it
  }
}

ScratchFolder::~ScratchFolder() {
  remove_thoroughly(path_);
  if (lock_ >= 0) close(lock_);
}

void remove_stale_scratch(const fs::path& parent) noexcept {
  try {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
         entry.increment(error)) {
      if (is_scratch_name(entry->path().filename().string())) found.push_back(entry->path());
    }
    for (const fs::path& folder : found) {
      const int descriptor =
          open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
      if (descriptor < 0) continue;
      if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) remove_if_stale(folder, descriptor);
      close(descriptor);
    }
  } catch (const std::exception&) {  // no memory for a list of names: another time
  }
}

void remove_stale_scratch_above(const fs::path& path) noexcept {
  try {
    for (fs::path at = path; at.has_relative_path();) {
      at = at.parent_path();
      remove_stale_scratch(at);
    }
  } catch (const std::exception&) {
  }
}

}  // namespace etch

// See file_write.h.
#include "compiler/base/file_write.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "compiler/base/descriptor.h"
#include "compiler/base/text.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

// The result of a call that returns a negative number on failure, made until no signal disturbs.
template <class Call>
auto undisturbed(const Call& call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

Descriptor open_file(const fs::path& path, int flags) {
  Descriptor file(undisturbed([&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); }));
  if (file.get() < 0) fail_io(path, "cannot open", errno);
  return file;
}

void write_all(const Descriptor& file, const fs::path& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written =
        undisturbed([&] { return write(file.get(), content.data(), content.size()); });
    if (written < 0) fail_io(path, "cannot write", errno);
    if (written == 0) fail_io(path, "cannot write", ENOSPC);  // would repeat forever
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync(const Descriptor& file, const fs::path& path) {
  if (undisturbed([&] { return fsync(file.get()); }) == 0) return;
  if (errno != EINVAL) fail_io(path, "cannot flush", errno);  // EINVAL: nothing to flush here
}

// Some file systems tell only now that something could not be written.
void close_file(Descriptor file, const fs::path& path) {
  // After a signal Linux has closed it all the same.
  if (close(file.release()) != 0 && errno != EINTR) fail_io(path, "cannot close", errno);
}

void sync_as(const fs::path& path, int flags) {
  Descriptor file = open_file(path, flags);
  sync(file, path);
  close_file(std::move(file), path);
}

}  // namespace

void fail_io(const fs::path& path, std::string_view what, int error) {
  throw IoFailure{path, cat(what, ": ", std::strerror(error))};
}

void write_new_file(const fs::path& path, std::string_view content) {
  Descriptor file = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  write_all(file, path, content);
  sync(file, path);
  close_file(std::move(file), path);
}

void write_through(const fs::path& path, std::string_view content) {
  Descriptor file = open_file(path, O_WRONLY);
  write_all(file, path, content);
  close_file(std::move(file), path);
}

void sync_file(const fs::path& path) { sync_as(path, O_RDONLY | O_NOFOLLOW); }

void sync_folder(const fs::path& path) { sync_as(path, O_RDONLY | O_DIRECTORY); }

void make_folder(const fs::path& path) {
  if (undisturbed([&] { return mkdir(path.c_str(), 0777); }) != 0) {
    fail_io(path, "cannot create the folder", errno);
  }
}

void rename_to(const fs::path& from, const fs::path& to, std::string_view what) {
  if (undisturbed([&] { return rename(from.c_str(), to.c_str()); }) != 0) fail_io(to, what, errno);
}

}  // namespace etch

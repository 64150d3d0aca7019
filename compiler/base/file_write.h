// Writing through POSIX calls instead of streams, where they tell more: why something failed, and
// that data has reached the disk before it is renamed into place. A call that a signal cuts short
// is made again.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace etch {

// Thrown when a file or folder cannot be written: which one, and why.
struct IoFailure {
  std::filesystem::path path;
  std::string what;
};

// Throws an IoFailure: "WHAT: text of `error`", an errno.
[[noreturn]] void fail_io(const std::filesystem::path& path, std::string_view what, int error);

// Makes the file, which must not be there, and flushes it to the disk.
void write_new_file(const std::filesystem::path& path, std::string_view content);

// Writes to something that is there and cannot be renamed over: a device or a pipe.
void write_through(const std::filesystem::path& path, std::string_view content);

// Flushes a file, or the names in a folder, to the disk.
void sync_file(const std::filesystem::path& path);
void sync_folder(const std::filesystem::path& path);

// Makes a folder, which must not be there, in one that is.
void make_folder(const std::filesystem::path& path);

// rename(2); `what` says what could not be done with `to`.
void rename_to(const std::filesystem::path& from, const std::filesystem::path& to,
               std::string_view what);

}  // namespace etch

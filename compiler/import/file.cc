// Reads through a descriptor, so that what was checked is what is read.
#include "compiler/import/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "compiler/base/descriptor.h"
#include "compiler/base/text.h"

namespace etch {

std::optional<std::string> read_file(const std::string& path, std::size_t most,
                                     const std::string& location, Sink& sink) {
  const auto fail = [&](DiagKind kind, std::string what) {
    sink.error(kind, location, std::move(what));
    return std::nullopt;
  };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts = {};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) {
    return fail(DiagKind::kIo, cat("cannot open: ", std::strerror(errno)));
  }
  if (S_ISDIR(facts.st_mode)) return fail(DiagKind::kIo, "is a folder, not a file");
  if (!S_ISREG(facts.st_mode)) return fail(DiagKind::kIo, "not a regular file");
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size > most) return fail(DiagKind::kLimit, cat("has ", size, " bytes, at most ", most));
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ::ssize_t got = ::read(file.get(), bytes.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(DiagKind::kIo, cat("cannot read: ", std::strerror(errno)));
    if (got == 0) return fail(DiagKind::kIo, "became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::optional<std::string> read_model_file(const std::string& path, const Limits& limits,
                                           Sink& sink) {
  struct stat facts = {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) {
    sink.error(DiagKind::kIo, "", "is a folder without model.onnx");
    return std::nullopt;
  }
  if (exists && facts.st_size > limits.file_bytes) {
    sink.error(DiagKind::kLimit, "",
               cat("has ", facts.st_size, " bytes, ", at_most(limits, &Limits::file_bytes)));
    return std::nullopt;
  }
  return read_file(path, static_cast<std::size_t>(limits.file_bytes), "", sink);
}

}  // namespace etch

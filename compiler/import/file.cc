// Reads through a descriptor, so that what was checked is what is read.
#include "compiler/import/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "compiler/base/text.h"

namespace etch {

namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::size_t most,
                                     const std::string& location, Sink& sink) {
  const auto fail = [&](DiagKind kind, std::string what) {
    sink.error(kind, location, std::move(what));
    return std::nullopt;
  };
  const Descriptor file(path);
  struct stat facts = {};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) {
    return fail(DiagKind::kIo, cat("cannot open: ", std::strerror(errno)));
  }
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

}  // namespace etch

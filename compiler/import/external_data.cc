// See external_data.h. What is checked is what is read: every fact comes from the descriptor.
#include "compiler/import/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/checked.h"
#include "compiler/base/descriptor.h"
#include "compiler/base/sha256.h"
#include "compiler/base/text.h"

namespace etch {

namespace {

constexpr std::size_t kMostLocationBytes = 4096;

std::vector<std::string> parts_of(const std::string& location) {
  std::vector<std::string> parts(1);
  for (const char c : location) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

// Why `location` may not be opened; empty: it may.
std::string_view fault_of(const std::string& location) {
  if (location.empty()) return "names no file";
  if (location.size() > kMostLocationBytes) return "is longer than 4096 bytes";
  if (location.front() == '/') return "is not relative";
  if (location.find('\\') != std::string::npos) return "has a backslash";
  if (location.find('\0') != std::string::npos) return "has a zero byte";
  for (const std::string& part : parts_of(location)) {
    if (part.empty() || part == "." || part == "..") return "has a part '', '.' or '..'";
  }
  return {};
}

// The entry's fields, filled one key after the other.
class EntryReader {
 public:
  EntryReader(const std::string& where, Sink& sink) : where_(where), sink_(sink) {}

  bool take(const std::string& key, const std::string& value) {
    if (!seen_.insert(key).second) return fail(cat("'", printable(key), "' is given twice"));
    if (key == "location") {
      entry.location = value;
      return true;
    }
    if (key == "checksum") return true;
    if (key != "offset" && key != "length") {
      return fail(cat("the key '", printable(key), "' is unknown"));
    }
    const std::optional<std::int64_t> number = parse_integer(value, 0, INT64_MAX);
    if (!number) return fail(cat(key, " must be an integer >= 0, got '", printable(value), "'"));
    if (key == "offset") {
      entry.offset = *number;
    } else {
      entry.length = number;
    }
    return true;
  }

  bool check_location() {
    const std::string_view fault = fault_of(entry.location);
    return fault.empty() || fail(cat("location '", printable(entry.location), "' ", fault));
  }

  ExternalEntry entry;

 private:
  bool fail(const std::string& what) {
    sink_.error(DiagKind::kExtData, where_, cat("external data: ", what));
    return false;
  }

  const std::string& where_;
  Sink& sink_;
  std::set<std::string> seen_;
};

// Why the open file may not be read; empty: it may.
std::string fault_of(int file, const ExternalEntry& entry, std::int64_t bytes) {
  struct stat facts = {};
  if (::fstat(file, &facts) != 0) return cat("cannot be examined: ", std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return "is not a regular file";
  if (facts.st_nlink != 1) return cat("has ", facts.st_nlink, " hard links, must have one");
  const auto end = checked_add(entry.offset, bytes);
  if (end && *end <= facts.st_size) return {};
  return cat("has ", facts.st_size, " bytes, too few for ", bytes, " at offset ", entry.offset);
}

std::string reason_of(int error) {
  if (error == ELOOP) return "is a symbolic link, or beneath one; these are not followed";
  return cat("cannot be opened: ", std::strerror(error));
}

// Why not all of `out` could be read from `offset` on; empty: it could.
std::string read_at(int file, std::int64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ::ssize_t got = ::pread(file, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cat("cannot be read: ", std::strerror(errno));
    if (got == 0) return "became shorter while it was read";
    offset += got;
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;

int open_in_one_call(int folder, const std::string& location) {
  ::open_how how = {};
  how.flags = kFileFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, folder, location.c_str(), &how, sizeof how));
}

int open_in_steps(int folder, const std::string& location) {
  const std::vector<std::string> parts = parts_of(location);
  Descriptor at(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  for (const std::string& part : parts) {
    const bool last = &part == &parts.back();
    const int flags = last ? kFileFlags : O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    const int next = ::openat(at.get(), part.c_str(), flags);
    if (next < 0 || last) return next;
    at = Descriptor(next);
  }
  return -1;
}

}  // namespace

std::optional<ExternalEntry> read_external_entry(const onnx::TensorProto& proto,
                                                 const std::string& where, Sink& sink) {
  EntryReader reader(where, sink);
  for (const auto& pair : proto.external_data()) {
    if (!reader.take(pair.key(), pair.value())) return std::nullopt;
  }
  if (!reader.check_location()) return std::nullopt;
  return std::move(reader.entry);
}

int open_beneath(int folder, const std::string& location, OpenBy how) {
  return how == OpenBy::kOneCall ? open_in_one_call(folder, location)
                                 : open_in_steps(folder, location);
}

bool ExternalData::spend(std::int64_t bytes, const std::string& where, Sink& sink) {
  bytes_read_ += bytes;
  if (bytes_read_ <= limits_.external_bytes) return true;
  sink.error(DiagKind::kLimit, where,
             cat("external data has ", bytes_read_, " bytes up to here, ",
                 at_most(limits_, &Limits::external_bytes)));
  return false;
}

void ExternalData::count(int file, std::int64_t bytes) {
  struct stat facts = {};
  if (::fstat(file, &facts) != 0) return;
  FileUse& use = files_[{facts.st_dev, facts.st_ino}];
  use.size = facts.st_size;
  use.read += bytes;
}

std::int64_t ExternalData::distinct_bytes() const {
  std::int64_t sum = 0;
  for (const auto& [file, use] : files_) sum += std::min(use.size, use.read);
  return sum;
}

std::optional<ExternalData::Source> ExternalData::open(const onnx::TensorProto& proto,
                                                       std::int64_t bytes, const std::string& where,
                                                       Sink& sink) {
  const auto entry = read_external_entry(proto, where, sink);
  if (!entry) return std::nullopt;
  const std::string text = cat("external data '", printable(entry->location), "' ");
  const auto fail = [&](std::string_view what) {
    sink.error(DiagKind::kExtData, where, cat(text, what));
    return std::nullopt;
  };
  const auto fail_once = [&](std::string_view what) {
    if (missing_.insert(entry->location).second) fail(what);
    return std::nullopt;
  };
  if (folder_.empty()) {
    return fail_once(
        "is not read; --external-data DIR allows files beneath DIR, as a rule the model's folder");
  }
  if (entry->length && *entry->length != bytes) {
    return fail(cat("has the length ", *entry->length, ", the tensor needs ", bytes));
  }
  if (!spend(bytes, where, sink)) return std::nullopt;
  const Descriptor folder(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) {
    return fail(cat("cannot be read: the folder of --external-data: ", std::strerror(errno)));
  }
  Descriptor file(open_beneath(folder.get(), entry->location, OpenBy::kOneCall));
  if (file.get() < 0 && (errno == ENOSYS || errno == EPERM)) {
    file = Descriptor(open_beneath(folder.get(), entry->location, OpenBy::kSteps));
  }
  if (file.get() < 0) return fail_once(reason_of(errno));
  const std::string fault = fault_of(file.get(), *entry, bytes);
  if (!fault.empty()) return fail(fault);
  return Source{std::move(file), entry->offset, text};
}

bool ExternalData::read(const Source& source, std::span<std::byte> out, const std::string& where,
                        Sink& sink) {
  const std::string fault = read_at(source.file.get(), source.offset, out);
  if (!fault.empty()) {
    sink.error(DiagKind::kExtData, where, source.text + fault);
    return false;
  }
  count(source.file.get(), static_cast<std::int64_t>(out.size()));
  const std::string_view bytes(reinterpret_cast<const char*>(out.data()), out.size());
  digest_ = sha256_hex(digest_ + sha256_hex(bytes));
  return true;
}

}  // namespace etch

// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace etch {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}  // < 0: none
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = std::exchange(other.value_, -1);
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }
  // Hands it over: to be closed by the caller.
  int release() { return std::exchange(value_, -1); }
  void reset() {
    if (value_ >= 0) ::close(release());
  }

 private:
  int value_;
};

}  // namespace etch

// Every access that Audit proves, with the loops around it. Filled while it observes
// (compiler/base/observation.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace etch {

// The bytes that one verb, or one pointer of an external function, touches in all iterations:
// `bytes` of them at first, first + step, ..., last, relative to the operand's pointer.
struct AccessRecord {
  std::string verb;
  int memory = -1;  // operands of the step first, then its constants
  bool writes = false;
  std::int64_t first = 0, last = 0, step = 0, bytes = 0;
  std::vector<std::int64_t> loops;  // how often each runs, outermost first
  bool operator==(const AccessRecord&) const = default;
};

class AccessLog {
 public:
  // A loop begins inside of loops that run `repetitions` times together.
  void enter(std::int64_t count, std::int64_t repetitions);
  // An access that runs `repetitions` times; its loops are those that still run. Equal ones are
  // kept once.
  void add(AccessRecord record, std::int64_t repetitions);
  const std::vector<AccessRecord>& records() const { return records_; }

 private:
  struct Open {
    std::int64_t count = 1;
    std::int64_t all = 1;  // repetitions inside of it
  };
  void leave(std::int64_t repetitions);

  std::vector<Open> open_;
  std::vector<AccessRecord> records_;
};

}  // namespace etch

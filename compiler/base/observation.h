// Who listens, in this thread, to what code finds out besides what it makes. Evidence needs, of
// every convolution and every access, what lowering and Audit know for a moment and then forget;
// nothing that is generated depends on it. So those who know tell an observer, if there is one, and
// no step, program or function carries it along.
#pragma once

namespace etch {

template <class T>
class Observation {
 public:
  // From now on `observer` is told, until the end of this object's life.
  explicit Observation(T& observer) : before_(current_) { current_ = &observer; }
  ~Observation() { current_ = before_; }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // Null: nobody listens.
  static T* current() { return current_; }

 private:
  static inline thread_local T* current_ = nullptr;
  T* before_;
};

}  // namespace etch

// What tools/mutation-run --rules puts into sources that have faults with switches: ETCH_FAULT is
// the number of the fault that this process makes, and a file named by ETCH_REACHED gets the
// numbers of those that it has passed. In constant expressions no fault is made.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>
#include <vector>

#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace etch_fault {

inline int active() {
  static const int number = [] {
    const char* const text = std::getenv("ETCH_FAULT");
    return text == nullptr ? -1 : std::atoi(text);
  }();
  return number;
}

class Reached {
 public:
  void note(int number) {
    const auto i = static_cast<std::size_t>(number);
    if (i >= seen_.size()) seen_.resize(i + 1000);
    seen_[i] = 1;
  }
  ~Reached() {
    std::FILE* const file = std::fopen(std::getenv("ETCH_REACHED"), "a");
    if (file == nullptr) return;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] != 0) std::fprintf(file, "%zu\n", i);
    }
    std::fclose(file);
  }

 private:
  std::vector<char> seen_;
};

inline bool made(int number) {
  static const bool noting = std::getenv("ETCH_REACHED") != nullptr;
  if (noting) {
    static Reached reached;
    reached.note(number);
  }
  return number == active();
}

constexpr bool on(int number) { return std::is_constant_evaluated() ? false : made(number); }

// `a < b` becomes `a < Less<7>{} < b`, which binds as it did.
template <class T, class Switch>
struct Left {
  const T& value;
};

#define ETCH_FAULT_COMPARISON(Name, sign, moved)                            \
  template <int number>                                                     \
  struct Name {};                                                           \
  template <class T, int number>                                            \
  constexpr Left<T, Name<number>> operator sign(const T& a, Name<number>) { \
    return {a};                                                             \
  }                                                                         \
  template <class T, int number, class U>                                   \
  constexpr bool operator sign(Left<T, Name<number>> a, const U& b) {       \
    return on(number) ? a.value moved b : a.value sign b;                   \
  }
ETCH_FAULT_COMPARISON(Less, <, <=)
ETCH_FAULT_COMPARISON(LessEqual, <=, <)
ETCH_FAULT_COMPARISON(Greater, >, >=)
ETCH_FAULT_COMPARISON(GreaterEqual, >=, >)
#undef ETCH_FAULT_COMPARISON

template <int number, bool least>
struct Extreme {
  template <class T>
  static constexpr const T& of(const T& a, const T& b) {
    return on(number) != least ? std::min(a, b) : std::max(a, b);
  }
  template <class T>
  static constexpr T of(std::initializer_list<T> all) {
    return on(number) != least ? std::min(all) : std::max(all);
  }
  template <class T, class Before>
  static constexpr const T& of(const T& a, const T& b, Before before) {
    return on(number) != least ? std::min(a, b, before) : std::max(a, b, before);
  }
};

}  // namespace etch_fault

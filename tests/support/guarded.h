// Calls an external function on memory that begins or ends at a page that nobody may touch: each
// pointer has the bytes that spans() states and no others, so an access elsewhere ends the process.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <tuple>
#include <type_traits>
#include <vector>

#include "compiler/base/check.h"
#include "templates/external.h"

namespace etch::testing {

// An argument: memory whose content does not matter, or with these first elements.
template <class T>
struct Bytes {
  std::vector<std::remove_const_t<T>> content = {};
};

enum class Guard { kBefore, kAfter };

// The bytes of a span between pages without access, against one of them.
class GuardedMemory {
 public:
  GuardedMemory(const Span& span, Guard guard) : span_(span) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto bytes = static_cast<std::size_t>(span.bytes());
    const std::size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    void* const all = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ETCH_CHECK(all != MAP_FAILED);
    start_ = static_cast<std::byte*>(all);
    if (inner > 0) ETCH_CHECK(mprotect(start_ + page, inner, PROT_READ | PROT_WRITE) == 0);
    first_ = start_ + page + (guard == Guard::kAfter ? inner - bytes : 0);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { munmap(start_, size_); }

  template <class T>
  T* fill(const std::vector<std::remove_const_t<T>>& content) {
    const auto bytes = static_cast<std::size_t>(span_.bytes());
    for (std::size_t i = 0; i < bytes; ++i) first_[i] = static_cast<std::byte>(37 * i + 11);
    const std::size_t given = content.size() * sizeof(T);
    ETCH_CHECK(given <= bytes);
    if (given > 0) std::memcpy(first_, content.data(), given);
    return reinterpret_cast<T*>(first_ - span_.begin);
  }

 private:
  Span span_;
  std::size_t size_ = 0;
  std::byte* start_ = nullptr;
  std::byte* first_ = nullptr;  // of the span
};

namespace guarded_detail {

// What spans() gets: the content that is known when compiling.
template <class T>
T* known(const Bytes<T>& argument) {
  return argument.content.empty() ? nullptr : const_cast<T*>(argument.content.data());
}
template <class T>
const T& known(const T& argument) {
  return argument;
}

class Call {
 public:
  Call(const Span* spans, Guard guard) : next_(spans), guard_(guard) {}
  template <class T>
  T* passed(const Bytes<T>& argument) {
    return memory_.emplace_back(*next_++, guard_).template fill<T>(argument.content);
  }
  template <class T>
  const T& passed(const T& argument) {
    return argument;
  }

 private:
  const Span* next_;
  Guard guard_;
  std::deque<GuardedMemory> memory_;
};

}  // namespace guarded_detail

// Calls `function` with guards after the spans, then before them.
template <class Function, class... Args>
void call_between_guards(const Function& function, const Args&... args) {
  const auto spans = function.spans(guarded_detail::known(args)...);
  for (const Guard guard : {Guard::kAfter, Guard::kBefore}) {
    guarded_detail::Call call(spans.data(), guard);
    // Braces: from the first argument to the last.
    const std::tuple<decltype(call.passed(args))...> passed{call.passed(args)...};
    std::apply(function, passed);
  }
}

}  // namespace etch::testing

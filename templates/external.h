// What an external function is: code that a staged kernel calls instead of saying it in verbs, a
// function of runtime/ or one in assembly. Each has one descriptor, a class that derives from
// RuntimeFunction or AssemblyCall and offers
//     name()              as in generated code, after "rt::" if it is the runtime's
//     header()            of runtime/: what includes it, or what its C++ form for other CPUs needs
//     floats()            whether it computes with floats; copying and choosing them does not count
//     operator()(args)    does the same natively
//     spans(args)         the bytes that each pointer among the arguments touches, in order
// and templates/external/ holds those of the runtime. spans() follows from the arguments alone. It
// gets no memory, except for what is known when compiling: a pointer to a constant array points to
// its data, all others are null.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace etch {

enum class FloatUse { kNone, kUsed };

// The header of what every network may call.
inline constexpr std::string_view kOpsHeader = "etch_ops.h";

// Bytes from a pointer, of which an argument touches those in [begin, end) and no others.
struct Span {
  std::int64_t begin = 0, end = 0;
  std::int64_t bytes() const { return end - begin; }
};

// `count` places, `step` elements from one to the next; steps may be negative.
struct Repeat {
  std::int64_t count = 1, step = 0;
};

// What loops over all of `axes` touch, each time `run` elements of T from there on.
template <class T>
Span span(const T*, std::initializer_list<Repeat> axes, std::int64_t run = 1) {
  Span out{0, run};
  for (const Repeat& axis : axes) {
    if (axis.count <= 0) return {};
    const std::int64_t distance = (axis.count - 1) * axis.step;
    (distance < 0 ? out.begin : out.end) += distance;
  }
  const auto size = static_cast<std::int64_t>(sizeof(T));
  return run <= 0 ? Span{} : Span{out.begin * size, out.end * size};
}

template <class... Each>
std::array<Span, sizeof...(Each)> spans_of(const Each&... each) {
  return {each...};
}

// How generated code names what the runtime's templates take.
template <class T>
struct RuntimeName;
#define ETCH_RUNTIME_NAME(Type, text)              \
  template <>                                      \
  struct RuntimeName<Type> {                       \
    static constexpr std::string_view kText{text}; \
  }
ETCH_RUNTIME_NAME(bool, "bool");
ETCH_RUNTIME_NAME(float, "float");
ETCH_RUNTIME_NAME(std::int8_t, "int8_t");
ETCH_RUNTIME_NAME(std::uint8_t, "uint8_t");
ETCH_RUNTIME_NAME(std::int16_t, "int16_t");
ETCH_RUNTIME_NAME(std::uint16_t, "uint16_t");
ETCH_RUNTIME_NAME(std::int32_t, "int32_t");
ETCH_RUNTIME_NAME(std::int64_t, "int64_t");

// "function<A, B>", which lives as long as the program: one for each descriptor, as functions of
// other names may have the same arguments.
template <class Descriptor, class... Arguments>
const std::string& instance_name(std::string_view function) {
  static const std::string kName = [&] {
    std::string out(function);
    for (const std::string_view each : {RuntimeName<Arguments>::kText...})
      out.append(out.size() == function.size() ? "<" : ", ").append(each);
    return out.append(">");
  }();
  return kName;
}

template <class... T>
constexpr FloatUse floats_among() {
  return (... || std::is_floating_point_v<T>) ? FloatUse::kUsed : FloatUse::kNone;
}

// A function of runtime/ that always has the same name.
class RuntimeFunction {
 public:
  RuntimeFunction(std::string_view name, std::string_view header, FloatUse floats)
      : name_(name), header_(header), floats_(floats) {}
  std::string_view space() const { return "rt::"; }
  std::string_view name() const { return name_; }
  std::string_view kind() const { return name_; }  // for counting
  std::string_view header() const { return header_; }
  FloatUse floats() const { return floats_; }

 private:
  std::string_view name_, header_;
  FloatUse floats_;
};

// A function of Step::assembly. Functions of many names are of one kind.
class AssemblyCall {
 public:
  AssemblyCall(std::string name, std::string_view header, FloatUse floats)
      : name_(std::move(name)), header_(header), floats_(floats) {}
  std::string_view space() const { return ""; }
  std::string_view name() const { return name_; }
  std::string_view kind() const { return "assembly"; }
  std::string_view header() const { return header_; }
  FloatUse floats() const { return floats_; }

 private:
  std::string name_;
  std::string_view header_;
  FloatUse floats_;
};

// One whose geometry is that of a plan: `native` and what it touches follow from the same plan.
template <class Native, std::size_t pointers>
class PlannedAssembly : public AssemblyCall {
 public:
  PlannedAssembly(AssemblyCall call, Native native, const std::array<Span, pointers>& touched)
      : AssemblyCall(std::move(call)), native_(native), touched_(touched) {}
  template <class... Args>
  void operator()(const Args&... args) const {
    native_(args...);
  }
  template <class... Args>
  const std::array<Span, pointers>& spans(const Args&...) const {
    return touched_;
  }

 private:
  Native native_;
  std::array<Span, pointers> touched_;
};

// Each pointer touches so many bytes from there on.
template <class Native, class... Bytes>
auto assembly_call(AssemblyCall call, Native native, Bytes... bytes) {
  return PlannedAssembly<Native, sizeof...(Bytes)>(std::move(call), native,
                                                   {Span{0, static_cast<std::int64_t>(bytes)}...});
}

}  // namespace etch

// JSON as it is written: in the order of the calls, to the same bytes each time, one member per
// line and short lists in one line. Text keeps letters, digits and a few signs; every other byte is
// \u00XX, so that no name of a model means anything to a program that prints it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace etch {

class JsonStream {
 public:
  JsonStream() { begin('{'); }
  // The document; nothing can be added afterwards.
  std::string finish();

  void member(std::string_view key, std::string_view text);
  void member(std::string_view key, const char* text) { member(key, std::string_view(text)); }
  void member(std::string_view key, std::int64_t number);
  void flag(std::string_view key, bool is);
  void list(std::string_view key, const std::vector<std::int64_t>& numbers);
  void list(std::string_view key, const std::vector<std::string>& texts);

  // Members are added by `body`; an empty key is for elements of an array.
  template <class Body>
  void object(std::string_view key, Body body) {
    name(key);
    begin('{');
    body();
    end('}');
  }
  template <class Body>
  void array(std::string_view key, Body body) {
    name(key);
    begin('[');
    body();
    end(']');
  }

 private:
  void name(std::string_view key);
  void begin(char bracket);
  void end(char bracket);
  void text(std::string_view text);

  std::string out_;
  int depth_ = 0;
  bool first_ = true;  // in the innermost object or array
};

// "0x3f800000": the bits of a float.
std::string bits_of(float value);

}  // namespace etch

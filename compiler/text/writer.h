// Writes C++ text by lines and scopes, so that no other code counts spaces or braces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace etch {

class Writer {
 public:
  // One line at the current depth; an empty line is written without trailing spaces.
  void line(std::string_view text = {}) {
    if (!text.empty()) text_.append(2 * static_cast<std::size_t>(depth_), ' ').append(text);
    text_.push_back('\n');
  }

  // `head {`, the body one level deeper, `}`.
  template <class Body>
  void scope(std::string_view head, Body body) {
    open(head);
    body();
    close();
  }
  // The same without a head: `{`, the body, `}`.
  template <class Body>
  void block(Body body) {
    line("{");
    ++depth_;
    body();
    close();
  }
  void open(std::string_view head) {
    line(head.empty() ? std::string("{") : std::string(head) + " {");
    ++depth_;
  }
  void close(std::string_view tail = "}") {
    --depth_;
    line(tail);
  }

  // Takes back `count` characters at `position` of text().
  void erase(std::size_t position, std::size_t count) { text_.erase(position, count); }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace etch

// Writes HTML (and SVG inside of it) so that no text can become markup: what is not a tag or an
// attribute's name is escaped, and every element that is begun is ended. Elements without content
// end in "/>", so that the page is well-formed XML, too.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace etch {

// `text` with &, <, > and both quotes as entities, and other control characters as spaces.
std::string escaped(std::string_view text);

// A coordinate or length in SVG, with one digit after the point.
std::string px(double value);

class Html {
 public:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  // <tag ...>, closed by the matching end().
  void begin(std::string_view tag, const Attributes& attributes = {});
  void end();
  void text(std::string_view text);
  // <tag ...>text</tag>
  void element(std::string_view tag, const Attributes& attributes, std::string_view text);
  void element(std::string_view tag, std::string_view text) { element(tag, {}, text); }
  // <tag .../>: for what can have no content (meta), and in SVG.
  void leaf(std::string_view tag, const Attributes& attributes);
  // Our own markup, as it is.
  void raw(std::string_view markup) { out_ += markup; }
  void newline() { out_ += '\n'; }

  // Every element must have ended.
  std::string take();

 private:
  void open(std::string_view tag, const Attributes& attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace etch

// Escaping and balance; see html.h.
#include "compiler/emit/report/html.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/text/numbers.h"

namespace etch {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += byte < 0x20 || byte == 0x7f ? ' ' : c;
    }
  }
  return out;
}

std::string px(double value) { return fixed(value, 1); }

void Html::open(std::string_view tag, const Attributes& attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [name, value] : attributes) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"";
    out_ += escaped(value);
    out_ += '"';
  }
}

void Html::begin(std::string_view tag, const Attributes& attributes) {
  open(tag, attributes);
  out_ += '>';
  open_.emplace_back(tag);
}

void Html::end() {
  ETCH_CHECK(!open_.empty());
  out_ += "</" + open_.back() + ">";
  open_.pop_back();
}

void Html::text(std::string_view text) { out_ += escaped(text); }

void Html::element(std::string_view tag, const Attributes& attributes, std::string_view text) {
  begin(tag, attributes);
  this->text(text);
  end();
}

void Html::leaf(std::string_view tag, const Attributes& attributes) {
  ETCH_CHECK(tag == "meta" || tag == "rect" || tag == "line");  // HTML ignores "/" in all others
  open(tag, attributes);
  out_ += "/>";
}

std::string Html::take() {
  ETCH_CHECK(open_.empty());
  return std::move(out_);
}

}  // namespace etch

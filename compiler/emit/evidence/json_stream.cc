// See json_stream.h.
#include "compiler/emit/evidence/json_stream.h"

#include <cstring>

#include "compiler/base/text.h"

namespace etch {

namespace {

constexpr char kHex[] = "0123456789abcdef";

bool is_allowed(char c) {
  constexpr std::string_view kSigns = " _.:/,;()[]<>+*=#%-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kSigns.find(c) != std::string_view::npos;
}

}  // namespace

void JsonStream::text(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_allowed(c)) {
      out_ += c;
    } else {
      out_ += "\\u00";
      out_ += kHex[byte >> 4];
      out_ += kHex[byte & 15];
    }
  }
  out_ += '"';
}

void JsonStream::name(std::string_view key) {
  out_ += first_ ? "\n" : ",\n";
  first_ = false;
  out_.append(static_cast<std::size_t>(depth_), ' ');
  if (key.empty()) return;
  text(key);
  out_ += ": ";
}

void JsonStream::begin(char bracket) {
  out_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonStream::end(char bracket) {
  --depth_;
  if (!first_) {
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth_), ' ');
  }
  out_ += bracket;
  first_ = false;
}

std::string JsonStream::finish() {
  end('}');
  out_ += '\n';
  return std::move(out_);
}

void JsonStream::member(std::string_view key, std::string_view value) {
  name(key);
  text(value);
}

void JsonStream::member(std::string_view key, std::int64_t number) {
  name(key);
  out_ += cat(number);
}

void JsonStream::flag(std::string_view key, bool is) {
  name(key);
  out_ += is ? "true" : "false";
}

void JsonStream::list(std::string_view key, const std::vector<std::int64_t>& numbers) {
  name(key);
  out_ += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) out_ += cat(i == 0 ? "" : ",", numbers[i]);
  out_ += ']';
}

void JsonStream::list(std::string_view key, const std::vector<std::string>& texts) {
  name(key);
  out_ += '[';
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out_ += ", ";
    text(texts[i]);
  }
  out_ += ']';
}

std::string bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::string out = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) out += kHex[bits >> shift & 15];
  return out;
}

}  // namespace etch

// See part.h.
#include "tests/support/part.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace etch {

namespace {
// FNV-1a, and a step that carries the last letters to all bits: names often end in a number.
std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  hash = (hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15;
  return hash >> 32;
}

const Part& part_to_test() {
  static const char* const text = std::getenv("ETCH_PART");
  static const Part part = text == nullptr ? Part{} : parse_part(text);
  return part;
}
}  // namespace

Part parse_part(std::string_view text) {
  Part part;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, part.number);
  const bool divided = number.ec == std::errc{} && number.ptr != end && *number.ptr == '/';
  const auto of = divided ? std::from_chars(number.ptr + 1, end, part.of) : number;
  if (divided && of.ec == std::errc{} && of.ptr == end && part.number >= 1 &&
      part.number <= part.of)
    return part;
  std::fprintf(stderr, "ETCH_PART is \"%.*s\" and has to be like 1/4\n",
               static_cast<int>(text.size()), text.data());
  std::abort();
}

bool is_in(const Part& part, std::string_view name) {
  return hash_of(name) % part.of == part.number - 1;
}

bool in_part(std::string_view name) { return is_in(part_to_test(), name); }

std::vector<std::size_t> numbers_in_part(const std::vector<std::string>& names) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (in_part(names[i])) out.push_back(i);
  if (out.empty() && !names.empty()) out.push_back(part_to_test().number % names.size());
  return out;
}

std::vector<std::size_t> numbers_in_part(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const Case& each : cases) names.push_back(each.name);
  return numbers_in_part(names);
}

std::vector<Case> part_of(std::vector<Case> cases) {
  std::vector<Case> out;
  for (const std::size_t i : numbers_in_part(cases)) out.push_back(std::move(cases[i]));
  return out;
}

std::vector<std::vector<std::size_t>> images_of_part(const std::vector<Case>& cases,
                                                     std::size_t together) {
  std::vector<std::vector<std::size_t>> out;
  for (const std::size_t i : numbers_in_part(cases)) {
    if (out.empty() || out.back().size() == together) out.emplace_back();
    out.back().push_back(i);
  }
  return out;
}

}  // namespace etch

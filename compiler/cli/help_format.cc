// Lines of help texts; see help_format.h.
#include "compiler/cli/help_format.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

namespace etch::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 30;  // where descriptions begin

// "  NAME      text", with the rest of the text in lines below.
std::string entry(const std::string& name, const std::string& text) {
  std::string out = "  " + name;
  if (out.size() + 2 > kColumn) out += "\n";
  std::size_t at = out.ends_with('\n') ? 0 : out.size();  // the column reached
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && at + 1 + word.size() > kWidth) {
      out += "\n";
      at = 0;
    }
    const std::size_t blanks = at < kColumn ? kColumn - at : 1;
    out += std::string(blanks, ' ') + word;
    at += blanks + word.size();
  }
  return out.ends_with('\n') ? out : out + "\n";
}

}  // namespace

// Commands are never printed within the help of others, so there is one mode.
std::string HelpFormat::make_help(const CLI::App* app, std::string name,
                                  CLI::AppFormatMode mode) const {
  const bool is_command = app->get_subcommands({}).empty();
  const std::string options = groups_of(app);
  return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
         (is_command ? options : make_subcommands(app, mode) + options) + "\n" + make_footer(app);
}

std::string HelpFormat::groups_of(const CLI::App* app) const {
  std::string out;
  for (const std::string& group : app->get_groups()) {
    std::vector<const CLI::Option*> options = app->get_options([&](const CLI::Option* option) {
      return option->get_group() == group && option->nonpositional();
    });
    if (group.empty() || options.empty()) continue;
    const auto rank = [&](const CLI::Option* option) {
      return option->get_required() ? 0 : option == app->get_help_ptr() ? 2 : 1;
    };
    std::ranges::stable_sort(options, {}, rank);
    out += make_group(group, false, options);
  }
  return out;
}

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
  const bool repeatable = option->get_expected_max() == CLI::detail::expected_max_vector_size;
  return entry(make_option_name(option, is_positional) + make_option_opts(option),
               make_option_desc(option) + (repeatable ? " (repeatable)" : ""));
}

// Type, default, and whether it is needed. What else it needs is said in its description.
std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return {};
  std::string out;
  if (!option->get_type_name().empty()) out += " " + option->get_type_name();
  if (!option->get_default_str().empty()) out += "=" + option->get_default_str();
  if (option->get_required()) out += " REQUIRED";
  return out;
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
  return entry(command->get_display_name(true), command->get_description());
}

}  // namespace etch::cli

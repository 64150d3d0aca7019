// The only file that knows CLI11; see parser.h.
#include "compiler/cli/parser.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "compiler/base/closest.h"
#include "compiler/base/text.h"
#include "compiler/cli/help_format.h"

namespace etch::cli {
namespace {

// CLI11 shows the description of a validator in the help, where ours say nothing.
const Option& add_check(const Option& option, CLI::Option* inner, CLI::Validator validator) {
  inner->check(validator.description(""));
  return option;
}

// CLI11 says ranges with all digits of their ends, 309 of the greatest float, and takes NaN for a
// number in any.
const Option& add_range(const Option& option, CLI::Option* inner, const CLI::Validator& range,
                        const std::string& what) {
  return add_check(option, inner,
                   CLI::Validator(
                       [range, what](std::string& text) {
                         const bool fits =
                             range(text).empty() && !std::isnan(std::strtod(text.c_str(), nullptr));
                         return fits ? std::string()
                                     : cat("expected a number ", what, ", got '", text, "'");
                       },
                       ""));
}

std::string shown(double number) {
  std::ostringstream out;
  out << number;
  return out.str();
}

std::vector<Given> given_of(const std::vector<CLI::Option*>& options) {
  std::vector<Given> given;
  for (const CLI::Option* option : options) {
    if (option->get_positional() || option->count() == 0) continue;
    const std::string name = "--" + option->get_lnames().front();
    if (option->get_items_expected_max() == 0) {
      given.push_back({name, std::nullopt});
      continue;
    }
    for (const std::string& value : option->results()) given.push_back({name, value});
  }
  return given;
}

// The command that the words named, as far as they were understood.
const CLI::App& innermost(const CLI::App& app) {
  const auto inner = app.get_subcommands([](const CLI::App* command) { return command->parsed(); });
  return inner.empty() ? app : innermost(*inner.front());
}

void add_option_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
}

// What is said of the first option that there is not, if there is one: CLI11 complains first of
// what is missing, which a wrong name may have been meant to give.
std::string about_unknown_option(const CLI::App& root) {
  const CLI::App& command = innermost(root);
  for (const std::string& word : root.remaining(true)) {
    if (word.size() < 2 || word.front() != '-') continue;
    std::vector<std::string> names;
    add_option_names(command, names);
    add_option_names(root, names);
    const std::string name = word.substr(0, word.find('='));
    return cat("there is no option '", printable(name), "'", did_you_mean(name, names));
  }
  return {};
}

// The first word that has no place, if there is one.
std::string about_extra_word(const CLI::App& root) {
  const std::vector<std::string> rest = root.remaining(true);
  return rest.empty() ? "" : cat("'", printable(rest.front()), "' is one word too many");
}

std::string about_missing_command(const CLI::App& command) {
  std::string names;
  for (const CLI::App* each : command.get_subcommands({}))
    names += cat(names.empty() ? "" : ", ", each->get_name());
  return cat("a command is needed: ", names);
}

// In our words where CLI11's need knowledge of it.
std::string text_of(const CLI::ParseError& error, const CLI::App& root) {
  std::string unknown = about_unknown_option(root);
  if (!unknown.empty()) return unknown;
  std::string text = error.what();
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::ExtrasError: {
      const std::string extra = about_extra_word(root);
      return extra.empty() ? text : extra;
    }
    case CLI::ExitCodes::ArgumentMismatch:
      return text.ends_with(" missing") ? cat(text.substr(0, text.find(':')), " needs a value")
                                        : text;
    case CLI::ExitCodes::RequiredError: {
      const CLI::App& command = innermost(root);
      return command.get_subcommands({}).empty() ? text : about_missing_command(command);
    }
    default:
      return text;
  }
}

}  // namespace

const Option& Option::required(bool is) const {
  option_->required(is);
  return *this;
}

const Option& Option::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

const Option& Option::description(const std::string& text) const {
  option_->description(text);
  return *this;
}

const Option& Option::show_default() const {
  option_->capture_default_str();
  return *this;
}

const Option& Option::check(const Check& check) const {
  return add_check(*this, option_, CLI::Validator(check, ""));
}

const Option& Option::change(const Change& change) const {
  option_->transform(change, "");
  return *this;
}

const Option& Option::one_of(std::vector<std::string> words) const {
  return add_check(*this, option_, CLI::IsMember(std::move(words)));
}

const Option& Option::between(std::int64_t least, std::int64_t most) const {
  return add_range(*this, option_, CLI::Range(least, most), cat("from ", least, " to ", most));
}

const Option& Option::between(double least, double most) const {
  return add_range(*this, option_, CLI::Range(least, most),
                   cat("from ", shown(least), " to ", shown(most)));
}

const Option& Option::not_negative() const {
  return add_range(*this, option_, CLI::NonNegativeNumber, "of at least 0");
}

const Option& Option::needs(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}

const Option& Option::separated_by_commas() const {
  option_->delimiter(',');
  return *this;
}

const Option& Option::one_argument() const {
  option_->allow_extra_args(false);
  return *this;
}

Parser::Parser(const std::string& description, const std::string& name, Help help)
    : app_(std::make_shared<CLI::App>(description, name)) {
  app_->formatter(std::make_shared<HelpFormat>());  // subcommands inherit it
  app_->fallthrough();  // options of the program may also follow the subcommand
  if (help == Help::kPrinted) {
    app_->set_help_flag("-h,--help", "print this help");
  } else {
    app_->set_help_flag();
  }
}

Parser Parser::add_subcommand(const std::string& name, const std::string& description) const {
  return Parser(std::shared_ptr<CLI::App>(app_, app_->add_subcommand(name, description)));
}

void Parser::require_subcommand() const { app_->require_subcommand(1); }

void Parser::set_version(const std::string& text) const {
  app_->set_version_flag("-V,--version", text, "print the version");
}

void Parser::footer(const std::string& text) const { app_->footer(text); }

Option Parser::add_option(const std::string& name, std::string& value,
                          const std::string& help) const {
  CLI::Option* const added = app_->add_option(name, value, help);
  const Option option(added);
  // Where a value was forgotten, CLI11 takes the option after it for one, and a folder would be
  // made that is called --force.
  const auto no_option = [app = app_.get()](const std::string& text) {
    const bool is_one = app->get_option_no_throw(text) != nullptr;
    return is_one ? cat("expected a value, got the option '", text, "'") : "";
  };
  if (added->nonpositional()) option.check(no_option);
  return option;
}

Option Parser::add_option(const std::string& name, std::vector<std::string>& values,
                          const std::string& help) const {
  return Option(app_->add_option(name, values, help));
}

Option Parser::add_option(const std::string& name, int& value, const std::string& help) const {
  return Option(app_->add_option(name, value, help));
}

Option Parser::add_option(const std::string& name, std::uint32_t& value,
                          const std::string& help) const {
  return Option(app_->add_option(name, value, help));
}

Option Parser::add_option(const std::string& name, std::int64_t& value,
                          const std::string& help) const {
  return Option(app_->add_option(name, value, help));
}

Option Parser::add_option(const std::string& name, double& value, const std::string& help) const {
  return Option(app_->add_option(name, value, help));
}

Option Parser::add_flag(const std::string& name, bool& value, const std::string& help) const {
  return Option(app_->add_flag(name, value, help));
}

void Parser::group(const std::string& heading, const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    if (CLI::Option* const option = app_->get_option_no_throw(name)) option->group(heading);
  }
}

void Parser::set_group(const std::string& heading) const { app_->group(heading); }

Option Parser::option(const std::string& name) const { return Option(app_->get_option(name)); }

void Parser::remove_option(const std::string& name) const {
  app_->remove_option(app_->get_option(name));
}

void Parser::take_given(const std::function<void(std::vector<Given>)>& take) const {
  const std::vector<CLI::Option*> added =
      app_->get_options([](const CLI::Option* option) { return option->get_name() != "--help"; });
  app_->parse_complete_callback([take, added] { take(given_of(added)); });
}

Parser::Outcome Parser::parse(const std::vector<std::string>& words, std::string& what) const {
  try {
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it takes the last first
  } catch (const CLI::Success& success) {                                 // --help, --version
    app_->exit(success);
    return Outcome::kAnswered;
  } catch (const CLI::ParseError& error) {
    what = text_of(error, *app_);
    return Outcome::kRefused;
  }
  return Outcome::kParsed;
}

bool Parser::parsed() const { return app_->parsed(); }

std::string Parser::name() const { return app_->get_name(); }

std::vector<std::string> Parser::subcommands() const {
  std::vector<std::string> names;
  for (const CLI::App* command : std::as_const(*app_).get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}

}  // namespace etch::cli

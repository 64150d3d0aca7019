// What the commands say to the parser of the command line, which is CLI11. Its header takes longer
// to compile than most of our files, so only parser.cc includes it. Parser and Option are handles:
// copies of them mean the same command and the same option.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace etch::cli {

// What is wrong with the text that an option is given; empty if nothing.
using Check = std::function<std::string(const std::string&)>;

// The text that an option takes in place of the one it is given.
using Change = std::function<std::string(const std::string&)>;

// One option, valid as long as its command's parser.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  const Option& required(bool is = true) const;
  const Option& type_name(const std::string& name) const;
  const Option& description(const std::string& text) const;
  const Option& show_default() const;
  const Option& check(const Check& check) const;
  const Option& change(const Change& change) const;
  const Option& one_of(std::vector<std::string> words) const;
  const Option& between(std::int64_t least, std::int64_t most) const;
  const Option& between(double least, double most) const;
  const Option& not_negative() const;
  const Option& needs(const Option& other) const;
  const Option& separated_by_commas() const;
  // One argument each time the option is given, so that what follows is not swallowed.
  const Option& one_argument() const;

 private:
  CLI::Option* option_;
};

// One time that an option was given: "--dim", and its value unless it is a flag.
struct Given {
  std::string option;
  std::optional<std::string> value;
};

// A command, or the program itself. The variables that options set must outlive the parsing.
class Parser {
 public:
  enum class Help { kNone, kPrinted };

  // The outermost one.
  Parser(const std::string& description, const std::string& name, Help help);

  // The one of a command below this one.
  Parser add_subcommand(const std::string& name, const std::string& description) const;
  void require_subcommand() const;
  void set_version(const std::string& text) const;
  void footer(const std::string& text) const;

  // The name of an option begins with dashes ("-o,--output"); any other is that of an argument.
  Option add_option(const std::string& name, std::string& value, const std::string& help) const;
  Option add_option(const std::string& name, std::vector<std::string>& values,
                    const std::string& help) const;
  Option add_option(const std::string& name, int& value, const std::string& help) const;
  Option add_option(const std::string& name, std::uint32_t& value, const std::string& help) const;
  Option add_option(const std::string& name, std::int64_t& value, const std::string& help) const;
  Option add_option(const std::string& name, double& value, const std::string& help) const;
  Option add_flag(const std::string& name, bool& value, const std::string& help) const;
  Option option(const std::string& name) const;
  // Puts these options, as far as they have been added, under a heading of the help text. Others
  // are under "Options".
  void group(const std::string& heading, const std::vector<std::string>& names) const;
  // The heading in the help of the program under which this command is.
  void set_group(const std::string& heading) const;
  void remove_option(const std::string& name) const;

  // Calls `take` after parsing with what was given of the options that have been added by now, in
  // the order of their adding, without arguments and --help.
  void take_given(const std::function<void(std::vector<Given>)>& take) const;

  // Parses the words that follow the program's name. `what` says what is wrong with them, or is
  // empty; --help and --version are kAnswered by what they print.
  enum class Outcome { kParsed, kAnswered, kRefused };
  Outcome parse(const std::vector<std::string>& words, std::string& what) const;

  bool parsed() const;  // whether the words name this command
  std::string name() const;
  std::vector<std::string> subcommands() const;  // their names

 private:
  explicit Parser(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}

  std::shared_ptr<CLI::App> app_;  // of a subcommand: keeps the outermost one alive
};

}  // namespace etch::cli

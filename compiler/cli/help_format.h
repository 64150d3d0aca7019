// How help texts look: groups of options, those that are needed first, in lines of at most 100
// columns. CLI11 fills in what is there. For parser.cc only.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace etch::cli {

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;

 private:
  std::string groups_of(const CLI::App* app) const;
};

}  // namespace etch::cli

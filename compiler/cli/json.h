// What commands print for scripts with --json: one object on standard output, and nothing else
// there. Keys that report.json has too mean the same; docs/json.md lists them.
#pragma once

#include <nlohmann/json.hpp>

#include "compiler/cli/parser.h"

namespace etch::cli {

using Json = nlohmann::ordered_json;

void print_json(const Json& object);

void add_json_flag(const Parser& parser, bool& json);

}  // namespace etch::cli

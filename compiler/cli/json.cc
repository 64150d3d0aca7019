// Printing of objects; see json.h.
#include "compiler/cli/json.h"

#include "compiler/host/reporter.h"

namespace etch::cli {

// Names of files may be no UTF-8.
void print_json(const Json& object) {
  print_line(object.dump(2, ' ', true, Json::error_handler_t::replace));
}

void add_json_flag(const Parser& parser, bool& json) {
  parser.add_flag("--json", json, "print a JSON object (docs/json.md) and nothing else");
}

}  // namespace etch::cli

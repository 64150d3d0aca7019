// The section on budgets: what was tried for a limit or an objective, and what each way needs.
#include "compiler/base/text.h"
#include "compiler/emit/report/report_parts.h"
#include "compiler/text/names.h"

namespace etch {

void add_budget(Html& html, const ReportData& data) {
  if (data.budget.empty()) return;
  html.raw(
      "<h2 id=\"budget\">Budget</h2>\n<div class=\"panel\"><table><thead><tr><th>Way</th>"
      "<th class=\"n\">Arena</th><th class=\"n\">Flash, about</th><th class=\"n\">MACs</th>"
      "<th></th></tr></thead><tbody>\n");
  for (const BudgetOption& option : data.budget) {
    html.begin("tr");
    html.element("td", option.what);
    for (const std::int64_t number : {option.arena_bytes, option.flash_bytes, option.macs})
      html.element("td", {{"class", "n"}}, with_thousands(number));
    html.element("td", option.chosen ? "chosen" : "");
    html.end();
    html.newline();
  }
  html.raw("</tbody></table></div>\n");
}

}  // namespace etch

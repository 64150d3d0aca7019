// report.html in a browser without a window: nothing is reported to the console, every link leads
// somewhere, headings sort, rows open, the graph can be made larger, and nothing is wider than the
// window down to that of a small telephone. Skipped without Chromium.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/base/scratch_folder.h"
#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/host/process.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {

// Collects errors from the first line of the page on.
constexpr char kBefore[] = R"(<script>
var faults = [];
addEventListener("error", (event) => faults.push("error: " + event.message));
addEventListener("securitypolicyviolation", (event) => faults.push("policy: " + event.violatedDirective));
console.error = console.warn = (...words) => faults.push("console: " + words.join(" "));
</script>)";

// Uses the page as a reader would, and leaves what went wrong in the page's title.
constexpr char kAfter[] = R"(<script>
{
const expect = (good, what) => { if (!good) faults.push(what); };
for (const link of document.querySelectorAll("a[href]"))
  expect(document.getElementById(link.getAttribute("href").slice(1)), "no " + link.getAttribute("href"));
const layers = document.querySelector("table.layers");
const column = (name) => Array.from(layers.tHead.rows[0].cells).findIndex((th) => th.textContent === name);
const values = (at) => Array.from(layers.tBodies[0].rows, (row) => Number(row.cells[at].dataset.v));
const macs = column("MACs");
const before = values(0).join();
layers.tHead.rows[0].cells[macs].click();
const down = values(macs);
expect(down.length > 5 && down.every((v, i) => i === 0 || v <= down[i - 1]), "not sorted: " + down);
layers.tHead.rows[0].cells[macs].click();
layers.tHead.rows[0].cells[macs].click();
expect(values(0).join() === before, "not in the first order");
const row = layers.tBodies[0].rows[3];
const height = row.offsetHeight;
row.cells[2].click();
expect(row.offsetHeight > height, "a row does not open");
const picture = document.getElementById("picture");
const width = picture.getBoundingClientRect().width;
document.querySelector(".graph button").click();
expect(picture.getBoundingClientRect().width > width * 1.2, "not larger");
expect(document.querySelectorAll("#picture .step").length === layers.tBodies[0].rows.length, "steps");
expect(document.querySelectorAll("#picture .peak").length === 1, "peak");
expect(document.querySelectorAll("#picture .live").length >= 1, "live tensors");
expect(document.documentElement.scrollWidth <= innerWidth, "wider than the window");
for (const each of document.querySelectorAll("body *")) {
  const scrolls = each.parentElement.closest(".panel") !== null;
  const right = each.getBoundingClientRect().right;
  expect(scrolls || right <= innerWidth + 0.5, each.tagName + " ends at " + right + " of " + innerWidth);
}
if (innerWidth <= 500) {
  for (const table of document.querySelectorAll(".words"))
    expect(table.scrollWidth <= table.parentElement.clientWidth, "text to scroll for: " + table.className);
}
document.title = "faults: " + faults.join("; ") + ".";
}
</script>)";

std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (!find_program(name).empty()) return name;
  }
  return {};
}

std::string report_of_digits() {
  Sink sink;
  CompileOptions options;
  options.target = "scalar";
  const auto program =
      compile(contents_of(source_dir() + "/examples/digits/model.onnx"), options, sink);
  if (program == nullptr) return {};
  for (const OutputFile& file : emit(*program, {})) {
    if (file.path == "report.html") return file.content;
  }
  return {};
}

// The page in a frame of this width, since windows without a screen are 500 pixels wide or more.
// Its title becomes the outer page's.
std::string in_frame(const std::string& page, int width) {
  std::string quoted;
  for (const char c : page) quoted += c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return cat(
      "<!DOCTYPE html><html><head><title>none</title></head><body><iframe width=", width,
      " height=900 style=\"border:0\" onload=\"document.title = this.contentDocument.title\" "
      "srcdoc=\"",
      quoted, "\"></iframe></body></html>");
}

// The first title of what the browser made of a page.
std::string title_of(const std::string& dom) {
  const std::size_t at = dom.find("<title>");
  if (at == std::string::npos) return {};
  return dom.substr(at + 7, dom.find("</title>") - at - 7);
}

class ReportInABrowser : public testing::TestWithParam<int> {};

// Targets: the page is the same for all
TEST_P(ReportInABrowser, SortsLinksAndHasNoErrors) {
  const std::string program = browser();
  if (program.empty()) GTEST_SKIP() << "no Chromium here (Debian: apt install chromium)";
  std::string page = report_of_digits();
  const std::size_t body = page.find("<body>"), end = page.rfind("</body>");
  ASSERT_TRUE(body != std::string::npos && end != std::string::npos);
  page.insert(end, kAfter);
  page.insert(body + 6, kBefore);
  const ScratchFolder folder(std::filesystem::temp_directory_path());
  std::ofstream(folder.path() / "report.html") << in_frame(page, GetParam());
  const ProcessResult result = run_process(
      {program, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
       "--window-size=1400,1000", cat("--user-data-dir=", (folder.path() / "profile").string()),
       cat("file://", (folder.path() / "report.html").string())},
      std::chrono::minutes(2));
  ASSERT_TRUE(result.succeeded()) << result.errors;
  EXPECT_EQ(title_of(result.output), "faults: .");
}

INSTANTIATE_TEST_SUITE_P(Widths, ReportInABrowser, testing::Values(1280, 500, 390, 320));

}  // namespace
}  // namespace etch::cli

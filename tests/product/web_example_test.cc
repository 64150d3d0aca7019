// examples/web as its README says: one command builds the page, node classifies the held-out digits
// with its module, and in Chromium a drawn circle is a 0 and the other tab shows generated code.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/base/scratch_folder.h"
#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// Draws a circle as soon as the page is ready, and leaves what the page answers in its title.
constexpr char kStroke[] = R"(<script>
addEventListener("error", (event) => { document.title = "error: " + event.message; });
const draw = () => {
  if (document.body.dataset.ready !== "yes") return setTimeout(draw, 20);
  const paper = document.getElementById("paper"), box = paper.getBoundingClientRect();
  const send = (type, angle) => paper.dispatchEvent(new PointerEvent(type, { bubbles: true,
    clientX: box.left + 128 + 50 * Math.sin(angle), clientY: box.top + 128 - 85 * Math.cos(angle) }));
  const hint = document.getElementById("hint"), hinted = hint.offsetHeight > 0;
  send("pointerdown", 0);
  for (let i = 1; i <= 40; ++i) send("pointermove", i * Math.PI / 20);
  send("pointerup", 0);
  const vanished = hint.offsetHeight === 0;
  document.querySelector("[data-panel=code]").click();
  const layer = document.getElementById("layer");
  layer.value = "n15_conv";
  layer.dispatchEvent(new Event("change"));
  const source = document.getElementById("source"), text = source.textContent;
  document.title = "answer " + document.getElementById("answer").textContent +
    (/^[0-9.]+ .s per inference$/.test(document.getElementById("time").textContent) ? ", timed" : ", no time") +
    (text.includes("void n15_conv(") && source.offsetHeight > 100 ? ", code" : ", no code") +
    (hinted && vanished ? ", hint" : ", no hint");
};
draw();
</script>)";

// Targets: the one that browsers run
TEST(WebExample, AnswersInNodeAndInABrowser) {
  for (const char* program : {"python3", "clang++-19", "node"}) {
    if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
  }
  const ScratchFolder folder(fs::temp_directory_path());
  const std::string script = source_dir() + "/examples/web/build";
  const ProcessResult built = run_process(
      {"python3", script, "--etch", etch_binary(), "-o", (folder.path() / "web").string()},
      std::chrono::minutes(5));
  ASSERT_TRUE(built.succeeded()) << built.output << built.errors;
  EXPECT_NE(built.output.find("equal to ONNX Runtime, bit for bit: 360 of 360"), std::string::npos)
      << built.output;
  if (find_program("chromium").empty()) GTEST_SKIP() << "node only: no Chromium is installed";
  std::string page = contents_of(folder.path() / "web/index.html");
  page.insert(page.rfind("</body>"), kStroke);
  std::ofstream(folder.path() / "page.html") << page;
  const ProcessResult result = run_process(
      {"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
       "--virtual-time-budget=20000", cat("--user-data-dir=", (folder.path() / "p").string()),
       cat("file://", (folder.path() / "page.html").string())},
      std::chrono::minutes(2));
  ASSERT_TRUE(result.succeeded()) << result.errors;
  const std::size_t title = result.output.find("<title>") + 7;
  EXPECT_EQ(result.output.substr(title, result.output.find("</title>") - title),
            "answer 0, timed, code, hint");
}

}  // namespace
}  // namespace etch::cli

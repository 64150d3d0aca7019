// The memory plans of real networks: the arena exceeds the largest sum of buffers that live at the
// same time by at most 5 %. The networks are beside the project in ../shared/models; without them
// this is skipped.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "compiler/compile.h"
#include "compiler/host/data_set.h"
#include "compiler/import/file.h"
#include "compiler/targets/targets.h"
#include "templates/isa/traits.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(source_dir()) / ".." / "shared" / "models";

std::unique_ptr<Program> compile_network(const fs::path& folder, std::string_view target) {
  Sink sink;
  const auto bytes = read_model_file((folder / "model.onnx").string(), {}, sink);
  CompileOptions options;
  options.target = std::string(target);
  options.import.data_shapes = cli::shapes_of_inputs(folder / "test_data_set_0");
  std::unique_ptr<Program> program = bytes ? compile(*bytes, options, sink) : nullptr;
  EXPECT_NE(program, nullptr) << folder << ":\n" << errors_of(sink);
  return program;
}

TEST(ArenaBound, OfEveryRealNetworkIsHeldWithinFivePercent) {
  if (!fs::exists(kModels)) GTEST_SKIP() << kModels << " is not here";
  int count = 0;
  for (const char* const kind : {"nets", "graphs"}) {
    for (const auto& entry : fs::directory_iterator(kModels / kind)) {
      for (const IsaTraits* isa : all_targets()) {
        const auto program = compile_network(entry.path(), isa->name);
        if (program == nullptr) continue;  // reported
        const std::int64_t used = program->arena_bytes - kArenaSlack;
        EXPECT_LE(used * 100, program->most_live_bytes * 105)
            << entry.path().filename() << " on " << isa->name << ": " << used << " bytes, "
            << program->most_live_bytes << " live at once";
        ++count;
      }
    }
  }
  EXPECT_GE(count, 31 * static_cast<int>(all_targets().size()));
}

}  // namespace
}  // namespace etch

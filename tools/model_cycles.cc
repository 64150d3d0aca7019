// Modelled cycles of a program whose executed blocks count_instructions.cc has written, one number
// for each piece between two marks, the first for what was before the first mark. For tools that
// run programs of others in QEMU (tools/bench-firmware --tflm).
//
//   etch_model_cycles TARGET PROGRAM BLOCKS FOLDER    FOLDER: for files in between
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "compiler/host/cycle_model.h"

int main(int argc, char** argv) {
  using namespace etch::cli;
  if (argc != 5) {
    std::fputs("usage: etch_model_cycles TARGET PROGRAM BLOCKS FOLDER\n", stderr);
    return 1;
  }
  Reporter reporter(Verbosity::kNormal);
  const PipelineModel* const model = pipeline_model(argv[1]);
  if (model == nullptr) {
    reporter.usage_error("there are models of pipelines for " + modelled_targets());
    return 1;
  }
  std::ifstream file(argv[3]);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto pieces = parse_blocks(text);
  if (!pieces || pieces->empty()) {
    reporter.io_error(argv[3], "no counts of blocks");
    return 3;
  }
  if (!can_model_cycles(reporter)) return 3;
  const auto modelled = model_cycles(*model, argv[2], *pieces, argv[4], reporter);
  if (!modelled) return static_cast<int>(reporter.exit_code());
  for (const std::int64_t cycles : modelled->cycles)
    std::printf("%lld\n", static_cast<long long>(cycles));
  return 0;
}

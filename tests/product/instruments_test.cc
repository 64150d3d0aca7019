// Generated code under instruments: `tools/instruments-check --quick` builds a few one-node models
// for scalar and AVX2 with sanitizers, between pages without access and with other compiler flags.
// The tool itself runs many more; it gets its models from here: with ETCH_INSTRUMENT_MODELS=FOLDER
// a sample of all lists of cases is written there, each with the reference's outputs.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "tests/support/agreement.h"
#include "tests/support/block_cases.h"
#include "tests/support/cases.h"
#include "tests/support/channel_cases.h"
#include "tests/support/engines.h"
#include "tests/support/float_cases.h"
#include "tests/support/function_cases.h"
#include "tests/support/move_cases.h"
#include "tests/support/padding_cases.h"
#include "tests/support/paths.h"
#include "tests/support/recorded_cases.h"
#include "tests/support/residual_cases.h"
#include "tests/support/row_cases.h"
#include "tests/support/run_time_cases.h"
#include "tests/support/select_cases.h"
#include "tests/support/table_cases.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  EXPECT_TRUE(file.good()) << path;
}

void write(const fs::path& folder, const char* role, const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bytes = tensors[i].bytes();
    write(folder / cat(role, "_", i, ".bin"),
          {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
}

// FOLDER/c0012: model.onnx, input_0.bin, output_0.bin and so on, and what it is.
void write_case(const fs::path& folder, int number, const Case& each,
                const std::vector<Tensor>& outputs) {
  char name[16];
  std::snprintf(name, sizeof name, "c%04d", number);
  fs::create_directories(folder / name);
  write(folder / name / "model.onnx", each.model);
  write(folder / name / "about.txt", each.name + "\n");
  write(folder / name, "input", each.inputs);
  write(folder / name, "output", outputs);
}

int write_cases(const fs::path& folder, const std::vector<Case>& cases) {
  int number = 0;
  for (const Case& each : cases) write_case(folder, number++, each, reference_outputs(each));
  return number;
}

// Some of everything, least of what differs only in shapes.
std::vector<Case> sample_of_all() {
  std::vector<Case> all;
  add_cases(all, small_line_convolutions(1499));
  add_cases(all, small_plane_convolutions(4001));
  add_cases(all, small_volume_convolutions(3));
  add_cases(all, small_transposed_convolutions(6));
  add_cases(all, integer_convolutions(3));
  add_cases(all, nearly_narrow_convolutions(3));
  add_cases(all, run_time_convolutions(4));
  add_cases(all, convolutions_of_padding());
  add_cases(all, larger_convolutions(16));
  add_cases(all, small_networks(10));
  add_cases(all, residual_convolutions(4));
  add_cases(all, convolutions_on_small_maps(6));
  add_cases(all, depthwise_channel_counts(1));
  add_cases(all, networks_of_blocks(3));
  add_cases(all, other_operators(1));
  add_cases(all, matrix_products(6));
  add_cases(all, float_convolutions(4));
  add_cases(all, float_matrices(4));
  add_cases(all, float_rows(12));
  add_cases(all, normalized_rows(8));
  add_cases(all, integer_to_float_products(2));
  add_cases(all, function_cases(35));
  add_cases(all, power_cases(4));
  add_cases(all, variadic_cases(10));
  add_cases(all, move_cases(1));
  add_cases(all, resize_cases(4));
  add_cases(all, networks_that_move(3));
  add_cases(all, arithmetic_cases(14));
  add_cases(all, map_cases(6));
  add_cases(all, integer_function_cases(5));
  add_cases(all, cast_cases(6));
  add_cases(all, float_window_cases(12));
  add_cases(all, quantization_cases(8));
  add_cases(all, select_cases(1));
  add_cases(all, activation_tables(2));
  add_cases(all, quantized_choices(2));
  add_cases(all, float_chains(2));
  return all;
}

// For tools/instruments-check: as many as it takes some minutes to compile for one target.
TEST(InstrumentModels, AreWrittenWhereTheToolAsks) {
  const char* const folder = std::getenv("ETCH_INSTRUMENT_MODELS");
  if (folder == nullptr) GTEST_SKIP() << "tools/instruments-check sets ETCH_INSTRUMENT_MODELS";
  int number = write_cases(folder, sample_of_all());
  for (const RecordedCase& each :
       read_recorded_cases(fs::path(source_dir()) / "tests/data/random_graphs")) {
    write_case(folder, number++, each.model, each.outputs);
  }
  std::printf("%d models\n", number);
}

// Runs the tool with a folder for its files and these arguments.
void expect_clean(std::vector<std::string> arguments, const cli::WorkFolder& folder) {
  std::vector<std::string> command = {source_dir() + "/tools/instruments-check", "--etch",
                                      etch_binary(), "--work", (folder.path() / "work").string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto result = cli::run_process(command, std::chrono::minutes(10));
  EXPECT_TRUE(result.succeeded()) << cli::describe(result) << "\n"
                                  << result.output << result.errors;
}

TEST(GeneratedCode, IsCleanUnderInstruments) {
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto folder = cli::WorkFolder::make({}, reporter);
  ASSERT_NE(folder, nullptr);
  std::vector<Case> cases = small_plane_convolutions(9001);
  cases.resize(1);
  add_cases(cases, map_cases(1));
  write_cases(folder->path() / "models", cases);
  expect_clean({"--quick", "--models", (folder->path() / "models").string()}, *folder);
}

// Networks with deliberate faults: without them a clean run would prove nothing.
TEST(Instruments, SeeTheFaultsTheyAreFor) {
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto folder = cli::WorkFolder::make({}, reporter);
  ASSERT_NE(folder, nullptr);
  expect_clean({"--self-test"}, *folder);
}

}  // namespace
}  // namespace etch

// A model that was compiled, and a program on this machine that runs it: the common part of
// `etch check`, `etch run` and `etch bench`.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/host/build.h"
#include "compiler/host/cycle_model.h"
#include "compiler/host/harness.h"
#include "compiler/host/process.h"
#include "compiler/host/reporter.h"
#include "compiler/host/work_folder.h"
#include "compiler/program/step.h"

namespace etch::cli {

// Writes `files` below `folder`, which exists. False after an I/O error.
bool write_files(const std::vector<OutputFile>& files, const std::filesystem::path& folder,
                 Reporter& reporter);

class Network {
 public:
  // Generates code for the program into a work folder (see WorkFolder::make for `keep`) and builds
  // it. Null after an error.
  static std::unique_ptr<Network> build(std::unique_ptr<Program> program, Timing timing,
                                        const std::filesystem::path& keep, Reporter& reporter);
  // The same with its steps, for count().
  static std::unique_ptr<Network> build_to_count(std::unique_ptr<Program> program,
                                                 Reporter& reporter);

  const Program& program() const { return *program_; }
  const std::vector<std::filesystem::path>& objects() const { return built_.objects; }
  // Wall-clock time that emitting and compiling took.
  double emit_seconds() const { return emit_seconds_; }
  double build_seconds() const { return build_seconds_; }

  // From now on runs this variant of a program with variants, by its place in Program::variants;
  // until then the generated code chooses.
  void choose(std::size_t variant);

  // Runs once for every sample (one tensor per input, in order, of the port's type and shape; of
  // programs for several sizes with the shapes of one of them).
  // Returns each sample's outputs, or null after an error.
  std::optional<std::vector<std::vector<Tensor>>> run(
      const std::vector<std::vector<Tensor>>& samples, Reporter& reporter) const;
  // The same of a program with a state as of a stream: each but the first sample has the states
  // that the one before has left.
  std::optional<std::vector<std::vector<Tensor>>> run_in_order(
      const std::vector<std::vector<Tensor>>& samples, Reporter& reporter) const;

  // Runs the timing of harness.h on one sample; returns what it prints.
  std::optional<std::string> bench(const std::vector<Tensor>& sample, double seconds,
                                   Reporter& reporter) const;

  // Whether there is an emulator that counts instructions; if so, time means nothing.
  bool counts() const;
  // Whether count() works: there, or one instruction at a time on this CPU.
  bool can_count() const;
  // Executed instructions of the whole network, and then of each of its steps, on each sample; also
  // on this CPU, one at a time, which takes some ten microseconds for each. Null after an error.
  std::optional<std::vector<std::vector<std::int64_t>>> count(
      const std::vector<std::vector<Tensor>>& samples, Reporter& reporter) const;
  // The same, and the cycles that `model` takes for them; where counts() is true.
  struct Cycles {
    std::vector<std::int64_t> instructions;
    ModelledCycles modelled;
  };
  std::optional<Cycles> count_cycles(const std::vector<Tensor>& sample, const PipelineModel& model,
                                     Reporter& reporter) const;

  // Bytes of stack, for images. What the deepest run so far used; a bound for any call of run(),
  // if there is one; the same for the harness's call, which the first must not exceed.
  struct Stack {
    std::int64_t used = 0;
    std::optional<std::int64_t> bound;
    std::optional<std::int64_t> bound_of_call;
  };
  // Null for programs that are no images, and before the first run.
  std::optional<Stack> stack() const;

  // From now on ends programs that run longer than this; 0 changes nothing.
  void limit_time(double seconds);

 private:
  Network() = default;

  static std::unique_ptr<Network> build_by(std::optional<Toolchain> toolchain,
                                           std::unique_ptr<Program> program, Timing timing,
                                           const std::filesystem::path& keep, Reporter& reporter);
  bool write_sample(const std::vector<Tensor>& sample, const std::filesystem::path& folder,
                    Reporter& reporter) const;
  // In the emulator, with or without the blocks for cycle_model.h.
  using Counts = std::vector<std::vector<std::int64_t>>;  // of each sample
  std::optional<Counts> count_emulated(std::size_t samples, bool blocks, Reporter& reporter) const;
  std::optional<Counts> count_here(std::size_t samples, Reporter& reporter) const;
  bool write_size(const std::vector<Tensor>& sample, const std::filesystem::path& folder,
                  Reporter& reporter) const;
  // Those of the sample's size.
  std::optional<std::vector<Tensor>> read_outputs(const std::vector<Tensor>& sample,
                                                  const std::filesystem::path& folder,
                                                  Reporter& reporter) const;
  // Runs the program with these arguments in the work folder; null after an error.
  std::optional<ProcessResult> execute(const std::vector<std::string>& arguments,
                                       const std::string& task, Reporter& reporter,
                                       const std::string& plugin = {}) const;
  bool could_not_run(const ProcessResult& result) const;
  void report_failure(const ProcessResult& result, Reporter& reporter) const;

  std::unique_ptr<Program> program_;
  Toolchain toolchain_;
  std::unique_ptr<WorkFolder> folder_;
  BuildOutput built_;
  std::string variant_ = "best";  // for the harness
  std::chrono::milliseconds time_limit_{};
  mutable std::optional<std::int64_t> stack_used_;  // what the images that ran have said
  double emit_seconds_ = 0;
  double build_seconds_ = 0;
};

// Seconds since it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace etch::cli

// The compiled objects of a generated folder as a program that calls single steps over inputs and
// constants of our choice: templates/files/prove_harness.h around the folder's own sources, built
// with the target's compiler as `etch check` builds them, run here or in an emulator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/host/reporter.h"
#include "compiler/host/toolchain.h"
#include "compiler/host/work_folder.h"
#include "compiler/program/step.h"

namespace etch::cli {

// A list of jobs in the form that the harness reads.
class JobList {
 public:
  void image(int block, std::int64_t place, const std::vector<std::uint8_t>& bytes);
  void patch(bool add, int array, int word, std::uint32_t value);
  struct Change {
    int block = 0;
    std::int64_t place = 0;
    std::uint8_t byte = 0;
  };
  void call(int step, int block, std::int64_t place, std::int64_t bytes,
            const std::vector<Change>& changes);
  void forget() { word(5); }

  bool empty() const { return bytes_.empty(); }
  std::string take();  // with the end; the list is empty then

 private:
  void word(std::uint64_t value);
  std::string bytes_;
};

// Where a buffer of the program is in the harness: block 0 is the arena, then come the ports'.
struct HarnessPlace {
  int block = 0;
  std::int64_t offset = 0;
};

class ProofRunner {
 public:
  // Copies the sources of the network `stem` from `folder` and builds them. `program` says which
  // steps, arrays and buffers they have. Null after an error.
  static std::unique_ptr<ProofRunner> build(const Program& program,
                                            const std::filesystem::path& folder,
                                            const std::string& stem, Reporter& reporter);

  HarnessPlace place_of(int buffer) const;
  std::int64_t bytes_of_buffer(int buffer) const;
  // Of array `i` of this step, in the order of the harness.
  int array_of(const Step& step, int i) const;
  bool emulated() const { return toolchain_.machine != nullptr; }

  // Calls visit(i, bytes) for each of `calls` calls of the list, which leave `span` bytes each.
  // False after an error.
  bool for_each_result(JobList& jobs, std::size_t calls, std::int64_t span,
                       const std::function<void(std::size_t, const char*)>& visit,
                       Reporter& reporter) const;

 private:
  // The bytes that the calls of the list leave, one after the other; `expected` of them. Null after
  // an error.
  std::optional<std::string> run(JobList& jobs, std::size_t expected, Reporter& reporter) const;
  explicit ProofRunner(const Program& program) : program_(program) {}
  std::string main_text(const std::string& stem) const;
  bool copy_sources(const std::filesystem::path& folder, const std::string& stem,
                    std::vector<std::string>& sources, Reporter& reporter) const;

  const Program& program_;
  Toolchain toolchain_;
  std::unique_ptr<WorkFolder> folder_;
  std::filesystem::path built_;
};

}  // namespace etch::cli

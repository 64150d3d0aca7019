// See instruction_count.h.
#include "compiler/host/instruction_count.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "compiler/host/elf_file.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"
#include "compiler/import/file.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr char kSource[] = "count_instructions.cc";
constexpr char kPlugin[] = "count_instructions.so";
constexpr char kCounts[] = "instructions.txt";
constexpr char kBlockCounts[] = "executed_blocks.txt";
constexpr char kMark[] = "etch_mark";
constexpr std::chrono::minutes kStaticBuildTimeout{5};

bool compile_plugin(const fs::path& folder, Reporter& reporter) {
  const std::string compiler = host_compiler();
  if (compiler.empty()) {
    reporter.io_error("instruction counter", missing_compiler());
    return false;
  }
  const std::string source(embedded_file(cat("templates/files/", kSource)));
  if (!write_files({{kSource, source}}, folder, reporter)) return false;
  const ProcessResult result =
      run_process({compiler, "-std=c++17", "-O2", "-fPIC", "-shared", kSource, "-o", kPlugin},
                  kStaticBuildTimeout, folder);
  if (result.succeeded()) return true;
  reporter.io_error(compiler, cat("building the instruction counter: ", describe(result),
                                  words_of(result.errors)));
  return false;
}

}  // namespace

// Bit 0 of a Thumb function's address is no part of it.
std::uint64_t address_of_mark(const fs::path& program) {
  Sink ignored;
  const std::optional<std::string> bytes =
      read_file(program.string(), std::size_t{1} << 30, "", ignored);
  if (!bytes) return 0;
  for (const ElfSymbol& symbol : read_elf(*bytes).symbols) {
    if (symbol.name == kMark && symbol.is_defined) return symbol.value & ~std::uint64_t{1};
  }
  return 0;
}

void forget_counts(const fs::path& folder) {
  std::error_code error;  // none of an earlier run
  fs::remove(folder / kCounts, error);
  fs::remove(folder / kBlockCounts, error);
}

std::optional<std::string> build_counter(const fs::path& folder, const fs::path& program,
                                         bool blocks, Reporter& reporter) {
  const std::uint64_t mark = address_of_mark(program);
  if (mark == 0) {
    reporter.internal_error(cat("the generated program has no function ", kMark));
    return std::nullopt;
  }
  std::error_code error;
  if (!fs::exists(folder / kPlugin, error) && !compile_plugin(folder, reporter))
    return std::nullopt;
  return cat("./", kPlugin, ",out=", kCounts, ",mark=", mark,
             blocks ? cat(",blocks=", kBlockCounts) : "");
}

std::vector<std::int64_t> read_counts(const fs::path& folder) {
  std::ifstream file(folder / kCounts);
  return {std::istream_iterator<std::int64_t>(file), {}};
}

std::string read_block_counts(const fs::path& folder) {
  std::ifstream file(folder / kBlockCounts);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::vector<std::int64_t>> samples_of(std::span<const std::int64_t> counts,
                                                  std::size_t samples, std::size_t pieces) {
  const std::size_t each = 2 + pieces;
  if (counts.size() != samples * each) return {};
  std::vector<std::vector<std::int64_t>> out;
  for (std::size_t i = 0; i < samples; ++i)
    out.push_back(pieces_of(counts.subspan(i * each + 1, each - 1)));
  return out;
}

std::vector<std::int64_t> pieces_of(std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 1; i < counts.size(); ++i)
    out.push_back(std::max<std::int64_t>(0, counts[i] - counts[0]));
  return out;
}

}  // namespace etch::cli

// See cycle_model.h. llvm-objdump prints the instructions of each block, llvm-mca says how many
// cycles a block takes when it is executed again and again, and the sum over executions is the
// result.
#include "compiler/host/cycle_model.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/host/build.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

// The models belong to a version of LLVM, and so do the figures.
constexpr char kObjdump[] = "llvm-objdump-19";
constexpr char kMca[] = "llvm-mca-19";
constexpr char kPackage[] = "llvm-19";
constexpr char kBlocks[] = "blocks.s";
constexpr std::chrono::minutes kTimeout{10};
constexpr int kIterations = 100;  // so many that a pipeline's start and end do not count
constexpr int kAttempts = 4;      // with fewer lines each time

constexpr char kThumb7[] = "thumbv7em-none-eabihf";
constexpr char kThumb8[] = "thumbv8m.main-none-eabihf";
constexpr char kThumb81[] = "thumbv8.1m.main-none-eabihf";
constexpr char kArm64[] = "aarch64-linux-gnu";
// Cortex-M4, M33 and M55 do not predict: a taken jump costs 1 cycle, which llvm-mca has, and the
// refill, 1 to 3 cycles in Arm's manual of Cortex-M4.
constexpr PipelineModel kModels[] = {
    {"cortex-m4", "Cortex-M4", kThumb7, "cortex-m4", "@", 2},
    {"cortex-m4-nofp", "Cortex-M4", kThumb7, "cortex-m4", "@", 2},
    {"cortex-m7", "Cortex-M7", kThumb7, "cortex-m7", "@", 0},
    {"cortex-m33", "Cortex-M33", kThumb8, "cortex-m33", "@", 2},
    {"cortex-m33-nofp", "Cortex-M33", kThumb8, "cortex-m33", "@", 2},
    {"cortex-m55", "Cortex-M55", kThumb81, "cortex-m55", "@", 2},
    {"aarch64", "Cortex-A53", kArm64, "cortex-a53", "//", 0},
    {"aarch64-dotprod", "Cortex-A76", kArm64, "neoverse-n1", "//", 0},
    {"riscv64", "C906", "riscv64-linux-gnu", "rocket-rv64", "#", 0, "+m,+a,+f,+d,+c"},
};

using BlockKey = std::pair<std::uint64_t, std::int64_t>;  // address, instructions

struct BlockModel {
  double cycles = 0;          // of one execution
  std::int64_t unknown = 0;   // of its instructions
  bool is_free_loop = false;  // its jump is one of Armv8.1-M's loops, which cost nothing
};

struct Disassembly {
  std::vector<std::uint64_t> addresses;  // ascending
  std::vector<std::string> lines;        // of each: assembly_of()
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// The disassembler goes through sections in the order of the file.
void sort_by_address(Disassembly& code) {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (std::size_t i = 0; i < code.lines.size(); ++i)
    all.emplace_back(code.addresses[i], std::move(code.lines[i]));
  std::ranges::stable_sort(all, {}, &std::pair<std::uint64_t, std::string>::first);
  for (std::size_t i = 0; i < all.size(); ++i)
    std::tie(code.addresses[i], code.lines[i]) = std::move(all[i]);
}

std::optional<Disassembly> disassemble(const PipelineModel& model, const fs::path& program,
                                       Reporter& reporter) {
  const ProcessResult result = run_process(
      {kObjdump, "-d", "--no-show-raw-insn", cat("--triple=", model.triple),
       cat("--mcpu=", model.cpu), cat("--mattr=", model.features), fs::absolute(program).string()},
      kTimeout);
  if (!result.succeeded()) {
    reporter.io_error(kObjdump, cat(describe(result), words_of(result.errors)));
    return std::nullopt;
  }
  Disassembly out;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {  // "  40053c:  nop"
    const std::string_view text = trimmed(line);
    std::uint64_t address = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address, 16);
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || digits >= text.size() || text[digits] != ':') continue;
    out.addresses.push_back(address);
    out.lines.push_back(assembly_of(text.substr(digits + 1), model.comment));
  }
  sort_by_address(out);
  return out;
}

// How many instructions depend on the condition of this one: "itte ne" of three, "vpst" of one.
std::size_t dependents_of(std::string_view line) {
  const std::string_view mnemonic = line.substr(0, line.find_first_of(" ."));
  for (const std::string_view verb : {"it", "vpst", "vpt"}) {
    if (!mnemonic.starts_with(verb)) continue;
    const std::string_view others = mnemonic.substr(verb.size());
    if (others.find_first_not_of("te") == std::string_view::npos) return 1 + others.size();
  }
  return 0;
}

// The lines of one block; fewer than it has instructions if the disassembler saw something else.
std::vector<std::string> lines_of(const Disassembly& code, const BlockKey& block) {
  const auto at = std::ranges::lower_bound(code.addresses, block.first);
  std::vector<std::string> out;
  if (at == code.addresses.end() || *at != block.first) return out;
  const auto begin = code.lines.begin() + (at - code.addresses.begin());
  const std::int64_t count = std::min<std::int64_t>(block.second, code.lines.end() - begin);
  out.assign(begin, begin + count);
  end_before_half_conditions(out);
  return out;
}

// One region per block, named by its index; instead of the lines in `left_out` there are empty
// ones.
std::string region_text(const PipelineModel& model,
                        const std::vector<std::vector<std::string>>& blocks,
                        const std::set<std::size_t>& left_out) {
  std::string text;
  std::size_t number = 0;
  const std::string_view mark =
      model.comment == "//" ? "#" : model.comment;  // as llvm-mca wants it
  const auto line = [&](const std::string& words) {
    text += cat(left_out.contains(++number) ? "" : words, "\n");
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    line(cat(mark, " LLVM-MCA-BEGIN ", i));
    for (const std::string& each : blocks[i]) line(each);
    line(cat(mark, " LLVM-MCA-END"));
  }
  return text;
}

// The lines that the assembler refuses: "blocks.s:12:3: error: ...".
std::set<std::size_t> refused_lines(const std::string& errors) {
  std::set<std::size_t> out;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(cat(kBlocks, ":"))) continue;
    if (line.find(" error: ") == std::string::npos) continue;
    std::size_t number = 0;
    const char* const digits = line.data() + sizeof kBlocks;
    if (std::from_chars(digits, line.data() + line.size(), number).ec == std::errc())
      out.insert(number);
  }
  return out;
}

// What llvm-mca says of all blocks, lines left out that its assembler does not know. Discarded
// after an error.
Json analyse(const PipelineModel& model, const std::vector<std::vector<std::string>>& blocks,
             const fs::path& folder, Reporter& reporter) {
  std::set<std::size_t> left_out;
  ProcessResult result;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (!write_files({{kBlocks, region_text(model, blocks, left_out)}}, folder, reporter))
      return Json(Json::value_t::discarded);
    result = run_process({kMca, cat("-mtriple=", model.triple), cat("-mcpu=", model.cpu),
                          cat("-mattr=", model.features), "-json", cat("-iterations=", kIterations),
                          "-instruction-info=0", "-resource-pressure=0",
                          "-skip-unsupported-instructions=lack-sched", kBlocks},
                         kTimeout, folder);
    const std::set<std::size_t> refused = refused_lines(result.errors);
    if (refused.empty()) break;
    left_out.insert(refused.begin(), refused.end());
  }
  Json said = Json::parse(result.output, nullptr, false);
  if (result.succeeded() && said.contains("CodeRegions")) return said;
  reporter.io_error(kMca, cat(describe(result), words_of(result.errors)));
  return Json(Json::value_t::discarded);
}

// By block; null after an error.
std::optional<std::map<BlockKey, BlockModel>> model_blocks(const PipelineModel& model,
                                                           const Disassembly& code,
                                                           const std::vector<BlockKey>& keys,
                                                           const fs::path& folder,
                                                           Reporter& reporter) {
  std::vector<std::vector<std::string>> blocks;
  std::map<BlockKey, BlockModel> out;
  for (const BlockKey& key : keys) {
    blocks.push_back(lines_of(code, key));
    const bool loops = !blocks.back().empty() && blocks.back().back().starts_with("le");
    out[key] = {.unknown = key.second, .is_free_loop = loops};
  }
  const Json said = analyse(model, blocks, folder, reporter);
  if (said.is_discarded()) return std::nullopt;
  for (const Json& region : said["CodeRegions"]) {
    const std::string name = region.value("Name", "");
    std::size_t index = keys.size();
    std::from_chars(name.data(), name.data() + name.size(), index);
    if (index >= keys.size()) continue;  // what is outside of all regions: nothing
    const Json& summary = region["SummaryView"];
    BlockModel& block = out[keys[index]];
    block.cycles = summary["TotalCycles"].get<double>() / kIterations;
    block.unknown = keys[index].second - summary["Instructions"].get<std::int64_t>() / kIterations;
  }
  return out;
}

}  // namespace

const PipelineModel* pipeline_model(std::string_view target) {
  const auto* found = std::ranges::find(kModels, target, &PipelineModel::target);
  return found == std::end(kModels) ? nullptr : found;
}

std::string modelled_targets() {
  std::string out;
  for (const PipelineModel& model : kModels) out += cat(out.empty() ? "" : ", ", model.target);
  return out;
}

std::optional<std::vector<BlockCounts>> parse_blocks(const std::string& text) {
  std::vector<BlockCounts> out;
  BlockCounts piece;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == "mark") {
      out.push_back(std::move(piece));
      piece.clear();
      continue;
    }
    std::istringstream numbers(line);
    ExecutedBlock block;
    if (!(numbers >> block.address >> block.instructions >> block.executions >> block.jumps))
      return std::nullopt;
    piece.push_back(block);
  }
  return piece.empty() ? std::optional(std::move(out)) : std::nullopt;
}

bool can_model_cycles(Reporter& reporter) {
  for (const char* program : {kMca, kObjdump}) {
    if (!find_program(program).empty()) continue;
    reporter.io_error("cycle model", cat(program, " is needed (", packages_hint(kPackage), ")"));
    return false;
  }
  return true;
}

std::string assembly_of(std::string_view disassembled, std::string_view comment) {
  static const std::map<std::string_view, std::string_view> kJumps = {
      {"bl", "b"}, {"blx", "bx"}, {"blr", "br"}, {"jal", "j"}, {"jalr", "jr"}};
  const std::string_view text = trimmed(disassembled.substr(0, disassembled.find(comment)));
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const auto jump = kJumps.find(text.substr(0, end));
  std::string out = cat(jump == kJumps.end() ? text.substr(0, end) : jump->second);
  std::string_view operands = trimmed(text.substr(end));
  if (operands.empty()) return out;
  const std::size_t symbol = operands.find(" <");  // after an address
  if (symbol == std::string_view::npos) return cat(out, " ", operands);
  operands = operands.substr(0, symbol);
  const std::size_t address = operands.find_last_of(" \t");
  const std::string_view others =
      address == std::string_view::npos ? "" : operands.substr(0, address + 1);
  return cat(out, " ", others, ".Lelsewhere");
}

void end_before_half_conditions(std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t dependents = dependents_of(lines[i]);
    if (dependents > 0 && i + dependents >= lines.size()) return lines.resize(i);
  }
}

std::optional<ModelledCycles> model_cycles(const PipelineModel& model, const fs::path& program,
                                           const std::vector<BlockCounts>& pieces,
                                           const fs::path& folder, Reporter& reporter) {
  std::set<BlockKey> keys;
  for (const BlockCounts& piece : pieces)
    for (const ExecutedBlock& block : piece) keys.emplace(block.address, block.instructions);
  const std::optional<Disassembly> code = disassemble(model, program, reporter);
  if (!code) return std::nullopt;
  const std::vector<BlockKey> sorted(keys.begin(), keys.end());
  const auto blocks = model_blocks(model, *code, sorted, folder, reporter);
  if (!blocks) return std::nullopt;
  ModelledCycles out;
  for (const BlockCounts& piece : pieces) {
    double cycles = 0;
    std::int64_t unknown = 0;
    for (const ExecutedBlock& block : piece) {
      const BlockModel& one = blocks->at({block.address, block.instructions});
      const auto executions = static_cast<double>(block.executions);
      const std::int64_t jumps = one.is_free_loop ? 0 : block.jumps * model.jump_cycles;
      cycles += executions * (one.cycles + static_cast<double>(one.unknown));
      cycles += static_cast<double>(jumps);
      unknown += block.executions * one.unknown;
    }
    out.cycles.push_back(std::llround(cycles));
    out.unknown.push_back(unknown);
  }
  return out;
}

}  // namespace etch::cli

// See budget.h.
#include "compiler/schedule/budget.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/passes/stream_rows.h"
#include "compiler/targets/targets.h"
#include "compiler/text/names.h"

namespace etch {
namespace {

// Streams that are lowered to see what they need: the most promising ones.
constexpr std::size_t kMostStreams = 40;
// What may be computed again for --optimize ram, and at most for a limit of the arena.
constexpr double kMostRepeated = 0.3, kMostRepeatedForLimit = 1.0;
// Moving tensors apart has to save so much of the arena.
constexpr double kSpreadGain = 1.0 / 16;
// Options that are shown on either side of the chosen one.
constexpr std::size_t kNeighbours = 3;

bool is_microcontroller(const IsaTraits& isa) {
  const Machine* const machine = machine_of(isa.name);
  return machine != nullptr && machine->kind == Machine::Kind::kFirmware;
}

std::string text_of(Objective code) {
  if (code == Objective::kSpeed) return "code for speed";
  return code == Objective::kSize ? "code for size" : "balanced code";
}

// Something that was generated: how, and what it needs.
struct Trial {
  std::optional<RowStream> stream;
  Way way;
  BudgetOption numbers;
};

class Search {
 public:
  Search(const Graph& graph, const CompileOptions& options, const IsaTraits& isa,
         const Generate& generate, const EstimateFlash& estimated_flash, Sink& sink)
      : graph_(graph),
        options_(options),
        isa_(isa),
        generate_(generate),
        estimated_flash_(estimated_flash),
        sink_(sink) {}

  std::unique_ptr<Program> run() {
    const Objective code = options_.objective;
    std::unique_ptr<Program> program = best_of_halos(graph_, code, sink_);
    if (program == nullptr) return nullptr;
    Trial chosen = trial_of(*program, std::nullopt, code, "whole tensors");
    if (!choose_arena(chosen, program)) return nullptr;
    if (!choose_flash(chosen, program)) return nullptr;
    program->budget = shown(chosen);
    return program;
  }

 private:
  bool is_ram() const { return options_.objective == Objective::kRam; }

  Trial trial_of(const Program& program, std::optional<RowStream> stream, Objective code,
                 std::string what) const {
    Trial out;
    out.stream = stream;
    out.way = {code, halos_};
    out.numbers = {std::move(what), program.arena_bytes, estimated_flash_(program).total(),
                   program.macs, false};
    return out;
  }

  // Tensors are moved apart where memory is worth more than that.
  bool may_spread() const {
    return is_microcontroller(isa_) || is_ram() || options_.arena_limit.has_value();
  }

  std::unique_ptr<Program> best_of_halos(const Graph& graph, Objective code, Sink& sink) {
    halos_ = Lowering::Halos::kWritten;
    std::unique_ptr<Program> plain = generate_(graph, {code, halos_}, sink);
    if (plain == nullptr || !may_spread()) return plain;
    Sink own;  // what it would say has been said
    std::unique_ptr<Program> spread = generate_(graph, {code, Lowering::Halos::kSpread}, own);
    if (spread == nullptr) return plain;
    const auto saved = static_cast<double>(plain->arena_bytes - spread->arena_bytes);
    if (saved < kSpreadGain * static_cast<double>(plain->arena_bytes)) return plain;
    halos_ = Lowering::Halos::kSpread;
    return spread;
  }

  // The program of a trial, once more.
  std::unique_ptr<Program> again(const Trial& trial) const {
    Sink own;
    if (!trial.stream) return generate_(graph_, trial.way, own);
    Graph streamed = graph_;
    stream_rows(streamed, *trial.stream);
    return generate_(streamed, trial.way, own);
  }

  // ---- the arena ----

  bool fits_arena(const Trial& trial) const {
    return !options_.arena_limit || trial.numbers.arena_bytes <= *options_.arena_limit;
  }

  // The same tensors, but kernels with less memory of their own.
  void try_code(Objective code) {
    Sink own;
    const std::unique_ptr<Program> program = best_of_halos(graph_, code, own);
    if (program != nullptr && program->arena_bytes < arenas_.front().numbers.arena_bytes)
      arenas_.push_back(trial_of(*program, std::nullopt, code, "whole tensors, less scratch"));
  }

  void try_streams(Objective code) {
    const double most = options_.arena_limit ? kMostRepeatedForLimit : kMostRepeated;
    for (const RowStream& stream : row_streams(graph_, most, kMostStreams)) {
      Graph streamed = graph_;
      stream_rows(streamed, stream);
      Sink own;
      const std::unique_ptr<Program> program = best_of_halos(streamed, code, own);
      if (program == nullptr) continue;
      arenas_.push_back(
          trial_of(*program, stream, code,
                   cat(counted(stream.bands, "band"), " of ", counted(stream.rows, "row"),
                       " up to ", location_of(graph_.nodes[stream.last]))));
    }
  }

  // Whether `a` is the better choice; both are allowed.
  bool is_better(const Trial& a, const Trial& b) const {
    const BudgetOption &x = a.numbers, &y = b.numbers;
    if (is_ram()) return price(x) < price(y);
    return std::pair(x.macs, x.arena_bytes) < std::pair(y.macs, y.arena_bytes);
  }

  // For --optimize ram, 1 % of the arena is worth 2 % of work.
  double price(const BudgetOption& option) const {
    const auto whole = static_cast<double>(std::max<std::int64_t>(1, arenas_.front().numbers.macs));
    return static_cast<double>(option.arena_bytes) *
           (1 + static_cast<double>(option.macs) / whole) / 2;
  }

  bool choose_arena(Trial& chosen, std::unique_ptr<Program>& program) {
    const bool whole_fits = fits_arena(chosen);
    if (!is_ram() && whole_fits) return true;
    arenas_.push_back(chosen);
    const Objective code =
        chosen.way.code == Objective::kBalanced ? Objective::kRam : chosen.way.code;
    if (code != chosen.way.code) try_code(code);
    if (code != Objective::kRam) try_code(Objective::kRam);
    try_streams(code);
    const Trial* best = nullptr;
    for (const Trial& trial : arenas_) {
      if (fits_arena(trial) && (best == nullptr || is_better(trial, *best))) best = &trial;
    }
    if (best == nullptr) {
      refuse_arena();
      return false;
    }
    if (best == &arenas_.front()) return true;
    chosen = *best;
    program = again(chosen);
    return true;
  }

  void refuse_arena() {
    const Trial& least =
        *std::min_element(arenas_.begin(), arenas_.end(), [](const Trial& a, const Trial& b) {
          return a.numbers.arena_bytes < b.numbers.arena_bytes;
        });
    const Trial& whole = arenas_.front();
    sink_.error(
        DiagKind::kLimit, "--arena-limit",
        cat("the arena cannot have ", with_thousands(*options_.arena_limit),
            " bytes: the least that was found is ", with_thousands(least.numbers.arena_bytes), " (",
            least.numbers.what, least.stream ? cat(", ", repeated_text(least.numbers)) : "",
            "), and ", with_thousands(whole.numbers.arena_bytes), " with whole tensors"));
  }

  // What is added to a refusal where both are limited.
  std::string arena_text(const Trial& trial) const {
    return cat("; its arena has ", with_thousands(trial.numbers.arena_bytes), " of ",
               with_thousands(*options_.arena_limit), " bytes");
  }

  std::string repeated_text(const BudgetOption& option) const {
    const std::int64_t whole = arenas_.front().numbers.macs;
    if (whole == 0) return "nothing is computed again";
    return cat(100 * (option.macs - whole) / whole, " % of the MACs computed again");
  }

  // ---- flash ----

  bool choose_flash(Trial& chosen, std::unique_ptr<Program>& program) {
    flashes_.push_back(chosen);
    flashes_.back().numbers.what = text_of(chosen.way.code);
    const bool fits = fits_flash(chosen);
    const bool asked =
        options_.objective == Objective::kSpeed || options_.objective == Objective::kSize;
    if (!options_.flash_limit && !asked) {
      flashes_.clear();
      return true;
    }
    for (const Objective code : {Objective::kSpeed, Objective::kBalanced, Objective::kSize}) {
      if (code == chosen.way.code) continue;
      Trial trial = chosen;
      trial.way.code = code;
      const std::unique_ptr<Program> other = again(trial);
      if (other == nullptr) continue;
      halos_ = trial.way.halos;
      flashes_.push_back(trial_of(*other, trial.stream, code, text_of(code)));
    }
    return fits || shrink(chosen, program);
  }

  bool fits_flash(const Trial& trial) const {
    return !options_.flash_limit || trial.numbers.flash_bytes <= *options_.flash_limit;
  }

  // The fastest code that fits.
  bool shrink(Trial& chosen, std::unique_ptr<Program>& program) {
    const Trial* best = nullptr;
    for (const Trial& trial : flashes_) {
      const bool fits = fits_flash(trial) && fits_arena(trial);
      if (fits && (best == nullptr || trial.way.code < best->way.code)) best = &trial;
    }
    std::optional<Trial> other;
    if (best == nullptr) {
      other = small_code_elsewhere(chosen);
      if (other) {
        best = &*other;
        flashes_ = {*other};
        flashes_.front().numbers.what = text_of(Objective::kSize);
      }
    }
    if (best == nullptr) {
      refuse_flash();
      return false;
    }
    chosen.stream = best->stream;
    chosen.way = best->way;
    chosen.numbers = best->numbers;
    program = again(chosen);
    return true;
  }

  // With other arenas that may be: code for size, where it is small enough.
  std::optional<Trial> small_code_elsewhere(const Trial& chosen) {
    std::optional<Trial> best;
    for (const Trial& arena : arenas_) {
      if (!fits_arena(arena) || arena.numbers.what == chosen.numbers.what) continue;
      Trial trial = arena;
      trial.way.code = Objective::kSize;
      const std::unique_ptr<Program> program = again(trial);
      if (program == nullptr) continue;
      halos_ = trial.way.halos;
      Trial found = trial_of(*program, trial.stream, Objective::kSize, arena.numbers.what);
      const bool fits = fits_flash(found) && fits_arena(found);
      if (fits && (!best || is_better(found, *best))) best = std::move(found);
    }
    return best;
  }

  void refuse_flash() {
    const Trial& least =
        *std::min_element(flashes_.begin(), flashes_.end(), [](const Trial& a, const Trial& b) {
          return a.numbers.flash_bytes < b.numbers.flash_bytes;
        });
    const std::unique_ptr<Program> program = again(least);
    const FlashEstimate flash = estimated_flash_(*program);
    const bool both = options_.arena_limit.has_value();
    sink_.error(DiagKind::kLimit, both ? "--flash-limit with --arena-limit" : "--flash-limit",
                cat("the network cannot have ", with_thousands(*options_.flash_limit),
                    " bytes of flash: with ", least.numbers.what, " it has ",
                    with_thousands(flash.constants), " bytes of weights and tables and about ",
                    with_thousands(flash.code), " of code, ", with_thousands(flash.total()),
                    " together", both ? arena_text(least) : ""));
  }

  // ---- what users are told ----

  // Options worth having, from the least arena on: each costs less work than those before it.
  std::vector<BudgetOption> frontier(const Trial& chosen) const {
    std::vector<BudgetOption> all;
    for (const Trial& trial : arenas_) all.push_back(trial.numbers);
    std::stable_sort(all.begin(), all.end(), [](const BudgetOption& a, const BudgetOption& b) {
      return std::pair(a.arena_bytes, a.macs) < std::pair(b.arena_bytes, b.macs);
    });
    std::vector<BudgetOption> out;
    for (const BudgetOption& option : all) {
      if (out.empty() || option.macs < out.back().macs) out.push_back(option);
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].chosen = out[i].what == chosen.numbers.what;
      if (out[i].chosen) at = i;
    }
    const std::size_t first = at > kNeighbours ? at - kNeighbours : 0;
    const std::size_t end = std::min(out.size(), at + kNeighbours + 1);
    std::vector<BudgetOption> near(out.begin() + static_cast<std::ptrdiff_t>(first),
                                   out.begin() + static_cast<std::ptrdiff_t>(end));
    if (end < out.size()) near.push_back(out.back());  // whole tensors
    return near;
  }

  std::vector<BudgetOption> shown(const Trial& chosen) const {
    std::vector<BudgetOption> out = frontier(chosen);
    std::vector<BudgetOption> codes;
    for (const Trial& trial : flashes_) {
      codes.push_back(trial.numbers);
      codes.back().chosen = trial.way.code == chosen.way.code;
    }
    std::stable_sort(codes.begin(), codes.end(), [](const BudgetOption& a, const BudgetOption& b) {
      return a.flash_bytes < b.flash_bytes;
    });
    out.insert(out.end(), codes.begin(), codes.end());
    return out;
  }

  const Graph& graph_;
  const CompileOptions& options_;
  const IsaTraits& isa_;
  const Generate& generate_;
  const EstimateFlash& estimated_flash_;
  Sink& sink_;
  Lowering::Halos halos_ = Lowering::Halos::kWritten;  // of the last program
  std::vector<Trial> arenas_;                          // whole tensors first
  std::vector<Trial> flashes_;                         // the chosen arena, with each kind of code
};

}  // namespace

std::unique_ptr<Program> compile_within(const Graph& graph, const CompileOptions& options,
                                        const IsaTraits& isa, const Generate& generate,
                                        const EstimateFlash& estimated_flash, Sink& sink) {
  return Search(graph, options, isa, generate, estimated_flash, sink).run();
}

}  // namespace etch

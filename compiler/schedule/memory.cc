// First fit over several orders, then a bounded search for a better order; see memory.h.
#include "compiler/schedule/memory.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"
#include "compiler/program/arena.h"

namespace etch {
namespace {

// A rule that softens the conflict of two buffers, with indices into Problem.
struct SoftRule {
  std::size_t output = 0;
  std::size_t input = 0;
  std::int64_t gap = 0;    // bytes that the output has to start before the input
  bool backwards = false;  // bytes that it has to start after the input
};

struct Problem {
  std::vector<int> buffers;  // of the program, in its order
  std::vector<std::int64_t> bytes, alignment;
  std::vector<int> first, last;              // live ranges
  std::vector<std::vector<SoftRule>> rules;  // of each buffer, as output or input
  // Of each, those that live with it and are not empty; nothing for buffers that have many. The
  // lists of all would grow with the square of the network's size.
  std::vector<std::optional<std::vector<std::size_t>>> neighbours;
  std::size_t size() const { return buffers.size(); }
};

// The starts strictly between `after` and `before` are wrong.
struct Forbidden {
  std::int64_t after = 0;
  std::int64_t before = 0;
  bool operator<(const Forbidden& other) const {
    return std::pair(after, before) < std::pair(other.after, other.before);
  }
};

struct Placement {
  std::vector<std::int64_t> offsets;
  std::int64_t end = 0;  // the highest
};

// What place() needs for a moment, kept for the next time.
struct Scratch {
  std::vector<Forbidden> forbidden;
  std::vector<std::pair<std::int64_t, std::size_t>> placed;  // offset and buffer, in this order
  std::int64_t pairs = 0;                                    // of buffers looked at so far
};

using Order = std::vector<int>;  // in which buffers are placed

bool uses(const Operand& operand, int buffer, bool write) {
  if (operand.buffer != buffer) return false;
  return operand.access == Access::kReadWrite || (operand.access == Access::kWrite) == write;
}

// The entry that covers all operands of `step` through which it reads `input` and writes `output`,
// or nothing if one pair of them has no entry or goes the other way.
std::optional<Overlap> rule_of(const Step& step, int output, int input) {
  std::optional<Overlap> all;
  for (std::size_t o = 0; o < step.operands.size(); ++o) {
    if (!uses(step.operands[o], output, true)) continue;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      if (!uses(step.operands[i], input, false)) continue;
      const auto entry =
          std::find_if(step.overlaps.begin(), step.overlaps.end(), [&](const Overlap& overlap) {
            return overlap.output == static_cast<int>(o) && overlap.input == static_cast<int>(i);
          });
      if (entry == step.overlaps.end()) return std::nullopt;
      if (!all) all = *entry;
      if (all->backwards != entry->backwards) return std::nullopt;
      all->distance = std::max(all->distance, entry->distance);
    }
  }
  return all;
}

bool live_together(const Problem& problem, std::size_t a, std::size_t b) {
  return problem.first[a] <= problem.last[b] && problem.first[b] <= problem.last[a];
}

// How many buffers that are not empty live with each, itself counted.
std::vector<std::size_t> count_neighbours(const Problem& problem) {
  std::vector<int> first, last;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    if (problem.bytes[i] == 0) continue;
    first.push_back(problem.first[i]);
    last.push_back(problem.last[i]);
  }
  std::sort(first.begin(), first.end());
  std::sort(last.begin(), last.end());
  std::vector<std::size_t> out(problem.size());
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const auto begun = std::upper_bound(first.begin(), first.end(), problem.last[i]);
    const auto over = std::lower_bound(last.begin(), last.end(), problem.first[i]);
    out[i] = static_cast<std::size_t>((begun - first.begin()) - (over - last.begin()));
  }
  return out;
}

// Lists neighbours where they are few, in time that grows with the lists.
void find_neighbours(Problem& problem) {
  constexpr std::size_t kFew = 64;
  const std::vector<std::size_t> count = count_neighbours(problem);
  problem.neighbours.assign(problem.size(), std::nullopt);
  Order by_first;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    if (count[i] <= std::max(kFew, problem.size() / 16)) problem.neighbours[i].emplace();
    if (problem.bytes[i] != 0) by_first.push_back(static_cast<int>(i));
  }
  std::stable_sort(by_first.begin(), by_first.end(), [&](int a, int b) {
    return problem.first[static_cast<std::size_t>(a)] < problem.first[static_cast<std::size_t>(b)];
  });
  using Living = std::set<std::pair<int, std::size_t>>;  // by their last step
  Living all, listed;
  for (const int at : by_first) {
    const auto buffer = static_cast<std::size_t>(at);
    for (Living* const living : {&all, &listed}) {
      while (!living->empty() && living->begin()->first < problem.first[buffer])
        living->erase(living->begin());
    }
    auto& own = problem.neighbours[buffer];
    for (const auto& [last, other] : own ? all : listed) {
      if (own) own->push_back(other);
      if (problem.neighbours[other]) problem.neighbours[other]->push_back(buffer);
    }
    all.emplace(problem.last[buffer], buffer);
    if (own) listed.emplace(problem.last[buffer], buffer);
  }
}

// Loads may reach this far beyond a buffer. Where another thread writes at the same time, the bytes
// there must not be those of a neighbour: no value would change, but it would be a data race.
std::int64_t bytes_behind(const Program& program) { return program.shares > 1 ? kArenaSlack : 0; }

// Gives every buffer of a network with shares memory of its own if that is little. A line of the
// cache then stays with the thread that works on that part of its tensor; where tensors share
// memory over time it moves to and fro between cores, which takes longer than small layers do.
void separate_buffers(const Program& program, Problem& problem) {
  constexpr std::int64_t kMostBytes = 256 * 1024;  // of a cache that also holds the weights
  const std::int64_t all =
      std::accumulate(problem.bytes.begin(), problem.bytes.end(), std::int64_t{0});
  if (program.shares == 1 || all > kMostBytes) return;
  std::fill(problem.first.begin(), problem.first.end(), 0);
  std::fill(problem.last.begin(), problem.last.end(), static_cast<int>(program.steps.size()) - 1);
  for (auto& rules : problem.rules) rules.clear();
}

// See buffer_alignment(); `arena` is the arena's alignment.
std::int64_t alignment_for(std::int64_t arena, std::int64_t bytes) {
  if (bytes >= kLargeBuffer) return arena;
  std::int64_t alignment = 8;
  while (bytes % alignment != 0) alignment /= 2;
  return alignment;
}

Problem problem_of(const Program& program) {
  Problem problem;
  const std::int64_t most_aligned = arena_alignment(program);
  std::vector<std::size_t> index(program.buffers.size());
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    if (buffer.home != Home::kArena) continue;
    ETCH_CHECK(buffer.bytes >= 0 && 0 <= buffer.first_step &&
               buffer.first_step <= buffer.last_step);
    index[i] = problem.size();
    problem.buffers.push_back(static_cast<int>(i));
    problem.bytes.push_back(buffer.bytes == 0 ? 0 : buffer.bytes + bytes_behind(program));
    ETCH_CHECK(most_aligned % buffer.alignment == 0);
    problem.alignment.push_back(
        std::max(buffer.alignment, alignment_for(most_aligned, buffer.bytes)));
    problem.first.push_back(buffer.first_step);
    problem.last.push_back(buffer.last_step);
  }
  problem.rules.resize(problem.size());
  for (const OverlapRule& rule : overlap_rules(program)) {
    const std::size_t output = index[static_cast<std::size_t>(rule.output)];
    const std::size_t input = index[static_cast<std::size_t>(rule.input)];
    const std::int64_t apart = problem.bytes[rule.backwards ? input : output];
    const SoftRule soft{output, input, std::min(rule.distance, apart), rule.backwards};
    problem.rules[output].push_back(soft);
    problem.rules[input].push_back(soft);
  }
  return problem;
}

// What `other`, placed at `at`, forbids for `buffer`, which lives at the same time.
Forbidden forbidden_by(const Problem& problem, std::size_t buffer, std::size_t other,
                       std::int64_t at) {
  Forbidden range{at - problem.bytes[buffer], at + problem.bytes[other]};
  for (const SoftRule& rule : problem.rules[buffer]) {
    const bool writes = rule.output == buffer && rule.input == other;
    if (!writes && (rule.input != buffer || rule.output != other)) continue;
    if (writes != rule.backwards) {
      range.after = at - rule.gap;  // this one comes first
    } else {
      range.before = at + rule.gap;
    }
  }
  return range;
}

// The least start, aligned, that no range forbids. `ranges` gives them in the order of `after`:
// from the first on that begins after the start, none can matter.
class LeastStart {
 public:
  explicit LeastStart(std::int64_t alignment) : alignment_(alignment) {}
  bool is_final(std::int64_t after) const { return after >= start_; }
  void avoid(const Forbidden& range) {
    if (range.after < start_ && start_ < range.before) start_ = round_up(range.before, alignment_);
  }
  std::int64_t get() const { return start_; }

 private:
  std::int64_t alignment_;
  std::int64_t start_ = 0;
};

bool has_rule_with(const Problem& problem, std::size_t buffer, std::size_t other) {
  return std::ranges::any_of(problem.rules[buffer], [&](const SoftRule& rule) {
    return rule.output == other || rule.input == other;
  });
}

// What those of the neighbours that have a place (offset >= 0) forbid for `buffer`, sorted: all
// that are listed, or without a list those that a rule allows to overlap.
void collect_forbidden(const Problem& problem, const Placement& placement, std::size_t buffer,
                       Scratch& scratch) {
  scratch.forbidden.clear();
  const auto add = [&](std::size_t other) {
    const std::int64_t at = placement.offsets[other];
    if (at < 0 || problem.bytes[other] == 0) return;
    const Forbidden range = forbidden_by(problem, buffer, other, at);
    if (range.after < range.before) scratch.forbidden.push_back(range);
  };
  if (problem.neighbours[buffer]) {
    scratch.pairs += static_cast<std::int64_t>(problem.neighbours[buffer]->size());
    for (const std::size_t other : *problem.neighbours[buffer]) add(other);
  } else {
    for (const SoftRule& rule : problem.rules[buffer])
      add(rule.output == buffer ? rule.input : rule.output);
  }
  std::sort(scratch.forbidden.begin(), scratch.forbidden.end());
}

// The least allowed start of `buffer` beside those that have a place. One with many neighbours
// finds them among all of these: in the order of offsets, up to the first gap. The few that a rule
// allows to overlap are in no such order.
std::int64_t first_fit(const Problem& problem, const Placement& placement, std::size_t buffer,
                       Scratch& scratch) {
  collect_forbidden(problem, placement, buffer, scratch);
  LeastStart start(problem.alignment[buffer]);
  auto next = scratch.forbidden.begin();
  const auto avoid_until = [&](std::int64_t after) {
    for (; next != scratch.forbidden.end() && next->after <= after; ++next) start.avoid(*next);
  };
  if (!problem.neighbours[buffer]) {
    for (const auto& [at, other] : scratch.placed) {
      ++scratch.pairs;
      const Forbidden range{at - problem.bytes[buffer], at + problem.bytes[other]};
      avoid_until(range.after);
      if (start.is_final(range.after)) break;
      if (live_together(problem, buffer, other) && !has_rule_with(problem, buffer, other))
        start.avoid(range);
    }
  }
  avoid_until(std::numeric_limits<std::int64_t>::max());
  return start.get();
}

// Ends early where more than `enough` bytes are taken: of such a placement only the end counts.
Placement place(const Problem& problem, const Order& order, std::int64_t enough, Scratch& scratch) {
  Placement placement;
  placement.offsets.assign(problem.size(), -1);
  scratch.placed.clear();
  const bool all_listed = std::ranges::all_of(
      problem.neighbours, [](const auto& neighbours) { return neighbours.has_value(); });
  for (const int at : order) {
    if (placement.end > enough) break;
    const auto buffer = static_cast<std::size_t>(at);
    std::int64_t& offset = placement.offsets[buffer];
    if (problem.bytes[buffer] == 0) {
      offset = 0;
      continue;
    }
    offset = first_fit(problem, placement, buffer, scratch);
    placement.end = std::max(placement.end, offset + problem.bytes[buffer]);
    if (all_listed) continue;
    const std::pair placed{offset, buffer};
    scratch.placed.insert(std::lower_bound(scratch.placed.begin(), scratch.placed.end(), placed),
                          placed);
  }
  return placement;
}

// The order of positions, stably sorted by a key that grows.
template <class Key>
Order sorted_by(std::size_t size, Key key) {
  Order order(size);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return key(static_cast<std::size_t>(a)) < key(static_cast<std::size_t>(b));
  });
  return order;
}

std::vector<Order> first_orders(const Problem& problem) {
  const auto life = [&](std::size_t i) { return std::int64_t{problem.last[i] - problem.first[i]}; };
  return {sorted_by(problem.size(), [&](std::size_t i) { return -problem.bytes[i]; }),
          sorted_by(problem.size(), [&](std::size_t i) { return -life(i); }),
          sorted_by(problem.size(),
                    [&](std::size_t i) { return -problem.bytes[i] / 16 * (life(i) + 1); }),
          sorted_by(problem.size(), [&](std::size_t i) { return problem.first[i]; }),
          sorted_by(problem.size(), [&](std::size_t i) { return -problem.last[i]; })};
}

// A fixed sequence of pseudo-random numbers (Knuth's MMIX constants): the plan must not depend
// on a library's generator.
class Dice {
 public:
  std::size_t below(std::size_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_ = 1;
};

// Moves buffers to earlier places of the order as long as that does not make things worse. The
// number of trials shrinks with the size of the problem to bound the time.
Placement improved(const Problem& problem, Order order, Placement best, std::int64_t bound,
                   Scratch& scratch) {
  constexpr std::int64_t kWork = 12'000'000;  // pairs looked at
  constexpr std::int64_t kMostTrials = 2000;
  const auto size = static_cast<std::int64_t>(problem.size());
  const std::int64_t trials = std::min(kMostTrials, kWork / (size * size));
  Dice dice;
  for (std::int64_t trial = 0; trial < trials && best.end > bound; ++trial) {
    const std::size_t from = dice.below(order.size());
    const std::size_t to = dice.below(from + 1);
    Order changed = order;
    const auto begin = changed.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(from),
                begin + static_cast<std::ptrdiff_t>(from) + 1);
    Placement placement = place(problem, changed, best.end, scratch);
    if (placement.end > best.end) continue;
    order = std::move(changed);
    best = std::move(placement);
  }
  return best;
}

int steps_of(const Problem& problem) {
  int last = -1;
  for (const int step : problem.last) last = std::max(last, step);
  return last + 1;
}

// Bytes live during each step.
std::vector<std::int64_t> live_bytes(const Problem& problem) {
  std::vector<std::int64_t> live(static_cast<std::size_t>(steps_of(problem)) + 1, 0);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    live[static_cast<std::size_t>(problem.first[i])] += problem.bytes[i];
    live[static_cast<std::size_t>(problem.last[i]) + 1] -= problem.bytes[i];
  }
  std::partial_sum(live.begin(), live.end(), live.begin());
  return live;
}

std::int64_t most(const std::vector<std::int64_t>& bytes) {
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

// Bytes that no plan can do without: where input and output may overlap, only the larger counts.
std::int64_t unavoidable_bytes(const Problem& problem) {
  std::vector<std::int64_t> live = live_bytes(problem);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (const SoftRule& rule : problem.rules[i]) {
      if (rule.output != i) continue;
      live[static_cast<std::size_t>(problem.first[i])] -=
          std::min(problem.bytes[i], problem.bytes[rule.input]);
    }
  }
  return std::max(most(live), most(problem.bytes));
}

void check_live_ranges(const Program& program) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    for (const Operand& operand : program.steps[s]->operands) {
      const Buffer& buffer = program.buffers[static_cast<std::size_t>(operand.buffer)];
      if (buffer.home != Home::kArena) continue;
      ETCH_CHECK(buffer.first_step <= static_cast<int>(s) &&
                 static_cast<int>(s) <= buffer.last_step);
    }
  }
}

// The best of first fit over the fixed orders and of searches: the first starts from their best,
// and while more bytes are taken than have to be, one from each of the others follows.
Placement solve(const Problem& problem, Scratch& scratch) {
  std::vector<std::pair<Placement, Order>> found;
  for (Order& order : first_orders(problem)) {
    Placement placement = place(problem, order, std::numeric_limits<std::int64_t>::max(), scratch);
    found.emplace_back(std::move(placement), std::move(order));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first.end < b.first.end; });
  if (problem.size() == 0) return std::move(found.front().first);
  const std::int64_t bound = unavoidable_bytes(problem);
  std::optional<Placement> best;
  for (auto& [placement, order] : found) {
    if (best && best->end <= bound) break;
    Placement other = improved(problem, std::move(order), std::move(placement), bound, scratch);
    if (!best || other.end < best->end) best = std::move(other);
  }
  return std::move(*best);
}

}  // namespace

std::int64_t buffer_alignment(const Program& program, std::int64_t bytes) {
  return alignment_for(arena_alignment(program), bytes);
}

std::vector<OverlapRule> overlap_rules(const Program& program) {
  std::vector<OverlapRule> rules;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = *program.steps[s];
    if (step.partition.shares > 1) continue;  // shares do not read and write in order
    for (const Overlap& overlap : step.overlaps) {
      const int output = step.operands[static_cast<std::size_t>(overlap.output)].buffer;
      const int input = step.operands[static_cast<std::size_t>(overlap.input)].buffer;
      const Buffer& to = program.buffers[static_cast<std::size_t>(output)];
      const Buffer& from = program.buffers[static_cast<std::size_t>(input)];
      if (to.home != Home::kArena || from.home != Home::kArena || output == input) continue;
      const int now = static_cast<int>(s);
      if (from.last_step != now || to.first_step != now || from.first_step == now) continue;
      const auto rule = rule_of(step, output, input);
      if (rule) rules.push_back({output, input, rule->distance, rule->backwards});
    }
  }
  return rules;
}

std::int64_t plan_memory(Program& program) {
  check_live_ranges(program);
  Problem problem = problem_of(program);
  program.most_live_bytes = most(live_bytes(problem));
  separate_buffers(program, problem);
  find_neighbours(problem);
  Scratch scratch;
  const Placement placement = solve(problem, scratch);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    program.buffers[static_cast<std::size_t>(problem.buffers[i])].arena_offset =
        placement.offsets[i];
  }
  program.arena_bytes = placement.end + kArenaSlack - bytes_behind(program);
  return scratch.pairs;
}

std::int64_t saved_in_place(const Program& program) {
  const std::int64_t used = std::max<std::int64_t>(0, program.arena_bytes - kArenaSlack);
  return std::max<std::int64_t>(0, program.most_live_bytes - used);
}

}  // namespace etch

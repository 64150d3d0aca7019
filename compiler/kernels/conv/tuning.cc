// Reading and writing tuning files; see tuning.h.
#include "compiler/kernels/conv/tuning.h"

#include <algorithm>
#include <optional>

#include "compiler/base/text.h"
#include "compiler/targets/targets.h"
#include "templates/kernels/conv/conv.h"

namespace etch {
namespace {

constexpr std::size_t kMostTuningLines = 100'000;
constexpr int kMostTileSide = 4096;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r";
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;
       at = line.find_first_not_of(kBlanks, at)) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

const IsaTraits* instruction_set(std::string_view name) {
  for (const IsaTraits* const isa : all_targets()) {
    if (isa->name == name) return isa;
  }
  for (const CrossTarget& target : cross_targets()) {
    if (target.isa->name == name) return target.isa;
  }
  return nullptr;
}

std::optional<int> number(std::string_view text) {
  const auto value = parse_integer(text, 1, kMostTileSide);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

// The value of "KEY=VALUE"; nothing if the word is something else.
std::optional<std::string_view> value_of(std::string_view word, std::string_view key) {
  if (word.size() <= key.size() || word.substr(0, key.size()) != key || word[key.size()] != '=') {
    return std::nullopt;
  }
  return word.substr(key.size() + 1);
}

// One line's words become an entry; a wrong one is reported once.
class LineReader {
 public:
  LineReader(const std::vector<std::string_view>& words, int line, std::vector<TuningFault>& faults)
      : words_(words), line_(line), faults_(faults) {}

  void read(Tuning& tuning) {
    if (words_.size() != 6) {
      return fault(
          "expected TARGET LAYER tile=RxC channels=N outer=pixels|channels "
          "unroll=auto|full|N");
    }
    const IsaTraits* const isa = instruction_set(words_[0]);
    if (isa == nullptr) {
      return fault(cat("there is no instruction set '", printable(words_[0]),
                       "'; `etch targets` lists them"));
    }
    TuningEntry entry;
    entry.line = line_;
    if (!tile(entry.choice) || !channels(entry.choice, *isa) || !order(entry.choice) ||
        !unrolling(entry.choice)) {
      return;
    }
    if (const std::string reason = fault_of(entry.choice, *isa); !reason.empty()) {
      return fault(reason);
    }
    std::pair key{std::string(words_[0]), std::string(words_[1])};
    const auto [it, inserted] = tuning.entries.emplace(std::move(key), entry);
    if (!inserted) fault(cat("the layer has been on line ", it->second.line, " already"));
  }

 private:
  void fault(std::string what) { faults_.push_back({line_, std::move(what)}); }
  bool expected(const char* what, std::string_view word) {
    fault(cat("expected ", what, ", got '", printable(word), "'"));
    return false;
  }

  bool tile(TileChoice& choice) {
    const auto value = value_of(words_[2], "tile");
    const std::size_t cross = value ? value->find('x') : std::string_view::npos;
    const bool good = cross != std::string_view::npos;
    const auto rows = good ? number(value->substr(0, cross)) : std::nullopt;
    const auto cols = good ? number(value->substr(cross + 1)) : std::nullopt;
    if (!rows || !cols) return expected("tile=ROWSxCOLUMNS", words_[2]);
    choice.rows = *rows;
    choice.cols = *cols;
    return true;
  }

  bool channels(TileChoice& choice, const IsaTraits& isa) {
    const auto value = value_of(words_[3], "channels");
    const auto count = value ? number(*value) : std::nullopt;
    if (!count) return expected("channels=N", words_[3]);
    if (*count % isa.lanes != 0) {
      fault(
          cat(*count, " channels are no whole vectors: ", isa.name, " has vectors of ", isa.lanes));
      return false;
    }
    choice.vectors = *count / isa.lanes;
    return true;
  }

  bool order(TileChoice& choice) {
    const auto value = value_of(words_[4], "outer");
    if (value != "pixels" && value != "channels") {
      return expected("outer=pixels or outer=channels", words_[4]);
    }
    choice.order = value == "pixels" ? LoopOrder::kPixelsOutside : LoopOrder::kChannelsOutside;
    return true;
  }

  bool unrolling(TileChoice& choice) {
    const auto value = value_of(words_[5], "unroll");
    const auto unrolling = value ? parse_unrolling(*value) : std::nullopt;
    if (!unrolling) {
      return expected(
          cat("unroll=auto, unroll=full or unroll=N up to ", kMostUnrolledGroups).c_str(),
          words_[5]);
    }
    choice.unrolling = *unrolling;
    return true;
  }

  const std::vector<std::string_view>& words_;
  int line_;
  std::vector<TuningFault>& faults_;
};

}  // namespace

const TuningEntry* find_tuning(const Tuning& tuning, std::string_view target,
                               const std::string& layer) {
  const auto it = tuning.entries.find({std::string(target), layer});
  return it == tuning.entries.end() ? nullptr : &it->second;
}

Tuning parse_tuning(std::string_view text, std::vector<TuningFault>& faults) {
  Tuning tuning;
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    content = content.substr(0, content.find('#'));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (static_cast<std::size_t>(line) > kMostTuningLines) {
      faults.push_back({line, cat("more than ", kMostTuningLines, " lines")});
      break;
    }
    const std::vector<std::string_view> words = words_of(content);
    if (!words.empty()) LineReader(words, line, faults).read(tuning);
  }
  return tuning;
}

std::string tuning_line(const IsaTraits& isa, std::string_view layer, const TileChoice& choice) {
  return cat(isa.name, " ", layer, " ", text_of(choice, isa));
}

}  // namespace etch

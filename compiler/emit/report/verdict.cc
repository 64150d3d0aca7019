// The sentences of the verdict; see verdict.h.
#include "compiler/emit/report/verdict.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/emit/report/report_parts.h"
#include "compiler/text/names.h"

namespace etch {
namespace {

// "45 %"; one decimal where it tells parts from all and from nothing.
std::string percent(double part, double whole) {
  const double share = whole > 0 ? 100 * part / whole : 0;
  const bool whole_number = share == 0 || share == 100 || (share >= 10 && share <= 90);
  char text[32];
  std::snprintf(text, sizeof text, whole_number ? "%.0f" : "%.1f", share);
  if (share > 0 && share < 0.05) return "less than 0.1 %";
  if (share < 100 && share > 99.95) return "more than 99.9 %";
  return cat(text, " %");
}

// Steps in a row that compute with floats, as a consumer sees them: what quantizes them at the ends
// does not count.
struct Island {
  std::size_t first = 0, last = 0;  // layers
  std::int64_t macs = 0;
  double time_us = 0;
  int steps = 0;
};

bool is_conversion(const LayerReport& layer) {
  const std::string_view name = class_of(layer.kind).name;
  return name == "quantize" || name == "move";
}

std::vector<Island> islands_of(const ReportData& data) {
  std::vector<Island> islands;
  bool inside = false;
  for (std::size_t i = 0; i < data.layers.size(); ++i) {
    const LayerReport& layer = data.layers[i];
    if (!layer.has_floats) {
      inside = false;
      continue;
    }
    if (is_conversion(layer)) continue;
    if (!inside) islands.push_back({i, i, 0, 0, 0});
    inside = true;
    Island& island = islands.back();
    island.last = i;
    island.macs += layer.float_macs;
    island.time_us += layer.time ? layer.time->median_us : 0;
    ++island.steps;
  }
  return islands;
}

std::string about_islands(const ReportData& data, double total_us) {
  std::vector<Island> islands = islands_of(data);
  if (islands.empty()) return {};
  const auto weight = [](const Island& i) { return std::pair(i.time_us, i.macs); };
  std::ranges::stable_sort(islands,
                           [&](const Island& a, const Island& b) { return weight(b) < weight(a); });
  const Island& most = islands.front();
  const int steps = std::accumulate(islands.begin(), islands.end(), 0,
                                    [](int sum, const Island& i) { return sum + i.steps; });
  const auto number = static_cast<std::int64_t>(islands.size());
  std::string text = cat(number == 1 ? "1 float island of " : cat(number, " float islands with "),
                         counted(steps, "step"), number == 1 ? "" : " together");
  text += cat(number == 1 ? ": " : "; the largest: ", data.layers[most.first].name);
  if (most.first != most.last) text += cat(" to ", data.layers[most.last].name);
  if (most.macs > 0) {
    text += cat(", ", percent(static_cast<double>(most.macs), static_cast<double>(data.macs)),
                " of the multiplications");
  }
  if (total_us > 0) text += cat(", ", percent(most.time_us, total_us), " of the time");
  return text;
}

// Weights that stay packed and are multiplied as floats.
struct PackedShare {
  std::set<int> bits;  // empty: none do
  std::int64_t macs = 0;

  std::string weights() const {  // "weights of 4 or 8 bits"
    std::string text;
    for (const int each : bits) text += cat(text.empty() ? "weights of " : " or ", each);
    return text + " bits";
  }
};

PackedShare packed_share(const ReportData& data) {
  PackedShare share;
  for (const LayerReport& layer : data.layers) {
    if (layer.weight_bits == 0) continue;
    share.bits.insert(layer.weight_bits);
    share.macs += layer.macs;
  }
  return share;
}

// Of a network whose products are all of floats.
std::string about_packed(const PackedShare& packed, double all) {
  const std::string what = cat(packed.weights(), ", products of floats: ");
  if (packed.macs == 0) return cat(what, "only tables are packed, no multiplication reads them");
  const auto macs = static_cast<double>(packed.macs);
  if (macs == all) return cat(what, "all multiplications read packed weights");
  return cat(what, percent(macs, all), " of the multiplications read packed weights");
}

std::string about_integers(const ReportData& data) {
  if (data.macs == 0) return {};
  const auto all = static_cast<double>(data.macs);
  const PackedShare packed = packed_share(data);
  if (!has_quantization(data)) {
    return packed.bits.empty() ? std::string(kNotQuantized) : about_packed(packed, all);
  }
  if (data.float_macs == 0) return "all multiplications are of integers";
  const auto integers = static_cast<double>(data.macs - data.float_macs);
  std::string text = cat(percent(integers, all), " of the multiplications are of integers");
  if (packed.macs > 0) {
    text += cat(", ", percent(static_cast<double>(packed.macs), all), " of floats and ",
                packed.weights());
  }
  return text;
}

// What an option makes integers of.
std::string about_option(const ReportData& data) {
  std::map<std::string, std::set<int>> offered;  // nodes by options
  for (const FusionRecord& record : data.fusions) {
    if (!record.option.empty()) offered[record.option].insert(record.node);
  }
  std::string text;
  for (const auto& [option, nodes] : offered) {
    std::int64_t macs = 0;
    for (const LayerReport& layer : data.layers)
      macs += nodes.contains(layer.node) ? layer.float_macs : 0;
    if (macs == 0) continue;
    text += cat(text.empty() ? "" : ", ", option, " computes ",
                percent(static_cast<double>(macs), static_cast<double>(data.macs)),
                " of the multiplications in integers instead");
  }
  return text;
}

// What an option makes faster, where that is a good part of the work.
std::string about_fused(const ReportData& data) {
  if (!data.may_fuse || data.float_macs * 5 <= data.macs) return {};
  return cat("--float-products fused rounds product and sum at once, faster on this target, in ",
             percent(static_cast<double>(data.float_macs), static_cast<double>(data.macs)),
             " of the multiplications; last bits differ");
}

// First bytes and ends of buffers that are alive, in the order of the first bytes.
using Ranges = std::multiset<std::pair<std::int64_t, std::int64_t>>;

// How much of the arena holds something; outputs may be where dying inputs are.
std::int64_t used_bytes(const Ranges& alive) {
  std::int64_t used = 0, end = 0;
  for (const auto& range : alive) {
    used += std::max<std::int64_t>(0, range.second - std::max(range.first, end));
    end = std::max(end, range.second);
  }
  return used;
}

std::string about_sizes(const ReportData& data) {
  if (!data.sizes) return {};
  return cat("'", data.sizes->symbol, "' is from ", data.sizes->least, " to ", data.sizes->most,
             " when it runs: ", counted(data.sizes->functions, "function"), " for ",
             counted(static_cast<std::int64_t>(data.layers.size()), "step"),
             "; all figures are those of ", data.sizes->most);
}

std::string about_memory(const ReportData& data) {
  const RamPeak peak = ram_peak(data);
  if (peak.step < 0) return {};
  return cat("the most RAM is in use in ", data.layers[static_cast<std::size_t>(peak.step)].name,
             ", step ", peak.step, ": ", with_thousands(peak.bytes), " ",
             plural(peak.bytes, "byte"));
}

std::string about_time(const ReportData& data, double total_us) {
  if (total_us <= 0) return {};
  const auto slowest = std::ranges::max_element(data.layers, {}, [](const LayerReport& layer) {
    return layer.time ? layer.time->median_us : 0;
  });
  return cat("the slowest step is ", slowest->name, ", ",
             percent(slowest->time->median_us, total_us), " of the time");
}

}  // namespace

RamPeak ram_peak(const ReportData& data) {
  std::multimap<int, const Buffer*> begin, end;  // by steps
  for (const Buffer& buffer : data.buffers) {
    if (buffer.home != Home::kArena) continue;
    begin.emplace(buffer.first_step, &buffer);
    end.emplace(buffer.last_step + 1, &buffer);
  }
  const auto range_of = [](const Buffer& buffer) {
    return std::pair{buffer.arena_offset, buffer.arena_offset + buffer.bytes};
  };
  Ranges alive;
  RamPeak peak;
  auto born = begin.begin(), dead = end.begin();
  for (int step = 0; step < static_cast<int>(data.layers.size()); ++step) {
    for (; born != begin.end() && born->first <= step; ++born)
      alive.insert(range_of(*born->second));
    for (; dead != end.end() && dead->first <= step; ++dead)
      alive.erase(alive.find(range_of(*dead->second)));
    const std::int64_t used = used_bytes(alive);
    if (used > peak.bytes) peak = {step, used};
  }
  return peak;
}

std::vector<std::string> verdict(const ReportData& data) {
  double total_us = 0;
  for (const LayerReport& layer : data.layers) total_us += layer.time ? layer.time->median_us : 0;
  std::vector<std::string> sentences = {about_sizes(data), about_integers(data)};
  if (has_quantization(data)) sentences.push_back(about_islands(data, total_us));
  sentences.push_back(about_option(data));
  sentences.push_back(about_fused(data));
  sentences.push_back(about_memory(data));
  sentences.push_back(about_time(data, total_us));
  std::erase(sentences, "");
  return sentences;
}

}  // namespace etch

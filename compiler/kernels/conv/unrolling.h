// How much of K the bodies of a convolution's tiles spell out when the user says so (--unroll, or a
// tuning file) instead of the rule of tiles.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/program/tunable.h"
#include "templates/isa/traits.h"

namespace etch {

struct ConvPlan;

// Groups of 4 bytes of K that one iteration of the innermost loop handles.
struct Unrolling {
  enum class Kind {
    kAuto,    // the measured rule
    kFull,    // all of K, no loop
    kGroups,  // so many; all of K where it has no more
  };
  Kind kind = Kind::kAuto;
  int groups = 0;  // of kGroups: 1 .. kMostUnrolledGroups
  bool operator==(const Unrolling&) const = default;
};
inline constexpr int kMostUnrolledGroups = 4096;

// "auto", "full" or a number; null if it is none of them.
std::optional<Unrolling> parse_unrolling(std::string_view text);
std::string text_of(const Unrolling& unrolling);

// What --unroll says: of the whole network, and of single layers, by the names of their steps.
struct UnrollRequest {
  Unrolling all;
  std::map<std::string, Unrolling> layers;
};

// Of the step and each of its tiles' functions; see program/tunable.h.
bool within_limits(const ConvPlan& plan);

// What the plan spells out now: the largest of its regions' groups, or plan.unroll.
int unrolled_groups(const ConvPlan& plan);

// Sets plan.unroll and plan.straight_line. False if that would be too many statements: then it
// sets the largest unrolling that is not, or leaves the plan as it is if none is.
bool set_unrolling(ConvPlan& plan, const IsaTraits& isa, const Unrolling& unrolling);

}  // namespace etch

// Reading of arguments that many operators share: axes counted from either end, lists that are an
// attribute in old operator sets and an input in new ones, and small constant inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ops/op.h"

namespace etch {

// `axis` counted from 0; nothing when it is outside [-rank, rank - 1].
std::optional<std::int64_t> normal_axis(std::int64_t axis, std::int64_t rank);

// The attribute `name` as an axis of a tensor of rank `rank`. Reports E-ATTR when out of range.
std::optional<std::int64_t> axis_attr(ResolveContext& context, const char* name,
                                      std::int64_t fallback, std::int64_t rank);

// Input i as integers. Reports E-UNSUPPORTED when it is not constant, E-TYPE when not integer.
std::optional<std::vector<std::int64_t>> constant_ints(ResolveContext& context, int i,
                                                       const char* role);

// The list `name`: an attribute before operator set `since_input`, input i from then on.
// An empty optional inside means that it is absent; the outer one that a fault was reported.
using OptionalInts = std::optional<std::vector<std::int64_t>>;
std::optional<OptionalInts> ints_argument(ResolveContext& context, int i, const char* name,
                                          std::int64_t since_input);

// `axes` counted from 0 and ascending; reports E-ATTR when one is out of range or doubled.
std::optional<std::vector<std::int64_t>> normal_axes(ResolveContext& context,
                                                     const std::vector<std::int64_t>& axes,
                                                     std::int64_t rank);

// Reports E-TYPE unless input i has one of `allowed`. True when it has.
bool check_dtype(ResolveContext& context, int i, const char* role,
                 std::initializer_list<DType> allowed);

// Reports E-TYPE unless inputs 0 .. n-1 have the same element type. True when they have.
bool check_same_dtype(ResolveContext& context, int n);

}  // namespace etch

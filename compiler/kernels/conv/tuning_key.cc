// Geometry as text; see tuning_key.h.
#include "compiler/kernels/conv/tuning_key.h"

#include <algorithm>

#include "compiler/base/text.h"

namespace etch {
namespace {

// "/k3x3": one number for each axis; empty if all are `usual`.
std::string of_axes(const ConvProblem& problem, const char* letter, std::int64_t ConvAxis::*field,
                    std::int64_t usual) {
  std::string out;
  const auto& axes = problem.geometry.axes;
  const auto is_usual = [&](const ConvAxis& axis) { return axis.*field == usual; };
  if (std::ranges::all_of(axes, is_usual)) return out;
  for (const ConvAxis& axis : axes) out += cat(out.empty() ? letter : "x", axis.*field);
  return cat("/", out);
}

std::string padding(const ConvProblem& problem) {
  std::string out;
  bool any = false;
  for (const auto field : {&ConvAxis::pad_begin, &ConvAxis::pad_end}) {
    for (const ConvAxis& axis : problem.geometry.axes) {
      any = any || axis.*field != 0;
      out += cat(out.empty() ? "/p" : ",", axis.*field);
    }
  }
  return any ? out : "";
}

std::string shape(std::int64_t batch, std::int64_t channels, const ConvProblem& problem,
                  std::int64_t ConvAxis::*size) {
  std::string out = cat("/", batch, "x", channels);
  for (const ConvAxis& axis : problem.geometry.axes) out += cat("x", axis.*size);
  return out;
}

}  // namespace

std::string tuning_key(const ConvProblem& problem, int parts) {
  const ConvGeometry& g = problem.geometry;
  std::string out =
      cat("conv", shape(g.batch, g.in_channels, problem, &ConvAxis::in),
          shape(g.batch, g.out_channels, problem, &ConvAxis::out),
          of_axes(problem, "k", &ConvAxis::kernel, 1), of_axes(problem, "s", &ConvAxis::stride, 1),
          padding(problem), of_axes(problem, "d", &ConvAxis::dilation, 1));
  if (g.group != 1) out += cat("/g", g.group);
  if (g.direction == ConvDirection::kTransposed) out += "/transposed";
  if (problem.residual) out += "/add";
  if (problem.scale.empty()) out += "/int32";
  if (parts > 1) out += cat("/parts", parts);
  return out;
}

}  // namespace etch

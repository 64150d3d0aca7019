// The parts of the proof of a product of two run-time matrices; see product.h.
#include "compiler/prove/product.h"

#include <algorithm>
#include <any>
#include <cmath>
#include <random>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/matmul_integer/op.h"
#include "compiler/ops/qlinear_matmul/op.h"
#include "compiler/ops/reference_math.h"
#include "compiler/program/requantize/form.h"
#include "compiler/prove/product_calls.h"
#include "compiler/prove/thresholds.h"

namespace etch::cli {

namespace {

constexpr int kProductParts = 4;  // the difference of `a` is 1, -1, 1, -1
constexpr int kRandomInputs = 16;
constexpr int kLeastRoom = 16;       // results on a side of the zero point that show sums
constexpr int kMostTries = 32;       // to find a factor with a simple formula
constexpr std::int64_t kChunk = 32;  // of the depth: more than any instruction adds at once

int end_of(DType type, bool high) { return static_cast<int>(high ? max_of(type) : min_of(type)); }

// First place and number of elements of every part of the depth whose extremes are called.
std::vector<std::pair<std::int64_t, std::int64_t>> parts_of(std::int64_t depth) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out = {{0, depth}};
  for (std::int64_t k = 0; k < depth && depth > kChunk; k += kChunk / 2)
    out.emplace_back(k, std::min(kChunk, depth - k));
  return out;
}

// Which makes of a sum nine tenths of the way to the limit.
float factor_to_limit(const RunTimeProduct& product, std::int64_t sum) {
  const int room =
      sum < 0 ? product.y_zero_point - product.low : product.high - product.y_zero_point;
  if (sum == 0 || room < 1) return 1;
  return 0.9F * static_cast<float>(room) / static_cast<float>(std::abs(sum));
}

// Whether a product and a shift by 32 bits or more round as floats do, whatever the sum is.
bool is_simple(const RunTimeProduct& product, float factor) {
  const IntegerForm form = choose_form({factor, product.low - product.y_zero_point,
                                        product.high - product.y_zero_point, INT32_MIN, INT32_MAX});
  return form.rung == Rung::kMultiplyShift && form.exceptions.empty() && form.shifts_high();
}

// The greatest odd number of 13 bits times a power of two that is no greater and simple.
float simple_below(const RunTimeProduct& product, float factor) {
  int exponent = 0;
  const auto bits = static_cast<int>(std::ldexp(std::frexp(factor, &exponent), 13));
  const int first = bits % 2 == 0 ? bits - 1 : bits;
  const auto candidate = [&](int odd) {
    return std::ldexp(static_cast<float>(odd), exponent - 13);
  };
  for (int odd = first; odd > first - 2 * kMostTries; odd -= 2) {
    if (is_simple(product, candidate(odd))) return candidate(odd);
  }
  return candidate(first);
}

// The greatest power of two that is no greater.
float power_below(float factor) {
  int exponent = 0;
  std::frexp(factor, &exponent);
  return std::ldexp(0.5F, exponent);
}

class ProductLaboratory {
 public:
  ProductLaboratory(const ProductSubject& subject, const ProductPlaces& places,
                    const ProofRunner& runner, double most_work, Reporter& reporter)
      : subject_(subject),
        places_(places),
        runner_(runner),
        most_work_(most_work),
        reporter_(reporter) {}

  // Each element of a row of `a` alone, beside a random `b`: what every result does with every
  // pair of elements.
  PhaseResult products() {
    ProductCalls calls(subject_, places_, runner_, reporter_);
    const std::int64_t stride = stride_for(kProductParts * geometry().depth);
    std::int64_t done = 0;
    for (int part = 0; part < kProductParts; ++part) {
      const std::vector<std::int64_t> ahead = random_offsets();
      for (std::int64_t k = 0; k < geometry().depth; k += stride) {
        Matrices inputs = at_zero();
        const int unit = subject_.without_floats() ? kIntegerUnit : 1;
        const int up = part % 2 == 0 ? unit : -unit;
        const int value = inputs.a_zero + up;
        const int other = inputs.a_zero - up;
        for (std::size_t row = 0; row < ahead.size(); ++row) {
          const auto place = static_cast<std::int64_t>(row) * geometry().depth +
                             (k + ahead[row]) % geometry().depth;
          inputs.a[static_cast<std::size_t>(place)] =
              can_be(product().a_type, value) ? value : other;
        }
        randomize_b(inputs);
        calls.add(inputs, factor_of_products());
        if (part == 0) done += macs() / geometry().depth;
      }
    }
    return calls.conclude("products", done, macs());
  }

  // Sums whose parts are all the greatest, or the least: of the whole depth and of every part of it
  // of kChunk. With 8 bits, at a factor that shows them.
  PhaseResult extremes() {
    ProductCalls calls(subject_, places_, runner_, reporter_);
    const auto parts = parts_of(geometry().depth);
    const std::int64_t stride = stride_for(4 * std::ssize(parts));
    std::int64_t done = 0;
    for (std::size_t i = 0; i < parts.size(); i += static_cast<std::size_t>(stride)) {
      const auto [first, count] = parts[i];
      for (int kind = 0; kind < 4; ++kind) {
        const bool a_high = kind % 2 == 0, b_high = kind < 2;
        const Matrices inputs = extreme(a_high, b_high, first, count);
        const std::int64_t sum = count * (end_of(product().a_type, a_high) - inputs.a_zero) *
                                 (end_of(product().b_type, b_high) - inputs.b_zero);
        calls.add(inputs, factor_that_shows(sum));
      }
      done += 4 * outputs();
    }
    return calls.conclude("extremes", done, 4 * outputs() * std::ssize(parts));
  }

  // The same with constant weights: each row makes the sum of another column the greatest, or the
  // least.
  PhaseResult weight_extremes() {
    ProductCalls calls(subject_, places_, runner_, reporter_);
    const std::int64_t rows = std::ssize(places_.in_a) / geometry().depth;
    const std::int64_t turns = (geometry().cols + rows - 1) / rows;
    const std::int64_t stride = stride_for(2 * turns);
    std::int64_t done = 0;
    for (std::int64_t turn = 0; turn < turns; turn += stride) {
      for (const bool most : {true, false}) {
        Matrices inputs = at_zero();
        for (std::int64_t i = 0; i < std::ssize(inputs.a); ++i) {
          const std::int64_t column = (turn * rows + i / geometry().depth) % geometry().cols;
          const std::int64_t at = i % geometry().depth * geometry().cols + column;
          const bool up = (product().weights[static_cast<std::size_t>(at)] > 0) == most;
          inputs.a[static_cast<std::size_t>(i)] = end_of(product().a_type, up);
        }
        calls.add(inputs, 0);
        done += std::min(rows, geometry().cols - turn * rows);
      }
    }
    return calls.conclude("extremes", done, 2 * geometry().cols);
  }

  // Both sides of every place where a column's result changes, made of the inputs alone.
  PhaseResult thresholds() {
    ProductCalls calls(subject_, places_, runner_, reporter_);
    std::vector<std::vector<std::int32_t>> points;
    std::int64_t all = 0, done = 0;
    for (std::int64_t n = 0; n < geometry().cols; ++n) {
      points.push_back(check_points(n));
      all += std::ssize(points.back());
    }
    std::size_t most = 0;
    for (const auto& each : points) most = std::max(most, each.size());
    const auto stride = static_cast<std::size_t>(stride_for(2 * static_cast<std::int64_t>(most)));
    for (std::size_t i = 0; i < most; i += stride) {
      for (const bool high : {true, false}) {
        Matrices inputs = at_zero();
        const int difference = set_rows(inputs, high);
        std::int64_t here = 0;
        for (std::int64_t n = 0; n < geometry().cols; ++n) {
          const std::vector<std::int32_t>& of_column = points[static_cast<std::size_t>(n)];
          if (i < of_column.size() && is_of_high_rows(of_column[i]) == high)
            here += set_column(inputs, n, of_column[i], difference) ? 1 : 0;
        }
        if (here > 0) calls.add(inputs, 0);
        done += here;
      }
    }
    return calls.conclude("thresholds", done, all);
  }

  PhaseResult random() {
    ProductCalls calls(subject_, places_, runner_, reporter_);
    for (int turn = 0; turn < kRandomInputs; ++turn) {
      Matrices inputs = at_zero();
      for (int& each : inputs.a) each = random_value(product().a_type);
      randomize_b(inputs);
      calls.add(inputs, 0);
    }
    return calls.conclude("random", kRandomInputs, kRandomInputs);
  }

 private:
  const RunTimeProduct& product() const { return *subject_.product; }
  const MatMulGeometry& geometry() const { return product().geometry; }
  std::int64_t outputs() const { return std::ssize(places_.in_y); }
  std::int64_t macs() const { return outputs() * geometry().depth; }
  // The step between the calls that are made, so that the work stays below the limit.
  std::int64_t stride_for(std::int64_t calls) const {
    const double all = 2 * static_cast<double>(macs()) * static_cast<double>(calls);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(all / most_work_));
  }

  static bool can_be(DType type, int value) {
    return value >= end_of(type, false) && value <= end_of(type, true);
  }
  int random_value(DType type) {
    return end_of(type, false) + static_cast<int>((random_() >> 8) % 256);
  }

  // All elements at their zero points, which are random where they are known at run time only.
  Matrices at_zero() {
    Matrices out;
    out.a_zero = product().a_zero ? *product().a_zero : random_value(product().a_type);
    out.b_zero = product().b_zero ? *product().b_zero : random_value(product().b_type);
    out.a.assign(places_.in_a.size(), out.a_zero);
    out.b.assign(places_.in_b.size(), out.b_zero);
    if (!product().weights.empty()) out.b = product().weights;
    return out;
  }
  void randomize_b(Matrices& inputs) {
    if (!product().weights.empty()) return;
    for (int& each : inputs.b) each = random_value(product().b_type);
  }

  // Which element of its row each row of `a` begins with.
  std::vector<std::int64_t> random_offsets() {
    std::vector<std::int64_t> out(places_.in_a.size() / static_cast<std::size_t>(geometry().depth));
    for (std::int64_t& each : out)
      each = static_cast<std::int64_t>((random_() >> 8) %
                                       static_cast<std::uint64_t>(geometry().depth));
    return out;
  }

  // `count` elements of each row and column at an end of what they can be; zero points known at run
  // time are at the other end.
  Matrices extreme(bool a_high, bool b_high, std::int64_t first, std::int64_t count) const {
    Matrices out;
    out.a_zero = product().a_zero.value_or(end_of(product().a_type, !a_high));
    out.b_zero = product().b_zero.value_or(end_of(product().b_type, !b_high));
    const auto within = [&](std::int64_t k) { return k >= first && k < first + count; };
    for (std::int64_t i = 0; i < std::ssize(places_.in_a); ++i)
      out.a.push_back(within(i % geometry().depth) ? end_of(product().a_type, a_high) : out.a_zero);
    for (std::int64_t i = 0; i < std::ssize(places_.in_b); ++i) {
      const bool here = within(i / geometry().cols % geometry().depth);
      out.b.push_back(here ? end_of(product().b_type, b_high) : out.b_zero);
    }
    return out;
  }

  // 0, so the layer's own, where results are sums.
  float factor_of_products() const {
    if (product().shows_sums()) return 0;
    return subject_.without_floats() ? subject_.integer_words.front().factor : 1;
  }
  float factor_that_shows(std::int64_t sum) const {
    if (product().shows_sums()) return 0;
    const float factor = factor_to_limit(product(), sum);
    if (!subject_.without_floats()) return factor;
    float out = 0;
    for (const FactorWords& each : subject_.integer_words) {
      if (each.factor <= factor) out = std::max(out, each.factor);
    }
    return out;
  }

  // The places on both sides of which the result of a column differs, and what is before them.
  std::vector<std::int32_t> check_points(std::int64_t n) const {
    const auto [low, high] = sums();
    return thresholds_of(low, high, [&](std::int64_t sum) {
      return product().result(static_cast<std::int32_t>(sum), n, 0);
    });
  }

  std::pair<std::int64_t, std::int64_t> sums() const {
    std::int64_t low = 0, high = 0;
    for (const bool a_high : {true, false}) {
      for (const bool b_high : {true, false}) {
        const std::int64_t each = geometry().depth *
                                  (end_of(product().a_type, a_high) - *product().a_zero) *
                                  (end_of(product().b_type, b_high) - *product().b_zero);
        low = std::min(low, each);
        high = std::max(high, each);
      }
    }
    return {std::max<std::int64_t>(low, INT32_MIN), std::min<std::int64_t>(high, INT32_MAX)};
  }

  // Every row of `a` becomes one end of its range, and its last element one away from the zero
  // point; returns the difference of the others.
  int set_rows(Matrices& inputs, bool high) const {
    const int end = end_of(product().a_type, high);
    const int last = inputs.a_zero + (can_be(product().a_type, inputs.a_zero + 1) ? 1 : -1);
    for (std::int64_t i = 0; i < std::ssize(inputs.a); ++i) {
      const bool is_last = i % geometry().depth == geometry().depth - 1;
      inputs.a[static_cast<std::size_t>(i)] = is_last ? last : end;
    }
    return end - inputs.a_zero;
  }

  // Which of both ends of `a` makes a sum: the one that reaches further in its direction.
  bool is_of_high_rows(std::int64_t sum) const {
    const auto reach = [&](bool a_high) {
      const std::int64_t a = end_of(product().a_type, a_high) - *product().a_zero;
      const std::int64_t one = a * (end_of(product().b_type, true) - *product().b_zero);
      const std::int64_t other = a * (end_of(product().b_type, false) - *product().b_zero);
      return sum < 0 ? -std::min(one, other) : std::max(one, other);
    };
    return reach(true) >= reach(false);
  }

  // Gives column n of every matrix of `b` the sum, with rows that are `step` away from the zero
  // point and a last element that is 1 or -1 away. False: it cannot have it.
  bool set_column(Matrices& inputs, std::int64_t n, std::int64_t sum, int step) const {
    const std::int64_t depth = geometry().depth;
    const std::int64_t low = end_of(product().b_type, false) - inputs.b_zero;
    const std::int64_t high = end_of(product().b_type, true) - inputs.b_zero;
    const std::int64_t unit = inputs.a[static_cast<std::size_t>(depth - 1)] - inputs.a_zero;
    if (step == 0) return false;
    std::int64_t rest = (sum * unit) % std::abs(step);  // what the last element adds, times unit
    if (rest > high) rest -= std::abs(step);
    if (rest < low) rest += std::abs(step);
    if (rest < low || rest > high) return false;
    std::int64_t left = (sum - rest * unit) / step;
    if (left < (depth - 1) * low || left > (depth - 1) * high) return false;
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::int64_t here = k + 1 == depth ? rest : std::clamp(left, low, high);
      if (k + 1 < depth) left -= here;
      for (std::int64_t matrix = 0; matrix < element_count(geometry().b_batch); ++matrix) {
        const std::int64_t at = (matrix * depth + k) * geometry().cols + n;
        inputs.b[static_cast<std::size_t>(at)] = static_cast<int>(inputs.b_zero + here);
      }
    }
    return true;
  }

  const ProductSubject& subject_;
  const ProductPlaces& places_;
  const ProofRunner& runner_;
  const double most_work_;
  Reporter& reporter_;
  std::mt19937 random_{20261126};
};

std::optional<int> only_zero_point(const std::vector<int>& zero_point) {
  const bool same = std::ranges::all_of(zero_point, [&](int z) { return z == zero_point[0]; });
  if (zero_point.empty() || !same) return std::nullopt;
  return zero_point[0];
}

// One matrix b for all matrices of a.
std::optional<RunTimeProduct> with_weights(RunTimeProduct product, const MatMulIntegerParams& sums,
                                           const std::shared_ptr<const Tensor>& b,
                                           std::string& why) {
  const std::vector<int>& zero = *sums.b_zero_point;
  const bool rows_differ = sums.a_zero_point && !product.a_zero;
  if (rows_differ || element_count(sums.geometry.b_batch) != 1) {
    why = "a matrix product of another form";
    return std::nullopt;
  }
  for (std::int64_t i = 0; i < b->size(); ++i) {
    const auto column = static_cast<std::size_t>(i % sums.geometry.cols);
    product.weights.push_back(static_cast<int>(b->integer(i)) - zero[column % zero.size()]);
  }
  product.weight_tensor = b;
  product.b_zero = 0;
  return product;
}

}  // namespace

std::int32_t RunTimeProduct::result(std::int32_t accumulator, std::int64_t n, float factor) const {
  if (shows_sums()) return accumulator;
  const float own = scale[static_cast<std::size_t>(n) % scale.size()];
  return std::clamp(requantize(accumulator, factor == 0 ? own : factor, y_zero_point, y_type), low,
                    high);
}

float integer_factor(const std::vector<float>& scales) {
  return std::ranges::all_of(scales, may_shift_to_even) ? kShiftFactor : kIntegerFactor;
}

std::vector<float> integer_factors_for(const RunTimeProduct& product) {
  std::vector<float> out = {integer_factor(product.scale)};
  for (const auto& [first, count] : parts_of(product.geometry.depth)) {
    for (int kind = 0; kind < 4; ++kind) {
      const std::int64_t sum = count * (end_of(product.a_type, kind % 2 == 0) - *product.a_zero) *
                               (end_of(product.b_type, kind < 2) - *product.b_zero);
      const float factor = factor_to_limit(product, sum);
      if (factor >= out.front()) continue;
      out.push_back(out.front() == kShiftFactor ? power_below(factor)
                                                : simple_below(product, factor));
    }
  }
  std::sort(out.begin() + 1, out.end());
  out.erase(std::unique(out.begin() + 1, out.end()), out.end());
  return out;
}

std::optional<RunTimeProduct> run_time_product_of(const Graph& graph, const Node& node,
                                                  std::string& why) {
  const auto type_of = [&](std::size_t input) { return *graph.value(node.inputs[input]).dtype; };
  RunTimeProduct out;
  if (const auto* const sums = std::any_cast<MatMulIntegerParams>(&node.params)) {
    out.geometry = sums->geometry;
    out.a_type = type_of(0);
    out.b_type = type_of(1);
    if (sums->a_zero_point) out.a_zero = only_zero_point(*sums->a_zero_point);
    const std::shared_ptr<const Tensor>& b = graph.value(node.inputs[1]).constant;
    if (b != nullptr && sums->b_zero_point) return with_weights(std::move(out), *sums, b, why);
    if (sums->b_zero_point) out.b_zero = only_zero_point(*sums->b_zero_point);
    if (sums->a_zero_point.has_value() != out.a_zero.has_value() ||
        sums->b_zero_point.has_value() != out.b_zero.has_value())
      why = "zero points of a row or column of its own";
  } else if (const auto* const bytes = std::any_cast<QLinearMatMulParams>(&node.params)) {
    if (!bytes->a || !bytes->b || !bytes->y) {
      why = "scales are known at run time only";
      return std::nullopt;
    }
    out.geometry = bytes->geometry;
    out.a_type = type_of(0);
    out.b_type = type_of(3);
    out.a_zero = only_zero_point(bytes->a->zero_point);
    out.b_zero = only_zero_point(bytes->b->zero_point);
    out.scale = combined_scale(*bytes->a, *bytes->b, *bytes->y);
    out.y_type = *graph.value(node.outputs[0]).dtype;
    out.y_zero_point = bytes->y->zero_point_at(0);
    out.low = bytes->limits.low;
    out.high = bytes->limits.high;
    if (!out.a_zero || !out.b_zero) why = "zero points of a row or column of its own";
  } else {
    why = "no product of two tensors";
  }
  if (!why.empty()) return std::nullopt;
  return out;
}

std::optional<std::vector<PhaseResult>> prove_product(const ProductSubject& subject,
                                                      const ProofRunner& runner, double most_work,
                                                      Reporter& reporter, std::string& why) {
  const RunTimeProduct& product = *subject.product;
  const int room =
      std::max(product.high - product.y_zero_point, product.y_zero_point - product.low);
  if (!product.shows_sums() && room < kLeastRoom)
    why = cat("its results tell ", room, " sums in a row apart, and ", kLeastRoom, " are needed");
  if (!product.shows_sums() && subject.factors.empty() && !subject.without_floats())
    why = "its constants hold factors in a form that is not known here";
  if (!why.empty()) return std::nullopt;
  const std::optional<ProductPlaces> places = places_of(subject, why);
  if (!places) return std::nullopt;
  ProductLaboratory laboratory(subject, *places, runner, most_work, reporter);
  std::vector<PhaseResult> out;
  using Part = PhaseResult (ProductLaboratory::*)();
  for (const Part part : {&ProductLaboratory::products, &ProductLaboratory::extremes,
                          &ProductLaboratory::thresholds, &ProductLaboratory::random}) {
    if (part == &ProductLaboratory::thresholds && product.shows_sums()) continue;
    if (part == &ProductLaboratory::extremes && !product.weights.empty()) {
      if (!reporter.failed()) out.push_back(laboratory.weight_extremes());
      continue;
    }
    if (!reporter.failed()) out.push_back((laboratory.*part)());
  }
  return out;
}

}  // namespace etch::cli

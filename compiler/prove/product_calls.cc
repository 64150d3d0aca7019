// See product_calls.h.
#include "compiler/prove/product_calls.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ops/matmul_geometry/geometry.h"
#include "compiler/ops/reference_math.h"

namespace etch::cli {

namespace {

// Of jobs, and of results, of one run of the program.
constexpr std::size_t kMostJobBytes = 32 << 20;

// The same of a matrix that is an image of one axis: each row, channels innermost.
std::vector<std::int64_t> places_of_pixels(const View& view) {
  std::vector<std::int64_t> out;
  for (std::int64_t row = 0; row < view.shape[2]; ++row) {
    for (std::int64_t k = 0; k < view.shape[1]; ++k)
      out.push_back(row * view.stride[2] + k * view.stride[1]);
  }
  return out;
}

// `flipped` only where there is one byte.
void store(int value, bool flipped, std::int64_t bytes, std::uint8_t* to) {
  for (std::int64_t i = 0; i < bytes; ++i)
    to[i] = static_cast<std::uint8_t>((value + (flipped ? 128 : 0)) >> (8 * i));
}

// An operand of the step by its name; -1: it has none.
int operand_named(const Step& step, const std::string& name) {
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    if (step.operands[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// The place of an operand with one element, if the step has it.
void take_place(const ProductSubject& subject, const Step& step, const char* name,
                std::optional<BytePlace>& place) {
  const int operand = operand_named(step, name);
  const std::vector<View>* const views = subject.views->find(step);
  if (operand < 0 || views == nullptr) return;
  const auto i = static_cast<std::size_t>(operand);
  place = {step.operands[i].buffer, step.operands[i].offset, (*views)[i].flipped};
}

bool share_an_element(const Step& step, const ProductPlaces& places) {
  const Operand& a = step.operands[static_cast<std::size_t>(places.a)];
  const Operand& b = step.operands[static_cast<std::size_t>(places.b)];
  if (a.buffer != b.buffer) return false;
  std::set<std::int64_t> of_a;
  for (const std::int64_t place : places.in_a) of_a.insert(a.offset + place);
  return std::ranges::any_of(places.in_b,
                             [&](std::int64_t place) { return of_a.count(b.offset + place) > 0; });
}

}  // namespace

std::vector<std::int64_t> row_major_places(const View& view) {
  std::vector<std::int64_t> out = {0};
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(out.size() * static_cast<std::size_t>(view.shape[d]));
    for (const std::int64_t before : out) {
      for (std::int64_t i = 0; i < view.shape[d]; ++i) next.push_back(before + i * view.stride[d]);
    }
    out = std::move(next);
  }
  return out;
}

std::optional<ProductPlaces> operands_of(const ProductSubject& subject, std::string& why) {
  const Step& step = *subject.step;
  const RunTimeProduct& product = *subject.product;
  const bool weights = !product.weights.empty();
  ProductPlaces out;
  out.a = operand_named(step, weights ? "x" : "a");
  out.b = operand_named(step, "b");
  out.y = operand_named(step, "y");
  for (const Step* each : subject.steps) {
    const bool own = each == &step;
    take_place(subject, *each, own ? "a_zero_point" : "zero_point", out.a_zero_point);
    if (own) take_place(subject, *each, "b_zero_point", out.b_zero_point);
  }
  const std::vector<View>* const views = subject.views->find(step);
  if (views == nullptr || out.a < 0 || (out.b < 0) != weights || out.y < 0 ||
      out.a_zero_point.has_value() == product.a_zero.has_value() ||
      out.b_zero_point.has_value() == product.b_zero.has_value()) {
    why = "it has other operands";
    return std::nullopt;
  }
  return out;
}

std::optional<ProductPlaces> places_of(const ProductSubject& subject, std::string& why) {
  std::optional<ProductPlaces> found = operands_of(subject, why);
  if (!found) return std::nullopt;
  ProductPlaces out = *std::move(found);
  const Step& step = *subject.step;
  const MatMulGeometry& g = subject.product->geometry;
  const bool weights = !subject.product->weights.empty();
  const std::vector<View>* const views = subject.views->find(step);
  const auto view = [&](int operand) { return (*views)[static_cast<std::size_t>(operand)]; };
  const bool pixels = view(out.a).shape.size() == 3 && view(out.y).shape.size() == 3;
  if (weights && !pixels) why = "its tensors are no matrices";
  if (!why.empty()) return std::nullopt;
  out.in_a = weights ? places_of_pixels(view(out.a)) : row_major_places(view(out.a));
  out.in_y = weights ? places_of_pixels(view(out.y)) : row_major_places(view(out.y));
  if (!weights) out.in_b = row_major_places(view(out.b));
  const std::int64_t of_b = weights ? 0 : element_count(g.b_batch) * g.depth * g.cols;
  const bool fits = std::ssize(out.in_a) == element_count(g.a_batch) * g.rows * g.depth &&
                    std::ssize(out.in_b) == of_b && std::ssize(out.in_y) == element_count(g.output);
  if (!fits) why = "its tensors have other sizes than the product";
  if (fits && !weights && share_an_element(step, out))
    why = "both operands are one tensor, or parts of one";
  if (!why.empty()) return std::nullopt;
  return out;
}

ProductCalls::ProductCalls(const ProductSubject& subject, const ProductPlaces& places,
                           const ProofRunner& runner, Reporter& reporter, Definition definition)
    : subject_(subject),
      places_(places),
      runner_(runner),
      reporter_(reporter),
      definition_(std::move(definition)) {
  span_ = *std::ranges::max_element(places.in_y) + bytes_of_result();
}

void ProductCalls::add(const Matrices& inputs, float factor) {
  if (failed_) return;
  const Step& step = *subject_.step;
  // What several steps are called with may be where another one writes.
  const bool alone = subject_.indices.size() == 1;
  const bool only_a = inputs.b.empty() && !places_.a_zero_point;
  if (!alone || !only_a || inputs.a != sent_a_) {
    if (alone) jobs_.forget();
    send_images(inputs);
    if (alone) sent_a_ = inputs.a;
  }
  if (factor != 0) set_factor(factor);
  if (!subject_.biases.empty()) send_shift(inputs.shift);
  const Operand& y = step.operands[static_cast<std::size_t>(places_.y)];
  const HarnessPlace to = runner_.place_of(y.buffer);
  for (const int index : subject_.indices) {
    const bool last = index == subject_.indices.back();
    jobs_.call(index, to.block, to.offset + y.offset, last ? span_ : 0, {});
    if (!alone) jobs_.forget();  // or images would be put again, over what this step has left
  }
  expected_.push_back(results_of(inputs, factor));
  job_bytes_ += 32;
  ++calls_;
  const std::size_t results = expected_.size() * static_cast<std::size_t>(span_);
  if (job_bytes_ > kMostJobBytes || results > kMostJobBytes) flush();
}

void ProductCalls::set_factor(float factor) {
  const auto set = [&](const ConstantWord& word, std::uint32_t value) {
    jobs_.patch(false, runner_.array_of(*subject_.step, word.array), word.word, value);
  };
  if (!subject_.without_floats()) {
    for (const ConstantWord& word : subject_.factors)
      set(word, std::bit_cast<std::uint32_t>(factor * word.unit));
    return;
  }
  const auto found = std::ranges::find(subject_.integer_words, factor, &FactorWords::factor);
  ETCH_CHECK(found != subject_.integer_words.end());
  for (const ConstantWord& word : found->words) set(word, word.only);
}

void ProductCalls::send_shift(const std::vector<std::uint32_t>& shift) {
  const auto of = [](const std::vector<std::uint32_t>& list, int channel) {
    return list.empty() ? 0 : list[static_cast<std::size_t>(channel)];
  };
  for (const ConstantWord& word : subject_.biases) {
    const std::uint32_t change = of(shift, word.channel) - of(sent_shift_, word.channel);
    if (change == 0) continue;
    jobs_.patch(true, runner_.array_of(*subject_.step, word.array), word.word, change);
    job_bytes_ += 16;
  }
  sent_shift_ = shift;
}

PhaseResult ProductCalls::conclude(std::string name, std::int64_t done, std::int64_t possible) {
  flush();
  return {std::move(name), done, possible, calls_, mismatch_, failed_};
}

// `a` and `b` can be parts of one buffer.
void ProductCalls::send_images(const Matrices& inputs) {
  std::map<int, std::vector<std::uint8_t>> images;  // by buffer
  // Between the elements of `a` is what the halo has to hold, unless a step fills it.
  const auto around_a = static_cast<std::uint8_t>(view(places_.a).halo_value);
  const auto put = [&](const BytePlace& start, const std::vector<std::int64_t>& places,
                       const std::vector<int>& values, std::uint8_t around,
                       std::int64_t bytes = 1) {
    std::vector<std::uint8_t>& image = images[start.buffer];
    const std::int64_t last = start.offset + *std::ranges::max_element(places);
    const auto end = static_cast<std::size_t>(last + bytes);
    image.resize(std::max({image.size(), end,
                           static_cast<std::size_t>(runner_.bytes_of_buffer(start.buffer))}),
                 around);
    for (std::size_t i = 0; i < places.size(); ++i)
      store(values[i], start.flipped, bytes,
            &image[static_cast<std::size_t>(start.offset + places[i])]);
  };
  const auto start_of = [&](int operand) {
    const Operand& op = subject_.step->operands[static_cast<std::size_t>(operand)];
    return BytePlace{op.buffer, op.offset, view(operand).flipped};
  };
  put(start_of(places_.a), places_.in_a, inputs.a, around_a, bytes_of(view(places_.a).dtype));
  if (places_.b >= 0) put(start_of(places_.b), places_.in_b, inputs.b, 0);
  if (places_.a_zero_point) put(*places_.a_zero_point, {0}, {inputs.a_zero}, 0);
  if (places_.b_zero_point) put(*places_.b_zero_point, {0}, {inputs.b_zero}, 0);
  for (const auto& [buffer, image] : images) {
    const HarnessPlace place = runner_.place_of(buffer);
    jobs_.image(place.block, place.offset, image);
    job_bytes_ += image.size();
  }
}

// By the definition.
std::vector<std::int32_t> ProductCalls::results_of(const Matrices& inputs, float factor) const {
  if (definition_) return definition_(inputs, factor);
  const RunTimeProduct& product = *subject_.product;
  std::vector<std::int32_t> out(places_.in_y.size());
  run_matmul<std::int64_t>(
      product.geometry,
      [&](std::size_t a, std::size_t b, const MatMulElement&) {
        return std::int64_t{inputs.a[a] - inputs.a_zero} * (inputs.b[b] - inputs.b_zero);
      },
      [&](const MatMulElement& element, std::int64_t sum) {
        const auto column = static_cast<std::int64_t>(element.b_col) % product.geometry.cols;
        out[element.y] = product.result(wrap_to_int32(sum), column, factor);
      });
  return out;
}

void ProductCalls::flush() {
  if (expected_.empty()) return;
  const auto compared = [&](std::size_t i, const char* bytes) { compare(expected_[i], bytes); };
  if (!runner_.for_each_result(jobs_, expected_.size(), span_, compared, reporter_)) failed_ = true;
  expected_.clear();
  job_bytes_ = 0;
  sent_shift_.clear();  // the program starts with the constants of the folder
  sent_a_.clear();
}

std::int32_t ProductCalls::read(const char* bytes) const {
  std::uint32_t word = 0;
  for (int i = 0; i < bytes_of_result(); ++i)
    word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  const View& y = view(places_.y);
  if (bytes_of_result() == 4) return static_cast<std::int32_t>(word);
  if (y.dtype == DType::kS16) return static_cast<std::int16_t>(word);
  const int value = static_cast<int>(word) - (y.flipped ? 128 : 0);
  return y.dtype == DType::kS8 && value > 127 ? value - 256 : value;
}

void ProductCalls::compare(const std::vector<std::int32_t>& expected, const char* bytes) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::int32_t got = read(bytes + places_.in_y[i]);
    if (got == expected[i]) continue;
    if (mismatch_.count++ == 0)
      mismatch_.first = cat("element ", i, ": ", got, " instead of ", expected[i]);
  }
}

}  // namespace etch::cli

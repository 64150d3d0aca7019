// See product_calls.h.
#include "compiler/prove/product_calls.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/matmul_geometry/geometry.h"
#include "compiler/ops/reference_math.h"

namespace etch::cli {

namespace {

// Of jobs, and of results, of one run of the program.
constexpr std::size_t kMostJobBytes = 32 << 20;

// Where the elements of an operand are, row-major, in bytes from its start.
std::vector<std::int64_t> places_in(const View& view) {
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

// The same of a matrix that is an image of one axis: each row, channels innermost.
std::vector<std::int64_t> places_of_pixels(const View& view) {
  std::vector<std::int64_t> out;
  for (std::int64_t row = 0; row < view.shape[2]; ++row) {
    for (std::int64_t k = 0; k < view.shape[1]; ++k)
      out.push_back(row * view.stride[2] + k * view.stride[1]);
  }
  return out;
}

std::uint8_t stored(int value, bool flipped) {
  return static_cast<std::uint8_t>(value + (flipped ? 128 : 0));
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
  out.in_a = weights ? places_of_pixels(view(out.a)) : places_in(view(out.a));
  out.in_y = weights ? places_of_pixels(view(out.y)) : places_in(view(out.y));
  if (!weights) out.in_b = places_in(view(out.b));
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
  send_images(inputs);
  if (factor != 0) {
    for (const ConstantWord& word : subject_.factors)
      jobs_.patch(false, runner_.array_of(step, word.array), word.word,
                  std::bit_cast<std::uint32_t>(factor * word.unit));
  }
  const Operand& y = step.operands[static_cast<std::size_t>(places_.y)];
  const HarnessPlace to = runner_.place_of(y.buffer);
  for (const int index : subject_.indices) {
    const bool last = index == subject_.indices.back();
    jobs_.call(index, to.block, to.offset + y.offset, last ? span_ : 0, {});
    jobs_.forget();  // or the images would be put again, over what this step has left
  }
  expected_.push_back(results_of(inputs, factor));
  ++calls_;
  const std::size_t results = expected_.size() * static_cast<std::size_t>(span_);
  if (job_bytes_ > kMostJobBytes || results > kMostJobBytes) flush();
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
                       const std::vector<int>& values, std::uint8_t around) {
    std::vector<std::uint8_t>& image = images[start.buffer];
    const auto end = static_cast<std::size_t>(start.offset + *std::ranges::max_element(places) + 1);
    image.resize(std::max({image.size(), end,
                           static_cast<std::size_t>(runner_.bytes_of_buffer(start.buffer))}),
                 around);
    for (std::size_t i = 0; i < places.size(); ++i)
      image[static_cast<std::size_t>(start.offset + places[i])] = stored(values[i], start.flipped);
  };
  const auto start_of = [&](int operand) {
    const Operand& op = subject_.step->operands[static_cast<std::size_t>(operand)];
    return BytePlace{op.buffer, op.offset, view(operand).flipped};
  };
  put(start_of(places_.a), places_.in_a, inputs.a, around_a);
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
  if (definition_) return definition_(inputs);
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
}

std::int32_t ProductCalls::read(const char* bytes) const {
  std::uint32_t word = 0;
  for (int i = 0; i < bytes_of_result(); ++i)
    word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  if (bytes_of_result() == 4) return static_cast<std::int32_t>(word);
  const int byte = static_cast<int>(word) - (view(places_.y).flipped ? 128 : 0);
  return view(places_.y).dtype == DType::kS8 && byte > 127 ? byte - 256 : byte;
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

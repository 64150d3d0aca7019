// See trials.h.
#include "compiler/prove/trials.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/base/text.h"

namespace etch::cli {

namespace {

constexpr std::size_t kMostBytes = 32 << 20;  // of jobs, and of results, of one run of the program

// Of every spatial position, in row-major order.
std::vector<std::int64_t> spatial_places(const View& view) {
  std::vector<std::int64_t> out = {0};
  for (std::size_t axis = 2; axis < view.shape.size(); ++axis) {
    std::vector<std::int64_t> next;
    for (const std::int64_t before : out) {
      for (std::int64_t i = 0; i < view.shape[axis]; ++i)
        next.push_back(before + i * view.stride[axis]);
    }
    out = std::move(next);
  }
  return out;
}

Shape shape_of(const ConvGeometry& geometry, std::int64_t channels, std::int64_t ConvAxis::*size) {
  Shape out = {geometry.batch, channels};
  for (const ConvAxis& axis : geometry.axes) out.push_back(axis.*size);
  return out;
}

}  // namespace

std::vector<std::int64_t> element_places(const View& view, Innermost innermost) {
  std::vector<std::int64_t> out;
  const std::vector<std::int64_t> spatial = spatial_places(view);
  for (std::int64_t n = 0; n < view.shape[0]; ++n) {
    const std::int64_t start = n * view.stride[0];
    if (innermost == Innermost::kChannels) {
      for (const std::int64_t place : spatial) {
        for (std::int64_t c = 0; c < view.shape[1]; ++c)
          out.push_back(start + place + c * view.stride[1]);
      }
      continue;
    }
    for (std::int64_t c = 0; c < view.shape[1]; ++c) {
      for (const std::int64_t place : spatial) out.push_back(start + place + c * view.stride[1]);
    }
  }
  return out;
}

Shape input_shape(const Layer& layer) {
  return shape_of(layer.geometry, layer.geometry.in_channels, &ConvAxis::in);
}

Shape output_shape(const Layer& layer) {
  return shape_of(layer.geometry, layer.geometry.out_channels, &ConvAxis::out);
}

std::optional<Places> places_of(const Subject& subject, std::string& why) {
  Places out;
  for (std::size_t i = 0; i < subject.step->operands.size(); ++i) {
    const std::string& name = subject.step->operands[i].name;
    const View& view = (*subject.views)[i];
    const bool is_x = name == "x", is_y = name == "y", is_residual = name == "residual";
    if (!is_x && !is_y && !is_residual) continue;
    const Shape shape = is_x ? input_shape(*subject.layer) : output_shape(*subject.layer);
    if (view.shape != shape || bytes_of(view.dtype) != 1) {
      why = cat("operand ", name, " is ", to_string(view.shape), ", the layer's is ",
                to_string(shape));
      return std::nullopt;
    }
    auto places = element_places(view, is_x ? Innermost::kPositions : Innermost::kChannels);
    const int operand = static_cast<int>(i);
    (is_x ? out.x_operand : is_y ? out.y_operand : out.residual_operand) = operand;
    (is_x ? out.x : is_y ? out.y : out.residual) = std::move(places);
  }
  if (out.x.empty() || out.y.empty()) why = "it has other operands";
  if (out.residual.empty() == subject.layer->residual.has_value())
    why = "the step and its layer differ in what is added to the result";
  const auto& operands = subject.step->operands;
  const auto buffer = [&](int i) { return operands[static_cast<std::size_t>(i)].buffer; };
  if (out.residual_operand >= 0 && buffer(out.residual_operand) == buffer(out.x_operand))
    why = "its input is also what is added to its result";
  if (!why.empty()) return std::nullopt;
  return out;
}

Trials::Trials(const Subject& subject, const Places& places, const ProofRunner& runner,
               Reporter& reporter)
    : subject_(subject), places_(places), runner_(runner), reporter_(reporter) {
  span_ = *std::max_element(places.y.begin(), places.y.end()) + 1;
  shift_.assign(static_cast<std::size_t>(subject.layer->geometry.out_channels), 0);
}

// The buffer of an operand with these elements; between them is what the halo has to hold.
std::vector<std::uint8_t> Trials::whole_buffer(int operand, const std::vector<std::int64_t>& places,
                                               const std::vector<std::uint8_t>& elements) const {
  const auto i = static_cast<std::size_t>(operand);
  const View& view = (*subject_.views)[i];
  const Operand& op = subject_.step->operands[i];
  const auto end =
      static_cast<std::size_t>(op.offset + *std::max_element(places.begin(), places.end()) + 1);
  std::vector<std::uint8_t> out(
      std::max(end, static_cast<std::size_t>(runner_.bytes_of_buffer(op.buffer))),
      static_cast<std::uint8_t>(view.halo_value));
  for (std::size_t e = 0; e < places.size(); ++e)
    out[static_cast<std::size_t>(op.offset + places[e])] = elements[e];
  return out;
}

void Trials::set_input(const std::vector<std::uint8_t>& x) {
  x_ = whole_buffer(places_.x_operand, places_.x, x);
  images_sent_ = false;
}

void Trials::set_residual(const std::vector<std::uint8_t>& residual) {
  residual_ = whole_buffer(places_.residual_operand, places_.residual, residual);
  images_sent_ = false;
}

void Trials::send_image(int operand, const std::vector<std::uint8_t>& bytes) {
  const Operand& op = subject_.step->operands[static_cast<std::size_t>(operand)];
  const HarnessPlace place = runner_.place_of(op.buffer);
  jobs_.image(place.block, place.offset, bytes);
  job_bytes_ += bytes.size();
}

// The program starts with the constants of the folder.
void Trials::begin() {
  sent_shift_.assign(shift_.size(), 0);
  images_sent_ = false;
  if (!factor_) return;
  for (const ConstantWord& word : subject_.words.factors) {
    const std::uint32_t value =
        subject_.words.only_factor ? word.only : std::bit_cast<std::uint32_t>(*factor_ * word.unit);
    jobs_.patch(false, runner_.array_of(*subject_.step, word.array), word.word, value);
  }
}

void Trials::send_shift() {
  for (const ConstantWord& word : subject_.words.biases) {
    const auto change = [&](int channel) {
      const auto m = static_cast<std::size_t>(channel);
      return channel < 0 ? 0 : shift_[m] - sent_shift_[m];
    };
    const std::uint32_t both =
        change(word.channel) + static_cast<std::uint32_t>(word.times) * change(word.second);
    if (both == 0) continue;
    jobs_.patch(true, runner_.array_of(*subject_.step, word.array), word.word, both);
    job_bytes_ += 16;
  }
  sent_shift_ = shift_;
}

void Trials::add(Trial trial) {
  if (failed_) return;
  if (jobs_.empty()) begin();
  if (!images_sent_) {
    jobs_.forget();
    send_image(places_.x_operand, x_);
    if (!residual_.empty()) send_image(places_.residual_operand, residual_);
    images_sent_ = true;
  }
  send_shift();
  const Operand& x = subject_.step->operands[static_cast<std::size_t>(places_.x_operand)];
  const Operand& y = subject_.step->operands[static_cast<std::size_t>(places_.y_operand)];
  const HarnessPlace from = runner_.place_of(x.buffer);
  std::vector<JobList::Change> changes;
  for (const Trial::Byte& byte : trial.inputs) {
    const std::int64_t place = places_.x[static_cast<std::size_t>(byte.element)];
    changes.push_back({from.block, from.offset + x.offset + place, byte.value});
  }
  const HarnessPlace to = runner_.place_of(y.buffer);
  jobs_.call(subject_.index, to.block, to.offset + y.offset, span_, changes);
  job_bytes_ += 24 + 12 * changes.size();
  expected_.push_back(std::move(trial.expected));
  ++calls_;
  const std::size_t results = expected_.size() * static_cast<std::size_t>(span_);
  if (job_bytes_ > kMostBytes || results > kMostBytes) flush();
}

void Trials::flush() {
  if (expected_.empty()) return;
  const auto compared = [&](std::size_t i, const char* bytes) { compare(expected_[i], bytes); };
  if (!runner_.for_each_result(jobs_, expected_.size(), span_, compared, reporter_)) failed_ = true;
  expected_.clear();
  job_bytes_ = 0;
}

void Trials::compare(const std::vector<std::int16_t>& expected, const char* bytes) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const int got = static_cast<unsigned char>(bytes[places_.y[i]]);
    if (expected[i] < 0 || expected[i] == got) continue;
    const auto channels = static_cast<std::size_t>(subject_.layer->geometry.out_channels);
    if (mismatch_.count++ == 0) {
      mismatch_.first = cat("output position ", i / channels, ", channel ", i % channels, ": ", got,
                            " instead of ", expected[i]);
    }
  }
}

bool Trials::finish() {
  flush();
  return !failed_ && mismatch_.count == 0;
}

}  // namespace etch::cli

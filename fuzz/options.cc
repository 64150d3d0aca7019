// See options.h.
#include "fuzz/options.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "compiler/ir/onnx_types.h"
#include "compiler/targets/targets.h"
#include "fuzz/limits.h"
#include "fuzz/mutator.h"

namespace etch::fuzz {

namespace {

std::vector<std::string> target_names() {
  std::vector<std::string> out;
  for (const IsaTraits* isa : all_targets()) out.emplace_back(isa->name);
  for (const CrossTarget& target : cross_targets()) out.emplace_back(target.isa->name);
  out.emplace_back(kMultiTarget);
  return out;
}

// Empty if it is no model.
std::string doc_string_of(std::string_view bytes) {
  onnx::ModelProto model;
  const bool good = bytes.size() <= INT_MAX &&
                    model.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
  return good ? model.doc_string() : std::string();
}

// An output as the state of an input, now and then of another one than it fits.
std::vector<StateRequest> states_of(std::string_view bytes, std::size_t output, std::size_t input) {
  onnx::ModelProto model;
  const bool good = bytes.size() <= INT_MAX &&
                    model.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
  const onnx::GraphProto& graph = model.graph();
  if (!good || graph.output_size() == 0 || graph.input_size() == 0) return {};
  const auto out = static_cast<int>(output) % graph.output_size();
  const auto in = static_cast<int>(input) % graph.input_size();
  StateRequest state{graph.output(out).name(), graph.input(in).name()};
  // What options say is the user's text, which generated files repeat; checks.cc looks for names.
  if ((state.output + state.input).find(kHostileMark) != std::string::npos) return {};
  return {std::move(state)};
}

// All bytes 1, which any type may have, for what the declaration of the state's input says.
std::map<std::string, Tensor> initial_states_of(std::string_view bytes,
                                                const std::vector<StateRequest>& states) {
  onnx::ModelProto model;
  const bool good = bytes.size() <= INT_MAX &&
                    model.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
  std::map<std::string, Tensor> out;
  for (const auto& input : model.graph().input()) {
    if (!good || states.empty() || input.name() != states.front().input) continue;
    Shape shape;
    std::int64_t elements = 1;
    for (const auto& size : input.type().tensor_type().shape().dim()) {
      constexpr std::int64_t kMost = 4096;
      shape.push_back(std::clamp<std::int64_t>(size.dim_value(), 0, kMost));
      elements = std::min(elements * shape.back(), kMost + 1);
      if (elements > kMost) return {};
    }
    const auto type = dtype_from_onnx(input.type().tensor_type().elem_type());
    if (!type) return {};
    Tensor tensor(*type, shape);
    std::ranges::fill(tensor.mutable_bytes(), std::byte{1});
    out.insert_or_assign(input.name(), std::move(tensor));
  }
  return out;
}

// A bound of the first symbolic size of an input, as --dim has it; none without one.
std::vector<SizeRange> bounds_of(std::string_view bytes, std::int64_t least, std::int64_t more) {
  onnx::ModelProto model;
  const bool good = bytes.size() <= INT_MAX &&
                    model.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (!good) return {};
  for (const auto& input : model.graph().input()) {
    for (const auto& size : input.type().tensor_type().shape().dim()) {
      const std::string& symbol = size.dim_param();
      if (symbol.empty() || symbol.find(kHostileMark) != std::string::npos) continue;
      return {{symbol, least, least + more}};
    }
  }
  return {};
}

class Choices {
 public:
  explicit Choices(std::string_view text) : text_(text) {}
  // One of 0 .. count - 1.
  std::size_t next(std::size_t count) {
    const std::size_t byte = at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : 0;
    ++at_;
    return byte % count;
  }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[next(from.size())];
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

void choose_unrolling(Choices& choices, UnrollRequest& unrolling) {
  switch (choices.next(8)) {
    case 6:
      unrolling.all = {Unrolling::Kind::kFull, 0};
      break;
    case 7:
      unrolling.all = {Unrolling::Kind::kGroups, 3};
      break;
    default:
      break;
  }
}

void choose_emit(Choices& choices, EmitOptions& emit) {
  emit.weights = choices.pick({WeightsForm::kEmbedded, WeightsForm::kFile, WeightsForm::kBinary});
  emit.layout = choices.pick({FileLayout::kFolder, FileLayout::kSingleFile});
  emit.profile = choices.next(2) != 0;
  if (choices.next(4) == 3 && emit.weights != WeightsForm::kBinary)
    emit.weights_section = ".ext_flash";
}

}  // namespace

Request request_of(std::string_view model) {
  static const std::vector<std::string> targets = target_names();
  Request out;
  const std::string text = doc_string_of(model);
  Choices choices(text);
  out.compile.import = import_options();
  out.compile.target = targets[choices.next(targets.size())];
  out.compile.requantize =
      choices.pick({RequantizeMode::kAuto, RequantizeMode::kFloat, RequantizeMode::kInteger});
  out.compile.qdq = choices.pick({QdqMode::kInteger, QdqMode::kAll, QdqMode::kFloat});
  out.compile.split_rows_above =
      choices.pick({std::int64_t{kSplitRowsAbove}, std::int64_t{0}, std::int64_t{-1}});
  out.compile.threads = static_cast<int>(choices.pick({1, 1, 2, 3, 8}));
  out.compile.objective = choices.pick({Objective::kBalanced, Objective::kBalanced,
                                        Objective::kSpeed, Objective::kSize, Objective::kRam});
  if (choices.next(8) == 7) out.compile.arena_limit = 1024;
  if (choices.next(8) == 7) out.compile.flash_limit = 4096;
  out.compile.strict_integer = choices.next(8) == 7;
  choose_unrolling(choices, out.compile.unrolling);
  choose_emit(choices, out.emit);
  if (choices.next(8) == 7) {
    for (const PackageFormFacts& facts : package_forms()) out.package.push_back(facts.form);
  }
  if (choices.next(4) == 3) {
    const std::size_t output = choices.next(4);
    out.compile.states = states_of(model, output, choices.next(4));
  }
  if (choices.next(4) == 3) {
    const std::int64_t least = choices.pick({1, 1, 2, 7});
    out.compile.bounds = bounds_of(model, least, choices.pick({1, 2, 5, 2000}));
  }
  if (choices.next(2) == 1)
    out.compile.initial_states = initial_states_of(model, out.compile.states);
  out.compile.float_steps = choices.pick({FloatSteps::kSeparate, FloatSteps::kFused});
  return out;
}

std::vector<OutputFile> files_of(const Program& program, Request request) {
  if (!program.variants.empty() && request.emit.weights == WeightsForm::kBinary)
    request.emit.weights = WeightsForm::kEmbedded;
  std::erase_if(request.package,
                [&](PackageForm form) { return !why_not(form, program, request.emit).empty(); });
  return request.package.empty() ? emit(program, request.emit)
                                 : emit_package(program, request.emit, request.package);
}

}  // namespace etch::fuzz

// See measure.h.
#include "compiler/cli/measure.h"

#include <filesystem>
#include <locale>
#include <optional>
#include <sstream>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/data_set.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/import/tensor_proto.h"

namespace etch::cli {
namespace {

// A stand-in where there is no test data: any bytes for integers, values in [0, 1) for float32.
Tensor made_up(const Port& port) {
  Tensor tensor(port.dtype, port.shape);
  std::uint32_t state = 1;
  const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 24; };
  if (port.dtype == DType::kF32) {
    for (float& value : tensor.as<float>()) value = static_cast<float>(next()) / 256.0F;
  } else if (is_8bit(port.dtype)) {
    for (std::byte& byte : tensor.mutable_bytes()) byte = static_cast<std::byte>(next());
  }
  return tensor;
}

}  // namespace

Times parse_times(const std::string& text) {
  Times all;
  std::istringstream lines(text);
  lines.imbue(std::locale::classic());
  std::string name;
  MeasuredTime time;
  while (lines >> name >> time.median_us >> time.least_us) all[name] = time;
  return all;
}

std::vector<Tensor> sample_for(const std::string& model, const Program& program) {
  const std::vector<std::filesystem::path> folders = find_data_sets(model);
  std::vector<Tensor> sample;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Port& port = program.inputs[i];
    Sink ignored;
    std::optional<Tensor> tensor;
    if (!folders.empty()) {
      tensor = read_tensor_file((folders.front() / cat("input_", i, ".pb")).string(), ignored);
    }
    sample.push_back(tensor && fits(*tensor, port) ? std::move(*tensor) : made_up(port));
  }
  return sample;
}

}  // namespace etch::cli

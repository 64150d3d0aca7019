// See measure.h.
#include "compiler/host/measure.h"

#include <filesystem>
#include <locale>
#include <optional>
#include <sstream>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/emit/code/parts.h"
#include "compiler/host/data_set.h"
#include "compiler/import/file.h"
#include "compiler/import/tensor_proto.h"

namespace etch::cli {

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
      tensor = read_tensor_file(tensor_path(folders.front(), "input", i).string(), ignored);
    }
    sample.push_back(tensor && fits(*tensor, port) ? std::move(*tensor) : made_up(port, 1));
  }
  return sample;
}

Tensor made_up(const Port& port, std::uint32_t seed) {
  Tensor tensor(port.dtype, port.shape);
  std::uint32_t state = seed;
  const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 24; };
  if (port.dtype == DType::kF32) {
    for (float& value : tensor.as<float>()) value = static_cast<float>(next()) / 256.0F;
  } else if (is_8bit(port.dtype)) {
    for (std::byte& byte : tensor.mutable_bytes()) byte = static_cast<std::byte>(next());
  }
  return tensor;
}

ObjectSizes object_sizes(const Network& network) {
  const Program& program = network.program();
  const std::string variant =
      program.variants.empty() ? "" : variant_name("network", variant_for_this_cpu(program).isa);
  ObjectSizes sizes;
  for (const std::filesystem::path& path : network.objects()) {
    const std::string name = path.filename().string();
    const bool is_frame = name == "main.cc.o" || name == "firmware_start.cc.o";
    if (is_frame || name.find("_profile.cc.o") != std::string::npos) continue;
    Sink ignored;
    const std::optional<std::string> bytes =
        read_file(path.string(), std::size_t{1} << 30, "", ignored);
    if (!bytes) continue;
    sizes.all.push_back(size_of_object(*bytes));
    const bool belongs = name.compare(0, variant.size(), variant) == 0;
    if (belongs) sizes.measured.push_back(sizes.all.back());
  }
  return sizes;
}

std::int64_t code_bytes_of(const Step& step, const std::vector<ObjectSize>& objects) {
  std::int64_t code = 0;
  for (const ObjectSize& object : objects) code += bytes_of_function(object, step.called());
  return code;
}

std::int64_t code_bytes_of(const std::vector<ObjectSize>& objects) {
  std::int64_t code = 0;
  for (const ObjectSize& object : objects) code += object.code_bytes;
  return code;
}

}  // namespace etch::cli

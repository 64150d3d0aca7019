// See data_set.h.
#include "compiler/host/data_set.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/file.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/program/sized_step.h"
#include "compiler/program/state.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// The number K of "test_data_set_K"; null for other names.
std::optional<int> number_of(const fs::path& folder) {
  constexpr std::string_view kPrefix = "test_data_set_";
  const std::string name = folder.filename().string();
  if (name.rfind(kPrefix, 0) != 0) return std::nullopt;
  const auto number = parse_integer(std::string_view(name).substr(kPrefix.size()), 0, INT_MAX);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

constexpr std::string_view kBare = ".bin";

// The elements of a port without type and shape.
std::optional<Tensor> read_bare_file(const std::string& path, const Port& port, Sink& sink) {
  Tensor tensor(port.dtype, port.shape);
  const std::span<std::byte> elements = tensor.mutable_bytes();
  const std::optional<std::string> bytes =
      read_file(path, static_cast<std::size_t>(Limits().file_bytes), "", sink);
  if (!bytes) return std::nullopt;
  if (bytes->size() != elements.size()) {
    sink.error(DiagKind::kTensor, "",
               cat("has ", counted(static_cast<std::int64_t>(bytes->size()), "byte"), "; ",
                   type_and_shape(port.dtype, port.shape), " has ", elements.size()));
    return std::nullopt;
  }
  if (port.dtype == DType::kBool &&
      !std::ranges::all_of(*bytes, [](char flag) { return flag == 0 || flag == 1; })) {
    sink.error(DiagKind::kTensor, "", "has a bool that is neither 0 nor 1");
    return std::nullopt;
  }
  if (!elements.empty()) std::memcpy(elements.data(), bytes->data(), bytes->size());
  return tensor;
}

// `tensor` with zeros after it, in a larger shape; itself where it does not fit in.
Tensor padded(const Tensor& tensor, const Port& port) {
  const Shape& from = tensor.shape();
  const bool fits_in = tensor.dtype() == port.dtype && from.size() == port.shape.size() &&
                       std::ranges::equal(from, port.shape, std::ranges::less_equal());
  if (!fits_in) return tensor;
  Tensor out(port.dtype, port.shape);
  const auto size = static_cast<std::size_t>(bytes_of(port.dtype));
  const StridedView to{0, dense_strides(port.shape)};
  std::size_t next = 0;
  for_each(from, std::array{&to}, [&](const std::array<std::int64_t, 1>& at) {
    std::memcpy(out.mutable_bytes().data() + static_cast<std::size_t>(at[0]) * size,
                tensor.bytes().data() + size * next++, size);
  });
  return out;
}

// Whether an output is the shape of the one that its file has (lower/ports.h), unless the folder
// has a file of it as well, as `etch run` writes.
bool is_shape_in(const fs::path& folder, const std::string& role, const std::vector<Port>& ports,
                 std::size_t i) {
  return role == "output" && static_cast<std::size_t>(ports[i].file) != i &&
         !has_tensor(folder, role, i);
}

// Recorded outputs have as many rows as count; the network puts zeros after them, and gives the
// shape as another output.
void read_counted(const fs::path& folder, const std::string& role, const std::vector<Port>& ports,
                  std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!is_shape_in(folder, role, ports, i)) continue;
    Tensor& counted = tensors[static_cast<std::size_t>(ports[i].file)];
    const Shape shape = counted.shape();
    tensors[i] = Tensor::of<std::int64_t>({static_cast<std::int64_t>(shape.size())}, shape);
    counted = padded(counted, ports[static_cast<std::size_t>(ports[i].file)]);
  }
}

}  // namespace

fs::path tensor_path(const fs::path& folder, const std::string& role, std::size_t i) {
  for (const std::string_view extension :
       {std::string_view(".pb"), std::string_view(".npy"), kBare}) {
    fs::path path = folder / cat(role, "_", i, extension);
    std::error_code error;  // then there is none
    if (fs::is_regular_file(path, error)) return path;
  }
  return folder / cat(role, "_", i, ".pb");
}

std::vector<fs::path> find_data_sets(const fs::path& model) {
  std::vector<std::pair<int, fs::path>> numbered;
  const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
  std::error_code error;  // an unreadable folder is one without data sets
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::optional<int> number = number_of(entry->path());
    std::error_code ignored;
    if (number && entry->is_directory(ignored)) numbered.emplace_back(*number, entry->path());
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<fs::path> folders;
  folders.reserve(numbered.size());
  for (auto& [number, path] : numbered) folders.push_back(std::move(path));
  return folders;
}

std::optional<std::vector<Tensor>> read_tensors(const fs::path& folder, const std::string& role,
                                                const std::vector<Port>& ports,
                                                Reporter& reporter) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    // An output that is a shape has a file of its own or is that of what its file has.
    const bool is_own = role == "output" && has_tensor(folder, role, i);
    const std::size_t file = is_own ? i : static_cast<std::size_t>(port.file);
    const std::string path = tensor_path(folder, role, file).string();
    const bool missing = !has_tensor(folder, role, file);
    if (missing && is_state(port)) {
      tensors.push_back(port.initial != nullptr ? *port.initial : Tensor(port.dtype, port.shape));
      continue;
    }
    std::error_code error;  // then it is no file
    if (missing && role == "input" && !fs::exists(folder, error)) {
      reporter.io_error(folder.string(), "there is no such file or folder");
      return std::nullopt;
    }
    if (missing && role == "input" && fs::is_regular_file(folder, error)) {
      reporter.io_error(folder.string(),
                        "is a file: a folder with input_0.pb, .npy or .bin, or a .npz file with "
                        "samples, is needed");
      return std::nullopt;
    }
    Sink sink;
    std::optional<Tensor> tensor =
        path.ends_with(kBare) ? read_bare_file(path, port, sink) : read_tensor_file(path, sink);
    if (!tensor) {
      for (const Diagnostic& diagnostic : sink.sorted()) {
        reporter.io_error(path, diagnostic.message);
      }
      return std::nullopt;
    }
    tensors.push_back(std::move(*tensor));
  }
  read_counted(folder, role, ports, tensors);
  return tensors;
}

std::optional<std::vector<Tensor>> read_inputs(const fs::path& folder,
                                               const std::vector<Port>& ports, Reporter& reporter) {
  std::optional<std::vector<Tensor>> tensors = read_tensors(folder, "input", ports, reporter);
  for (std::size_t i = 0; tensors && i < ports.size(); ++i) {
    const Tensor& tensor = (*tensors)[i];
    if (fits(tensor, ports[i])) continue;
    reporter.io_error(
        tensor_path(folder, "input", static_cast<std::size_t>(ports[i].file)).string(),
        cat("holds ", type_and_shape(tensor.dtype(), tensor.shape()), ", but input '",
            printable(ports[i].name), "' of the model is ",
            type_and_shape(ports[i].dtype, ports[i].shape)));
    return std::nullopt;
  }
  return tensors;
}

std::optional<std::int64_t> size_of_sample(const Program& program,
                                           const std::vector<Tensor>& inputs) {
  const SizeBound* const bound = bound_of(program);
  if (bound == nullptr) return 0;
  for (std::int64_t size = bound->range.least; size <= bound->range.most; ++size) {
    if (std::ranges::equal(inputs, inputs_at(program, size), fits)) return size;
  }
  return std::nullopt;
}

std::optional<std::vector<Tensor>> read_inputs(const fs::path& folder, const Program& program,
                                               Reporter& reporter) {
  const SizeBound* const bound = bound_of(program);
  if (bound == nullptr) return read_inputs(folder, program.inputs, reporter);
  std::optional<std::vector<Tensor>> tensors =
      read_tensors(folder, "input", program.inputs, reporter);
  if (!tensors || size_of_sample(program, *tensors)) return tensors;
  std::string shapes;
  for (const Tensor& tensor : *tensors)
    shapes += cat(shapes.empty() ? "" : ", ", type_and_shape(tensor.dtype(), tensor.shape()));
  const SizeRange& range = bound->range;
  reporter.io_error(folder.string(),
                    cat("holds ", shapes, ", which are the model's inputs for no '",
                        printable(range.symbol), "' from ", range.least, " to ", range.most));
  return std::nullopt;
}

bool has_tensor(const fs::path& folder, const std::string& role, std::size_t i) {
  std::error_code error;  // then there is none
  return fs::is_regular_file(tensor_path(folder, role, i), error);
}

std::vector<Shape> shapes_of_inputs(const fs::path& folder) {
  std::vector<Shape> shapes;
  Sink ignored;  // the caller that needs the tensors reports
  while (true) {
    const fs::path path = tensor_path(folder, "input", shapes.size());
    std::error_code error;
    if (path.extension() == kBare || !fs::is_regular_file(path, error)) return shapes;
    const std::optional<Tensor> tensor = read_tensor_file(path.string(), ignored);
    if (!tensor) return shapes;
    shapes.push_back(tensor->shape());
  }
}

bool fits(const Tensor& tensor, const Port& port) {
  return tensor.dtype() == port.dtype && tensor.shape() == port.shape;
}

std::string type_and_shape(DType dtype, const Shape& shape) {
  return cat(name_of(dtype), etch::to_string(shape));
}

}  // namespace etch::cli

// See sample_folders.h.
#include "compiler/host/sample_folders.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "compiler/base/file_write.h"
#include "compiler/base/text.h"
#include "compiler/host/data_set.h"
#include "compiler/import/file.h"
#include "compiler/import/metadata.h"
#include "compiler/import/npz.h"
#include "compiler/import/ports.h"
#include "compiler/import/tensor_proto.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::int64_t kMostSamples = 10'000;  // in one file; each becomes a folder

bool is_numpy(const fs::path& path) {
  std::error_code error;  // then it is none
  return fs::is_regular_file(path, error) &&
         (path.extension() == ".npz" || path.extension() == ".npy");
}

// The number at the end of a name without extension, and the name: the order of files.
std::pair<std::int64_t, std::string> order_of(const fs::path& path) {
  const std::string stem = path.stem().string();
  const std::size_t end = stem.find_last_not_of("0123456789");
  const std::string digits = end == stem.npos ? stem : stem.substr(end + 1);
  return {parse_integer(digits, 0, INT64_MAX).value_or(0), path.filename().string()};
}

std::vector<fs::path> numpy_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;  // an unreadable folder has none
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (is_numpy(entry->path())) files.push_back(entry->path());
  }
  std::ranges::sort(files, {}, order_of);
  return files;
}

Tensor as_float32(const Tensor& wide) {
  Tensor out(DType::kF32, wide.shape());
  std::ranges::transform(wide.as<double>(), out.as<float>().begin(),
                         [](double value) { return static_cast<float>(value); });
  return out;
}

// Elements [begin, begin + count) of the outermost axis.
Tensor rows_of(const Tensor& tensor, std::int64_t begin, std::int64_t count, Shape shape) {
  Tensor out(tensor.dtype(), std::move(shape));
  const std::span<std::byte> to = out.mutable_bytes();
  if (to.empty()) return out;
  const std::size_t row = to.size() / static_cast<std::size_t>(count);
  std::memcpy(to.data(), tensor.bytes().data() + static_cast<std::size_t>(begin) * row, to.size());
  return out;
}

// Where the samples of one array are in it.
struct Slices {
  std::int64_t count = 0;  // samples; 0: it has none
  std::int64_t each = 0;   // of the first axis in one of them
  bool own_axis = false;   // which the sample does not have
  bool open = false;       // nothing says what `each` is
};

Slices slices_of(const Tensor& array, const DeclaredPort& port, bool one_sample) {
  const Shape& shape = array.shape();
  if (one_sample || shape.empty()) return {1, shape.empty() ? 1 : shape.front(), false};
  const bool own_axis = port.sizes && shape.size() == port.sizes->size() + 1;
  const bool fixed = !own_axis && port.sizes && !port.sizes->empty() && port.sizes->front() > 0;
  const std::int64_t each = fixed ? port.sizes->front() : 1;
  const std::int64_t count = shape.front() % each == 0 ? shape.front() / each : 0;
  return {count, each, own_axis, !own_axis && !fixed};
}

// Without the batch axis, as people save one sample.
Tensor with_batch(Tensor tensor, const DeclaredPort& port) {
  if (!port.sizes || tensor.shape().size() + 1 != port.sizes->size()) return tensor;
  if (port.sizes->front() > 1) return tensor;
  Shape shape = tensor.shape();
  shape.insert(shape.begin(), 1);
  return tensor.reshaped(std::move(shape));
}

Tensor sample_of(const Tensor& array, const Slices& slices, std::int64_t index,
                 const DeclaredPort& port, bool one_sample) {
  if (one_sample || array.shape().empty()) return with_batch(array, port);
  Shape shape = array.shape();
  if (slices.own_axis) {
    shape.erase(shape.begin());
  } else {
    shape.front() = slices.each;
  }
  return rows_of(array, index * slices.each, slices.each, std::move(shape));
}

bool takes(const std::vector<std::int64_t>& sizes, const Shape& shape) {
  return std::ranges::equal(sizes, shape, [](std::int64_t declared, std::int64_t size) {
    return declared < 0 || declared == size;
  });
}

// "float32[?, 3]".
std::string declared(const DeclaredPort& port) {
  std::string out = port.dtype ? std::string(name_of(*port.dtype)) : "tensor";
  if (!port.sizes) return out;
  for (std::size_t d = 0; d < port.sizes->size(); ++d) {
    const std::int64_t size = (*port.sizes)[d];
    out += cat(d == 0 ? "[" : ", ", size < 0 ? "?" : std::to_string(size));
  }
  return cat(out, port.sizes->empty() ? "[]" : "]");
}

// What a model takes and gives in a command.
struct Interface {
  DeclaredPorts ports;
  std::set<std::string> constants;  // inputs with --constant: never read from samples
  std::set<std::string> states;     // inputs and outputs: samples need not have them
};

// Takes files of samples apart.
class Splitter {
 public:
  Splitter(Interface model, const Limits& limits, SampleParts parts, Reporter& reporter)
      : model_(std::move(model)),
        ports_(model_.ports),
        limits_(limits),
        parts_(parts),
        reporter_(reporter) {}

  // Makes the folders BASE_0, BASE_1 ... of a file, or BASE alone if it is `one_sample`. False
  // after an error.
  bool split(const fs::path& file, const fs::path& base, bool one_sample,
             std::vector<fs::path>& folders) {
    file_ = file.string();
    const std::optional<std::vector<NamedArray>> arrays = read(file);
    if (!arrays) return false;
    std::vector<Part> parts;
    if (!match(*arrays, "input", ports_.inputs, parts)) return false;
    if (parts_ == SampleParts::kInputsAndOutputs &&
        !match(*arrays, "output", ports_.outputs, parts)) {
      return false;
    }
    for (Part& part : parts) part.slices = slices_of(part.array, *part.port, one_sample);
    share_open_sizes(parts);
    const std::int64_t count = parts.empty() ? 0 : parts.front().slices.count;
    if (!same_count(parts, count) || !fit(parts, one_sample)) return false;
    for (std::int64_t i = 0; i < count; ++i) {
      folders.push_back(one_sample ? base : fs::path(cat(base.string(), "_", i)));
      make_folder(folders.back());
      for (const Part& part : parts) {
        const Tensor tensor = sample_of(part.array, part.slices, i, *part.port, one_sample);
        write_new_file(folders.back() / (part.file + ".pb"), tensor_file(tensor, part.port->name));
      }
    }
    return true;
  }

 private:
  struct Part {
    std::string file;  // "input_0"
    bool is_input;
    const DeclaredPort* port;
    Tensor array;
    Slices slices;
  };

  bool fail(std::string_view what) {
    reporter_.io_error(file_, what);
    return false;
  }

  // A .npy file has one array without a name.
  std::optional<std::vector<NamedArray>> read(const fs::path& file) {
    Sink sink;
    std::optional<std::vector<NamedArray>> arrays;
    if (file.extension() == ".npy") {
      if (std::optional<Tensor> array = read_tensor_file(file_, sink))
        arrays.emplace().push_back({"", std::move(array)});
    } else {
      const std::optional<std::string> bytes =
          read_file(file_, static_cast<std::size_t>(limits_.external_bytes), "", sink);
      if (bytes && !is_zip(*bytes)) {
        sink.error(DiagKind::kParse, "", "is no .npz file, whatever its name says");
      } else if (bytes) {
        arrays = read_npz(*bytes, names(), limits_, "", sink);
      }
    }
    for (const Diagnostic& each : sink.sorted()) fail(each.message);
    return arrays;
  }

  // Of all arrays that can be of use.
  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& [role, ports] :
         {std::pair("input_", &ports_.inputs), std::pair("output_", &ports_.outputs)}) {
      for (std::size_t i = 0; i < ports->size(); ++i) out.insert({(*ports)[i].name, cat(role, i)});
    }
    return out;
  }

  bool is_needed(const DeclaredPort& port) const {
    return !model_.constants.contains(port.name) && !model_.states.contains(port.name);
  }

  // The array of a port; null if there is none.
  static const NamedArray* find(const std::vector<NamedArray>& arrays, const DeclaredPort& port,
                                const std::string& file, bool only) {
    if (only && is_bare(arrays)) return &arrays.front();
    for (const std::string& name : {port.name, file}) {
      const auto found = std::ranges::find(arrays, name, &NamedArray::name);
      if (found != arrays.end()) return &*found;
    }
    return nullptr;
  }

  // Of a .npy file.
  static bool is_bare(const std::vector<NamedArray>& arrays) {
    return arrays.size() == 1 && arrays.front().name.empty() && arrays.front().value;
  }

  bool match(const std::vector<NamedArray>& arrays, const std::string& role,
             const std::vector<DeclaredPort>& ports, std::vector<Part>& parts) {
    const bool is_input = role == "input";
    const auto needed = [&](const DeclaredPort& port) { return is_needed(port); };
    const bool one = is_input && std::ranges::count_if(ports, needed) == 1;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const DeclaredPort& port = ports[i];
      if (model_.constants.contains(port.name)) continue;
      const std::string file = cat(role, "_", i);
      const NamedArray* const array = find(arrays, port, file, one && is_needed(port));
      if (array == nullptr && !is_needed(port)) continue;
      if (array == nullptr) return fail(missing(arrays, port, is_input));
      const Tensor& value = *array->value;
      const bool narrow = value.dtype() == DType::kF64 && port.dtype == DType::kF32;
      if (is_input && !narrow && port.dtype && value.dtype() != *port.dtype) {
        return fail(cat("array of '", printable(port.name), "' is ",
                        type_and_shape(value.dtype(), value.shape()), ", and the model takes ",
                        declared(port)));
      }
      parts.push_back({file, is_input, &port, narrow ? as_float32(value) : value, {}});
    }
    return true;
  }

  static std::string missing(const std::vector<NamedArray>& arrays, const DeclaredPort& port,
                             bool is_input) {
    if (is_bare(arrays) && is_input)
      return "has one array, and the model several inputs: numpy.savez has them all in a file";
    std::string names;
    for (const NamedArray& each : arrays) {
      if (each.name.empty()) continue;
      names += cat(names.empty() ? "; it has '" : ", '", printable(each.name), "'");
    }
    const std::string name = printable(port.name);
    if (is_input) return cat("has no array '", name, "' for the input of that name", names);
    return cat("has no array '", name, "' to compare the output of that name with", names,
               ": `etch check` of the Python package has ONNX Runtime compute it, and `etch record "
               "MODEL --inputs THIS -o DIR` writes it down");
  }

  // Of an axis of any size a sample has its share, where another array tells how many there are.
  static void share_open_sizes(std::vector<Part>& parts) {
    const auto known = std::ranges::find_if(
        parts, [](const Part& part) { return !part.slices.open && part.slices.count > 0; });
    if (known == parts.end()) return;
    const std::int64_t count = known->slices.count;
    for (Part& part : parts) {
      const std::int64_t size = part.slices.open ? part.array.shape().front() : 0;
      if (size == 0 || size % count != 0) continue;
      part.slices.each = size / count;
      part.slices.count = count;
    }
  }

  // Whether the samples are what the inputs take; outputs are compared.
  bool fit(const std::vector<Part>& parts, bool one_sample) {
    for (const Part& part : parts) {
      if (!part.is_input || !part.port->sizes) continue;
      const Tensor first = sample_of(part.array, part.slices, 0, *part.port, one_sample);
      if (takes(*part.port->sizes, first.shape())) continue;
      return fail(cat("array of '", printable(part.port->name), "', ",
                      type_and_shape(part.array.dtype(), part.array.shape()), ", has samples of ",
                      type_and_shape(first.dtype(), first.shape()), ", and the model takes ",
                      declared(*part.port)));
    }
    return true;
  }

  bool same_count(const std::vector<Part>& parts, std::int64_t count) {
    for (const Part& part : parts) {
      const std::string what = cat("array of '", printable(part.port->name), "', ",
                                   type_and_shape(part.array.dtype(), part.array.shape()), ", ");
      if (part.slices.count == 0 && !part.array.shape().empty() && part.array.shape().front() > 0)
        return fail(cat(what, "is no multiple of samples with ", part.slices.each,
                        " along the first axis"));
      if (part.slices.count != count)
        return fail(cat(what, "has ", counted(part.slices.count, "sample"),
                        " along the first axis, that of '", printable(parts.front().port->name),
                        "' has ", count));
    }
    if (count == 0) return fail("has no samples");
    if (count > kMostSamples)
      return fail(cat("has ", count, " samples; at most ", kMostSamples, " are taken"));
    return true;
  }

  const Interface model_;
  const DeclaredPorts& ports_;
  const Limits limits_;
  const SampleParts parts_;
  Reporter& reporter_;
  std::string file_;  // that is being split
};

// What the options make of what the file declares.
Interface interface_of(const ModelOptions& model, const CompileOptions& options,
                       std::string_view bytes, DeclaredPorts ports) {
  Interface out{std::move(ports), {}, {}};
  if (!options.import.cuts.empty()) out.ports.outputs.clear();
  for (const std::string& name : options.import.cuts) out.ports.outputs.push_back({name, {}, {}});
  for (const QuantizeInput& quantized : options.quantize_inputs) {
    for (DeclaredPort& port : out.ports.inputs) {
      if (port.name == quantized.name) port.dtype = DType::kF32;
    }
  }
  for (const std::string& text : model.constants) out.constants.insert(parse_constant(text)->first);
  std::vector<StateRequest> states = options.states;
  const auto text = metadata_of(bytes, "etch.state", options.import.limits);
  if (states.empty() && text) states = parse_states(*text).value_or(std::vector<StateRequest>{});
  for (const StateRequest& state : states) out.states.insert({state.output, state.input});
  return out;
}

std::unique_ptr<Splitter> splitter_of(const ModelOptions& model, SampleParts parts,
                                      Reporter& reporter) {
  const CompileOptions options = model.compile_options();
  const Limits& limits = options.import.limits;
  Sink sink;
  const std::optional<std::string> bytes = read_model_file(model.model, limits, sink);
  std::optional<DeclaredPorts> ports;
  if (bytes) ports = declared_ports(*bytes, options.import, sink);
  reporter.diagnostics(sink, model.model);
  if (!ports) return nullptr;
  return std::make_unique<Splitter>(interface_of(model, options, *bytes, std::move(*ports)), limits,
                                    parts, reporter);
}

// One word of --data, as files to split or folders as they are.
struct GivenData {
  std::vector<fs::path> files;
  std::vector<fs::path> folders;
};

GivenData given_data(const fs::path& given) {
  if (is_numpy(given)) return {{given}, {}};
  std::error_code error;  // then it is none, and reading it reports
  if (!fs::is_directory(given, error) || has_tensor(given, "input", 0)) return {{}, {given}};
  if (std::vector<fs::path> sets = find_data_sets(given / "model.onnx"); !sets.empty())
    return {{}, std::move(sets)};
  if (std::vector<fs::path> files = numpy_files(given); !files.empty())
    return {std::move(files), {}};
  return {{}, {given}};
}

}  // namespace

std::optional<SampleFolders> sample_folders(const ModelOptions& model,
                                            const std::vector<std::string>& data, SampleParts parts,
                                            Reporter& reporter) try {
  SampleFolders out;
  std::unique_ptr<Splitter> splitter;
  for (const std::string& given : data) {
    GivenData source = given_data(given);
    std::ranges::move(source.folders, std::back_inserter(out.folders));
    if (source.files.empty()) continue;
    if (splitter == nullptr) splitter = splitter_of(model, parts, reporter);
    if (splitter != nullptr && out.made == nullptr) out.made = WorkFolder::make({}, reporter);
    if (splitter == nullptr || out.made == nullptr) return std::nullopt;
    std::error_code error;  // then there is nothing to split
    const bool one_sample = fs::is_directory(given, error);
    // Names need not differ between two words; their folders have to.
    const fs::path place = out.made->path() / std::to_string(out.folders.size());
    make_folder(place);
    for (const fs::path& file : source.files) {
      const fs::path name = one_sample ? file.filename() : file.stem();
      if (!splitter->split(file, place / name, one_sample, out.folders)) return std::nullopt;
    }
  }
  return out;
} catch (const IoFailure& failure) {
  reporter.io_error(failure.path.string(), failure.what);
  return std::nullopt;
}

}  // namespace etch::cli

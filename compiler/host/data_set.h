// ONNX test data: folders with input_I.pb and output_I.pb in the order of the graph. Where there is
// no ROLE_I.pb, ROLE_I.npy of NumPy or ROLE_I.bin with the bare elements, row-major and in little
// endian, takes its place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/host/reporter.h"
#include "compiler/ir/tensor.h"
#include "compiler/program/step.h"

namespace etch::cli {

// The test_data_set_* folders beside the model, by number.
std::vector<std::filesystem::path> find_data_sets(const std::filesystem::path& model);

// The file of a tensor, ROLE_I.pb where there is none.
std::filesystem::path tensor_path(const std::filesystem::path& folder, const std::string& role,
                                  std::size_t i);

// Reads ROLE_0.pb, ROLE_1.pb ... ("input", "output"), one for each port, which says its number. Of
// ports that are kept in a state a missing file is no error: an input is what reset() sets it to,
// an output zeros. Null after an error.
std::optional<std::vector<Tensor>> read_tensors(const std::filesystem::path& folder,
                                                const std::string& role,
                                                const std::vector<Port>& ports, Reporter& reporter);

// The same for the inputs; an input that has not the type and shape of its port is an error. What
// is kept in a state is what reset() sets it to where the folder has no file of it.
std::optional<std::vector<Tensor>> read_inputs(const std::filesystem::path& folder,
                                               const std::vector<Port>& ports, Reporter& reporter);

// The same for a program; of one for several sizes the inputs are those of any one of them, and the
// outputs those of the inputs' size.
std::optional<std::vector<Tensor>> read_inputs(const std::filesystem::path& folder,
                                               const Program& program, Reporter& reporter);

// The size that these inputs have; null if they fit none. 0 for programs of one size.
std::optional<std::int64_t> size_of_sample(const Program& program,
                                           const std::vector<Tensor>& inputs);

// Whether the folder has the port's file.
bool has_tensor(const std::filesystem::path& folder, const std::string& role, std::size_t i);

// The shapes of input_0.pb, input_1.pb ... up to the first that is missing, unreadable or a .bin.
std::vector<Shape> shapes_of_inputs(const std::filesystem::path& folder);

bool fits(const Tensor& tensor, const Port& port);
// "int8[1, 3, 224, 224]"
std::string type_and_shape(DType dtype, const Shape& shape);

}  // namespace etch::cli

// The engines that must agree on every case: the operators' reference functions, the generated
// program's steps under the Native stage, and (tests/support/generated_batch.h) the compiled code.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "compiler/program/step.h"
#include "tests/support/cases.h"

namespace etch {

// Plain loops over the imported and resolved graph; no pass has touched it. Fails the test and
// returns nothing when the model is refused.
std::vector<Tensor> reference_outputs(const Case& each);

// Null, and the test fails, when the model is refused.
std::unique_ptr<Program> compiled(const Case& each, std::string_view target,
                                  RequantizeMode requantize = RequantizeMode::kFloat);
std::unique_ptr<Program> compiled(const Case& each, const CompileOptions& options);

// The network in a file, with the inputs of its first test data beside it where there are any.
Case case_of_file(const std::filesystem::path& model);

// A tuning file that gives every convolution of the program the candidate of this number, of the
// `most` that `etch tune` would try, or as much as there is of it.
Tuning candidate_tuning(const Program& program, std::size_t number, std::size_t most);

// The compiled steps run in this process with the instruction set's widths and layouts.
std::vector<Tensor> native_outputs(const Program& program, const std::vector<Tensor>& inputs);

// "" when equal, else how many elements differ and the first of them.
std::string difference_of(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected);

}  // namespace etch

// What --data takes, as folders of test data: such a folder itself, a folder of them, and samples
// in files of NumPy, which are taken apart into folders for the length of a command.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/host/model_options.h"
#include "compiler/host/reporter.h"
#include "compiler/host/work_folder.h"

namespace etch::cli {

// What the samples of a command have.
enum class SampleParts { kInputs, kInputsAndOutputs };

struct SampleFolders {
  std::vector<std::filesystem::path> folders;  // with input_0.pb and so on, in order
  std::unique_ptr<WorkFolder> made;            // where those of files are; null: none are
};

// `data` in order. A .npz file has an array for each input, by its name, and of kInputsAndOutputs
// for each output; a .npy file has that of the only input. States may be absent, and inputs that
// --constant gives are not read. The first axis is that of the samples: it comes before those of
// the input, or is the input's own first one, of which a sample has as much as the model declares
// or --dim and --input-shape say; where that is open, its share of as many samples as other arrays
// have, or else 1. A folder of .npz or .npy files has a sample in
// each of them, by the numbers at the ends of their names. float64 becomes float32 where the model
// takes that. Null after E-IO that says what is needed.
std::optional<SampleFolders> sample_folders(const ModelOptions& model,
                                            const std::vector<std::string>& data, SampleParts parts,
                                            Reporter& reporter);

}  // namespace etch::cli

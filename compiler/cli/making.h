// How a generated folder was made: what its header says, as options. `etch prove` needs them all
// again, also those whose files the header cannot name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/host/model_options.h"
#include "compiler/host/reporter.h"

namespace etch::cli {

struct Making {
  EmitOptions emit;
  std::string sha256;     // of the model
  std::string canonical;  // canonical_options()
  std::vector<std::string> words;
};

// Null after an error: no header of the folder says it.
std::optional<Making> making_of(const std::filesystem::path& folder, Reporter& reporter);

// The options that the words stand for. Of options that read files the header has no paths: those
// of `given` take their places, and are asked for where they are missing. Null after an error.
std::optional<ModelOptions> options_of(const Making& making, const ModelOptions& given,
                                       Reporter& reporter);

// What --weights NAME stands for; an unknown name is embed.
WeightsForm weights_form(std::string_view name);

// The words of a line that shell_word() wrote; tested with it.
std::vector<std::string> words_of_line(std::string_view line);

}  // namespace etch::cli

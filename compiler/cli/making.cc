// See making.h.
#include "compiler/cli/making.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/options.h"
#include "compiler/import/file.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::size_t kMostHeaderBytes = 1 << 20;
constexpr char kCommand[] = "// etch compile MODEL.onnx -o DIR";

// What follows `before` in the text up to `end`; empty if it is not there.
std::string part_after(const std::string& text, const std::string& before, std::string_view end) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const std::size_t from = at + before.size();
  return text.substr(from, text.find(end, from) - from);
}

// A comment that goes on over several lines as one: each break stands for a space.
std::string comment_after(const std::string& text, const std::string& before) {
  std::string out = part_after(text, before, "\ninline ");
  for (std::size_t at = 0; (at = out.find("\n// ", at)) != std::string::npos;)
    out.replace(at, 4, " ");
  return out;
}

// What the words say of the files' form.
struct FormWords {
  std::string name, weights, section, package;
  bool single_file = false;

  void add_to(const Parser& parser) {
    parser.add_option("--name", name, "");
    parser.add_option("--weights", weights, "");
    parser.add_option("--weights-section", section, "");
    parser.add_option("--package", package, "");
    parser.add_flag("--single-file", single_file, "");
  }
  EmitOptions options() const {
    EmitOptions out;
    out.name = name;
    out.weights = weights_form(weights);
    out.weights_section = section;
    out.package = package;
    out.layout = single_file ? FileLayout::kSingleFile : FileLayout::kFolder;
    return out;
  }
};

// Both kinds of options that words of a header have. False, with a report, if they are none.
bool parse(const std::vector<std::string>& words, ModelOptions& options, FormWords& form,
           const std::string& header, Reporter& reporter) {
  const Parser parser("", "", Parser::Help::kNone);
  add_model_options(parser, options);
  add_code_options(parser, options);
  add_budget_options(parser, options);
  add_schedule_options(parser, options);
  parser.option("MODEL").required(false);
  form.add_to(parser);
  std::string what;
  if (parser.parse(words, what) == Parser::Outcome::kParsed) return true;
  reporter.io_error(header, cat("how the folder was made: ", what));
  return false;
}

}  // namespace

WeightsForm weights_form(std::string_view name) {
  if (name == "file") return WeightsForm::kFile;
  return name == "binary" ? WeightsForm::kBinary : WeightsForm::kEmbedded;
}

std::vector<std::string> words_of_line(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false, quoted = false;  // a word; '...'
  for (const char c : line) {
    const bool ends = c == ' ' && !quoted;
    if (!ends && !inside) words.emplace_back();
    inside = !ends;
    if (c == '\'') quoted = !quoted;
    if (!ends && c != '\'') words.back().push_back(c);
  }
  return words;
}

std::optional<Making> making_of(const fs::path& folder, Reporter& reporter) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".h") continue;
    Sink ignored;  // a header that is not ours
    const auto text = read_file(entry.path().string(), kMostHeaderBytes, "", ignored);
    const std::string line = comment_after(text.value_or(""), kCommand);
    const std::size_t form = line.rfind(" --name ");  // no word after it has spaces
    if (form == std::string::npos) continue;
    Making out{{},
               part_after(*text, "kModelSha256[] =\n    \"", "\""),
               line.substr(0, form),
               words_of_line(line)};
    ModelOptions options;
    FormWords words;
    if (!parse(out.words, options, words, entry.path().string(), reporter)) return std::nullopt;
    out.emit = words.options();
    return out;
  }
  reporter.io_error(folder.string(), "no header in it says how Etch made it");
  return std::nullopt;
}

std::optional<ModelOptions> options_of(const Making& making, const ModelOptions& given,
                                       Reporter& reporter) {
  ModelOptions options;
  FormWords form;
  if (!parse(making.words, options, form, making.emit.name + ".h", reporter)) return std::nullopt;
  const auto take = [&](const char* option, auto& mine, const auto& theirs) {
    if (mine.empty() != theirs.empty()) {
      reporter.usage_error(cat(option, mine.empty() ? " was not given when the folder was made"
                                                    : " is needed: the folder was made with one"));
    }
    mine = theirs;
  };
  take("--tuning", options.tuning, given.tuning);
  const auto numbers = [](const std::string& text) {
    return parse_numbers(parse_constant(text)->second).has_value();
  };
  if (!given.constants.empty() || !std::ranges::all_of(options.constants, numbers))
    take("--constant", options.constants, given.constants);
  take("--initial-state", options.initial_states, given.initial_states);
  take("--external-data", options.external_data, given.external_data);
  if (reporter.failed()) return std::nullopt;
  return options;
}

}  // namespace etch::cli

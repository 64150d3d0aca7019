// `etch golden`: keeps what Etch makes of a model, and says later what is different: hashes of
// files and steps, sizes, and hashes of the outputs, which have to be the same on every target.
// This is its command line.
#include "compiler/cli/golden.h"

#include <memory>

#include "compiler/base/text.h"
#include "compiler/cli/json.h"
#include "compiler/golden/target.h"
#include "compiler/targets/targets.h"
#include "compiler/text/names.h"

namespace etch::cli {
namespace {

// A golden has to be complete in its folder, and one from another user must not choose another
// folder to read from.
std::string refuse_external_data(const std::string&) {
  return "a golden keeps one file, model.onnx: save the model with its data inside that file "
         "(onnx.save(onnx.load(...), ...))";
}

// The words that give these options again; the tuning file is that of the folder.
std::vector<std::string> words_of(const std::vector<Given>& given) {
  std::vector<std::string> words;
  for (const auto& [option, value] : given) {
    words.push_back(option);
    if (!value) continue;
    words.push_back(option == "--tuning" ? GoldenFolder{}.tuning().string() : *value);
  }
  return words;
}

std::string check_target(const std::string& name) {
  const IsaTraits* isa = find_target(name);
  if (isa != nullptr && isa->name == name) return {};
  return isa == nullptr ? cat("there is no target '", printable(name), "'")
                        : cat("'", name, "' is another target on another machine; name one");
}

Parser add_record(const Parser& parent, const std::shared_ptr<RecordOptions>& options) {
  Parser parser = parent.add_subcommand("record", "Record a model for `etch golden verify`");
  add_kept_options(parser, *options);
  parser.take_given(
      [options](const std::vector<Given>& given) { options->words = words_of(given); });
  add_time_limit(parser, *options);
  parser.add_option("--targets", options->targets, "instruction sets, separated by commas")
      .required()
      .separated_by_commas()
      .one_argument()
      .check(check_target)
      .type_name("A,B,...");
  parser.add_option("-o,--output", options->output, "folder to write to")
      .required()
      .type_name("DIR");
  parser
      .add_option("--data", options->data,
                  "folder with input_I.pb, .npy or .bin; .npz file with samples along the\n"
                  "first axis (default: test_data_set_* beside the model, or made-up inputs)")
      .one_argument()
      .type_name("DIR|FILE.npz");
  parser.add_option("--samples", options->samples, "the most inferences to record")
      .between(std::int64_t{1}, std::int64_t{kMostGoldenSamples})
      .type_name("N")
      .show_default();
  parser.add_flag("--generate-only", options->generate_only, "no outputs and sizes of code");
  parser.add_flag("-f,--force", options->force, "replace an earlier recording");
  add_json_flag(parser, options->json);
  group_options(parser);
  parser.footer("Example:\n  etch golden record net.onnx --targets cortex-m4,avx2 -o goldens/net");
  return parser;
}

Parser add_verify(const Parser& parent, const std::shared_ptr<VerifyOptions>& options) {
  Parser parser = parent.add_subcommand("verify", "Report differences from what was recorded");
  parser.add_option("DIR", options->folder, "what `etch golden record` wrote")
      .required()
      .type_name("DIR");
  parser.add_option("--model", options->model, "also require that this is the recorded model")
      .change(model_in)
      .type_name("FILE.onnx");
  parser
      .add_option(
          "--targets", options->targets,
          "verify these of the recorded targets only, separated by commas, e.g. one in each "
          "of several jobs")
      .separated_by_commas()
      .one_argument()
      .type_name("A,B,...");
  parser.add_flag("--allow-code-change", options->allow_code_change,
                  "accept other code as long as the outputs are equal");
  parser
      .add_option("--max-growth", options->max_growth,
                  "refuse code, weights, arena or stack that grew by more than P percent")
      .between(0.0, 1e6)
      .type_name("P");
  parser.add_flag("--generate-only", options->generate_only, "compare generated files only");
  parser.add_flag("--skip-missing", options->skip_missing,
                  "accept that a target that ran when recorded cannot run here");
  parser.add_flag("--update", options->update, "record the new code if the outputs are equal");
  parser.add_option("--time-limit", options->time_limit, "end a program that runs longer than this")
      .between(0.01, 1e6)
      .type_name("S");
  add_json_flag(parser, options->json);
  parser.footer(
      "Exit codes: 0 as recorded, 4 outputs differ, 5 code, size or model changed, 3 a target "
      "that\n"
      "ran when recorded cannot be run here.\n"
      "\n"
      "Example:\n  etch golden verify goldens/net --allow-code-change --max-growth 2");
  return parser;
}

}  // namespace

void add_kept_options(const Parser& parser, ModelOptions& options) {
  add_model_options(parser, options);
  add_code_options(parser, options);
  add_budget_options(parser, options);
  add_schedule_options(parser, options);
  parser.remove_option("--target");
  parser.option("--external-data")
      .check(refuse_external_data)
      .description("refused: the data has to be inside the model's file");
}

Command add_golden(const Parser& root) {
  Parser parser =
      root.add_subcommand("golden", "Record what is generated, and report later what changed");
  parser.require_subcommand();
  auto record_options = std::make_shared<RecordOptions>();
  auto verify_options = std::make_shared<VerifyOptions>();
  const Parser recording = add_record(parser, record_options);
  add_verify(parser, verify_options);
  parser.footer("Example:\n  etch golden verify goldens/net");
  return {parser, [=](Reporter& reporter) {
            return recording.parsed() ? record_golden(*record_options, reporter)
                                      : verify_golden(*verify_options, reporter);
          }};
}

}  // namespace etch::cli

// `etch explain`: what a class of diagnostics means, and what helps.
#include <algorithm>
#include <iterator>

#include "compiler/base/closest.h"
#include "compiler/base/text.h"
#include "compiler/cli/options.h"
#include "compiler/diag/diagnostic.h"

namespace etch::cli {
namespace {

struct Meaning {
  const char* code;
  const char* text;
};

constexpr Meaning kMeanings[] = {
#define ETCH_DIAG_KIND(id, code, meaning) {code, meaning},
#include "compiler/diag/kinds.def"
#undef ETCH_DIAG_KIND
};

// In the order of kinds.def.
constexpr Meaning kHelp[] = {
    {"E-PARSE",
     "The file could not be read as an ONNX model. If it is of another kind, the message says "
     "what\n"
     "makes a model of it. Otherwise copy or export it again:\n"
     "  python -c \"import onnx; onnx.checker.check_model('model.onnx')\""},
    {"E-VERSION",
     "The model asks for operators of a version that is not known, or an operator is newer than "
     "the\n"
     "version that the model asks for. ONNX's converter changes versions:\n"
     "  python -c \"import onnx; from onnx import version_converter as v; "
     "onnx.save(v.convert_version(onnx.load('model.onnx'), 21), 'model21.onnx')\""},
    {"E-OP",
     "There is no code for this operator. `etch inspect MODEL` lists all such operators at once.\n"
     "What is before it can be compiled with --cut TENSOR, where TENSOR is what it reads; a\n"
     "simplifier may remove it (python -m onnxsim model.onnx simple.onnx)."},
    {"E-UNSUPPORTED",
     "The operator is known, but not in this form; the message says which form would be. Often a\n"
     "size or a parameter has to be known when the network is compiled: fix it with --dim NAME=N\n"
     "or --input-shape NAME=N,N,..., or export it as a constant. --cut TENSOR leaves out what\n"
     "follows."},
    {"E-GRAPH",
     "Nodes and tensors are not connected as ONNX says: a name that nothing defines, a cycle, too\n"
     "many inputs. onnx.checker.check_model() finds most of these too; report them to whatever\n"
     "wrote the file."},
    {"E-NAME",
     "A name is missing, stands for two things, or is not one that can be used. For --cut, names\n"
     "are those of tensors or nodes; `etch inspect --help` tells how to list them."},
    {"E-TYPE",
     "An operator reads elements of a type that ONNX does not allow there, or that Etch has no\n"
     "code for; the message has both. Cast the tensor in the network, or export in float32."},
    {"E-TENSOR",
     "A constant holds more or fewer bytes than its type and shape need, or values that its type\n"
     "does not have: the file is damaged, or was written by a faulty tool."},
    {"E-EXTDATA",
     "The model keeps tensors in other files, which are read from one folder only:\n"
     "  etch compile model.onnx --external-data .  -o model"},
    {"E-SHAPE",
     "Two shapes contradict each other, or a size is not known. Fix symbolic sizes with\n"
     "--dim NAME=N, or the shape of an input with --input-shape NAME=N,N,...; if the file "
     "declares\n"
     "shapes that are wrong, run onnx.shape_inference on it."},
    {"E-ATTR",
     "An attribute of a node is missing, not known for this operator, or outside of its range."},
    {"E-QUANT",
     "A scale has to be a positive finite number and a zero point an integer of its tensor's "
     "type;\n"
     "those of one axis are as many as the axis has positions. Scales of 0 come from calibration\n"
     "on data that are all the same: calibrate with others."},
    {"E-LIMIT",
     "The model needs more than a limit allows that keeps a hostile file from using up this\n"
     "machine. The message names the limit; for a model that you trust, raise it with\n"
     "--limit NAME=N."},
    {"E-IO",
     "A file cannot be read or written, or a compiler or emulator cannot be run; the message has\n"
     "the reason that the system gave."},
};
static_assert(std::size(kHelp) == std::size(kMeanings));

ExitCode list_codes() {
  for (const Meaning& each : kMeanings) {
    std::string code = each.code;
    code.resize(14, ' ');
    print_line(cat(code, each.text));
  }
  return ExitCode::kOk;
}

ExitCode explain(const std::string& wanted, Reporter& reporter) {
  if (wanted.empty()) return list_codes();
  std::string code = wanted;
  std::ranges::transform(code, code.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  for (std::size_t i = 0; i < std::size(kMeanings); ++i) {
    if (code != kMeanings[i].code && cat("E-", code) != kMeanings[i].code) continue;
    print_line(cat(kMeanings[i].code, ": ", kMeanings[i].text));
    print_line(kHelp[i].text);
    return ExitCode::kOk;
  }
  std::vector<std::string> codes;
  for (const Meaning& each : kMeanings) codes.emplace_back(each.code);
  reporter.usage_error(cat("there is no class '", printable(wanted), "'",
                           did_you_mean(wanted, codes), "; `etch explain` lists them"));
  return reporter.exit_code();
}

}  // namespace

Command add_explain(const Parser& root) {
  const Parser parser = root.add_subcommand("explain", "Say what a class of errors means");
  auto code = std::make_shared<std::string>();
  parser.add_option("CODE", *code, "a class, as E-QUANT; all of them if left out")
      .type_name("E-...");
  parser.footer(
      "Examples:\n"
      "  etch explain\n"
      "  etch explain E-SHAPE");
  return {parser, [code](Reporter& reporter) { return explain(*code, reporter); }};
}

}  // namespace etch::cli

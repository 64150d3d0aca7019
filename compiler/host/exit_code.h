// The exit codes of `etch`: a contract with scripts, documented in `etch --help`.
#pragma once

namespace etch::cli {

enum class ExitCode : int {
  kOk = 0,
  kUsage = 1,      // the command line is wrong
  kRefused = 2,    // the model is refused; the diagnostics say why
  kIo = 3,         // a file, folder or program that is needed cannot be read, written or run
  kDiffer = 4,     // outputs differ from what is expected
  kChanged = 5,    // generated code or its size is not what `etch golden` has recorded
  kInternal = 70,  // a defect of Etch
};

}  // namespace etch::cli

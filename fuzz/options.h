// How a fuzzed model is compiled: the model says it itself, so that the file alone repeats a
// finding.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/package/package.h"

namespace etch::fuzz {

struct Request {
  CompileOptions compile;
  EmitOptions emit;
  std::vector<PackageForm> package;  // where the network can have them; empty: a plain folder
};

// From the bytes of the model's doc_string, each of which chooses one thing; missing ones are 0,
// which stands for the default. The first is the target.
Request request_of(std::string_view model);

// The files that the request asks for.
std::vector<OutputFile> files_of(const Program& program, Request request);

}  // namespace etch::fuzz

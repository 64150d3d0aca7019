// The pipeline as one function: model bytes in, Program out. Reads top to bottom in compile.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/options.h"
#include "compiler/program/step.h"
#include "compiler/targets/targets.h"

namespace etch {

// Null when the model is refused; the reasons are in `sink`. Throws nothing.
std::unique_ptr<Program> compile(std::string_view model, const CompileOptions& options, Sink& sink);

// The same with a look at, and a change of, the graph between the passes and lowering: `etch prove`
// compares programs of graphs that differ in one constant.
using GraphEdit = std::function<void(Graph&)>;
std::unique_ptr<Program> compile(std::string_view model, const CompileOptions& options, Sink& sink,
                                 const GraphEdit& edit);

// Of a program with variants the one that this machine takes, else the program itself.
const Program& variant_for_this_cpu(const Program& program);

// The front half, for `etch inspect` and tests: imported, resolved, folded; not yet lowered.
std::unique_ptr<Graph> load_graph(std::string_view model, const CompileOptions& options,
                                  Sink& sink);

}  // namespace etch

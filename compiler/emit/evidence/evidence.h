// What a generated network claims, for a checker that shares no code with the compiler
// (tools/check-evidence, docs/evidence.md): from which node of the file each function comes, which
// sums can occur and how they are requantized, where every tensor is and which bytes every access
// touches, and the SHA-256 of all that it speaks of.
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/program/certificate.h"

namespace etch {

// The file that lists the others and marks the folder as ours.
inline constexpr char kEvidenceMark[] = "evidence.json";

// The files of the folder of evidence on `files`, which were generated from `program`, whose
// lowering `certificates` and whose pruning `kept` has observed.
std::vector<OutputFile> evidence_files(const Program& program, const EmitOptions& options,
                                       const std::vector<OutputFile>& files,
                                       const CertificateLog& certificates,
                                       const KeptChannelsLog* kept = nullptr);

}  // namespace etch

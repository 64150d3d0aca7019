// Certificates as members of a JSON object, one function per kind; docs/evidence.md says what each
// states and what the checker makes of it.
#pragma once

#include "compiler/emit/evidence/json_stream.h"
#include "compiler/program/certificate.h"

namespace etch {

void add_certificate(JsonStream& json, const Step& step, const StepCertificate& certificate);
void add_certificate(JsonStream& json, const Step& step, const WordProductCertificate& certificate);
void add_certificate(JsonStream& json, const Step& step, const WordSumCertificate& certificate);
void add_certificate(JsonStream& json, const Step& step, const WordMeanCertificate& certificate);
void add_certificate(JsonStream& json, const Step& step, const WordPairCertificate& certificate);
void add_certificate(JsonStream& json, const Step& step, const TableCertificate& certificate);
void add_certificate(JsonStream& json, const Step& step, const WordTableCertificate& certificate);
void add_certificate(JsonStream& json, const Step& step, const WindowCertificate& certificate);

}  // namespace etch

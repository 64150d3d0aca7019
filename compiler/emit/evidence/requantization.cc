// Certificates of requantization by the float rule; see certificates.h. The thresholds are those of
// the rule itself, whatever form the generated code has.
#include "compiler/program/requantization.h"

#include <string>
#include <vector>

#include "compiler/emit/evidence/certificates.h"
#include "compiler/emit/evidence/json_stream.h"
#include "compiler/emit/evidence/parts.h"
#include "compiler/program/requantize/channel.h"

namespace etch {

namespace {

// thresholds[i]: the least accumulator that gives `first` + 1 + i or more.
void add_thresholds(JsonStream& json, const RequantizeChannel& channel, int zero_point) {
  const int first = float_rule(channel, channel.least);
  std::vector<std::int64_t> thresholds;
  for (const Demand& demand : demands_of(channel).reach)
    if (demand.q > first) thresholds.push_back(demand.acc);
  json.member("first", first + zero_point);
  json.list("thresholds", thresholds);
}

void add_form(JsonStream& json, const IntegerForm& form) {
  json.object("form", [&] {
    json.member("rung", name_of(form.rung));
    if (form.rung == Rung::kEmulation) return;
    json.member("multiplier", form.line.multiplier);
    json.member("offset", form.line.offset);
    json.member("shift", form.line.shift);
    json.member("odd", form.line.odd);
    std::vector<std::int64_t> at;
    std::vector<std::int64_t> delta;
    for (const RequantizeException& e : form.exceptions) {
      at.push_back(e.acc);
      delta.push_back(e.delta);
    }
    json.list("exceptions", at);
    json.list("deltas", delta);
  });
}

std::string_view name_of(Requantize::Kind kind) {
  switch (kind) {
    case Requantize::Kind::kInt32:
      return "int32";
    case Requantize::Kind::kFloat:
      return "float";
    case Requantize::Kind::kFloatClamp:
      return "float_clamp";
    case Requantize::Kind::kInteger:
      return "integer";
  }
  return "";
}

// How the step computes it: with floats, where the step holds no forms for integers.
Requantize::Kind kind_of(const Step& step, const StepCertificate& certificate) {
  if (certificate.out.kind == Requantize::Kind::kInt32) return Requantize::Kind::kInt32;
  return step.requantized.empty() ? Requantize::Kind::kFloat : Requantize::Kind::kInteger;
}

void add_channel(JsonStream& json, const Step& step, const StepCertificate& certificate,
                 std::size_t m, Requantize::Kind kind) {
  const ChannelCertificate& channel = certificate.channels[m];
  json.list("accumulators", std::vector<std::int64_t>{channel.least, channel.most});
  if (kind == Requantize::Kind::kInt32) return;
  json.member("scale", bits_of(channel.scale));
  add_thresholds(json,
                 requantize_channel(certificate.out, channel.scale, channel.least, channel.most),
                 certificate.out.zero_point);
  if (m < step.requantized.size()) add_form(json, step.requantized[m].form);
}

}  // namespace

void add_certificate(JsonStream& json, const Step& step, const StepCertificate& certificate) {
  const Requantize::Kind kind = kind_of(step, certificate);
  json.member("kind", name_of(kind));
  json.flag("residual", certificate.residual);
  json.member("x_zero_point", certificate.x_zero_point);
  if (kind != Requantize::Kind::kInt32) {
    json.member("y_zero_point", certificate.out.zero_point);
    json.list("clamp", std::vector<std::int64_t>{certificate.out.low, certificate.out.high});
  }
  json.array("channels", [&] {
    for (std::size_t m = 0; m < certificate.channels.size(); ++m)
      json.object({}, [&] { add_channel(json, step, certificate, m, kind); });
  });
}

std::string requantization_part(const EvidenceContext& context) {
  JsonStream json;
  json.flag("floats", context.program.isa.float_requantization);
  json.array("steps", [&] {
    for (const auto& step : context.program.steps) {
      const ArithmeticCertificate* const found = context.certificates.find(*step);
      if (found == nullptr) continue;
      json.object({}, [&] {
        json.member("step", step->name);
        json.member("node", step->node);
        std::visit([&](const auto& one) { add_certificate(json, *step, one); }, *found);
      });
    }
  });
  return json.finish();
}

}  // namespace etch

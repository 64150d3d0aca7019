// Certificates of 16 bits, tables and windows; see certificates.h.
#include "compiler/emit/evidence/certificates.h"

#include <cstdint>
#include <vector>

namespace etch {

namespace {

using Numbers = std::vector<std::int64_t>;

void add_result(JsonStream& json, const WordResult& out) {
  json.member("y_zero_point", out.zero_point);
  json.list("clamp", Numbers{out.low, out.high});
}

// Modulo 2^64, as parts are (compiler/ops/word_ratio.h).
void add_number(JsonStream& json, std::string_view key, std::uint64_t number) {
  json.member(key, static_cast<std::int64_t>(number));
}

void add_windows(JsonStream& json, const WindowCertificate& windows) {
  json.array("windows", [&] {
    for (const ConvAxis& axis : windows.geometry.axes) {
      json.object({}, [&] {
        json.member("in", axis.in);
        json.member("kernel", axis.kernel);
        json.member("stride", axis.stride);
        json.member("dilation", axis.dilation);
        json.list("pads", Numbers{axis.pad_begin, axis.pad_end});
        json.member("out", axis.out);
      });
    }
  });
  json.flag("counts_padding", windows.counts_padding);
}

}  // namespace

void add_certificate(JsonStream& json, const Step&, const WordProductCertificate& certificate) {
  json.member("kind", "words");
  json.member("x_zero_point", certificate.x_zero_point);
  if (certificate.part != 0) json.member("part", certificate.part);
  add_result(json, certificate.out);
  json.array("channels", [&] {
    for (const WordChannelCertificate& channel : certificate.channels) {
      json.object({}, [&] {
        json.list("accumulators", Numbers{channel.least, channel.most});
        json.member("factor", channel.factor);
        json.member("exponent", channel.exponent);
        json.member("rest", channel.rest);
      });
    }
  });
}

void add_certificate(JsonStream& json, const Step&, const WordSumCertificate& certificate) {
  json.member("kind", "sum of words");
  add_result(json, certificate.out);
  add_number(json, "unit", certificate.unit);
  json.member("bits", certificate.bits);
  json.array("terms", [&] {
    for (const WordTermCertificate& term : certificate.terms) {
      json.object({}, [&] {
        json.member("zero_point", term.zero_point);
        add_number(json, "part", term.part);
        json.member("factor", term.factor);
      });
    }
  });
}

void add_certificate(JsonStream& json, const Step&, const WordMeanCertificate& certificate) {
  json.member("kind", "mean of words");
  json.member("x_zero_point", certificate.x_zero_point);
  add_result(json, certificate.out);
  add_number(json, "part", certificate.part);
  add_number(json, "unit", certificate.unit);
  json.member("bits", certificate.bits);
  json.member("least", certificate.least);
  json.list("factors", Numbers(certificate.factors.begin(), certificate.factors.end()));
  add_windows(json, certificate.windows);
}

void add_certificate(JsonStream& json, const Step&, const WordPairCertificate& certificate) {
  json.member("kind", "product of words");
  json.list("zero_points", Numbers{certificate.a_zero_point, certificate.b_zero_point});
  add_result(json, certificate.out);
  json.member("depth", certificate.depth);
  json.list("accumulators", Numbers{certificate.least, certificate.most});
  json.member("factor", certificate.factor);
  json.member("exponent", certificate.exponent);
}

void add_certificate(JsonStream& json, const Step&, const TableCertificate& certificate) {
  json.member("kind", "table");
  json.member("input", certificate.input);
  json.member("from", name_of(certificate.from));
  json.member("to", name_of(certificate.to));
  json.list("entries", Numbers(certificate.entries.begin(), certificate.entries.end()));
}

void add_certificate(JsonStream& json, const Step&, const WordTableCertificate& certificate) {
  json.member("kind", "function of words");
  json.member("input", certificate.input);
  json.member("type", name_of(certificate.type));
  json.member("bits", certificate.bits);
  json.member("steps", certificate.steps);
  json.member("even", certificate.even);
  json.list("index", Numbers(certificate.index.begin(), certificate.index.end()));
  json.list("cubics", Numbers(certificate.cubics.begin(), certificate.cubics.end()));
}

void add_certificate(JsonStream& json, const Step&, const WindowCertificate& certificate) {
  json.member("kind", certificate.averages ? "average" : "maximum");
  if (certificate.averages) {
    json.list("scales",
              std::vector<std::string>{bits_of(certificate.x_scale), bits_of(certificate.y_scale)});
    json.list("zero_points", Numbers{certificate.x_zero_point, certificate.y_zero_point});
  }
  add_windows(json, certificate);
}

}  // namespace etch

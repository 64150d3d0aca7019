// `etch quantize-params`: what TensorFlow's QuantizeV2 makes of a mode and a range, in terms of
// scale and zero point.
#include <cmath>
#include <memory>
#include <string>

#include "compiler/base/text.h"
#include "compiler/cli/options.h"
#include "compiler/ops/quantize_v2/range.h"

namespace etch::cli {
namespace {

struct Arguments {
  std::string mode = "MIN_COMBINED";
  std::string type = "qint8";
  std::string min, max;
  std::string minimum_range = "0.01";
  bool narrow_range = false;
};

std::string check_mode(const std::string& text) {
  return range_mode(text) ? "" : "expected MIN_COMBINED, MIN_FIRST or SCALED, got '" + text + "'";
}
std::string check_type(const std::string& text) {
  if (tensorflow_type(std::string_view(text))) return {};
  return "expected qint8, quint8, qint16, quint16 or qint32, got '" + text + "'";
}
std::string check_number(const std::string& text) {
  return parse_float(text) ? "" : "expected a number, got '" + text + "'";
}

// The quantized value, not always whole, that real 0 falls on before rounding.
double zero_point_of(const QuantizeV2Range& range, const QuantizeV2Rule& rule) {
  if (rule.mode == RangeMode::kScaled) return 0;
  const auto least = static_cast<double>(min_of(rule.type));
  if (rule.mode == RangeMode::kMinFirst) return least - static_cast<double>(range.rounded_low);
  return least - static_cast<double>(range.low) * static_cast<double>(range.scale);
}

std::string zero_point_text(const QuantizeV2Range& range, const QuantizeV2Rule& rule) {
  const double zero_point = zero_point_of(range, rule);
  std::string number = zero_point == std::floor(zero_point)
                           ? cat(static_cast<long long>(zero_point))
                           : decimal(static_cast<float>(zero_point));
  if (rule.mode == RangeMode::kScaled) return "0 (SCALED has none)";
  if (rule.mode == RangeMode::kMinFirst) return number;
  return number + " (equivalent: MIN_COMBINED rounds only once the minimum is subtracted)";
}

ExitCode print_parameters(const Arguments& arguments, Reporter& reporter) {
  QuantizeV2Rule rule;
  rule.mode = *range_mode(arguments.mode);
  rule.type = *tensorflow_type(std::string_view(arguments.type));
  rule.narrow_range = arguments.narrow_range;
  rule.ensure_minimum_range = *parse_float(arguments.minimum_range);
  const float min = *parse_float(arguments.min);
  const float max = *parse_float(arguments.max);
  if (max < min) {
    reporter.usage_error("--max must not be less than --min");
    return reporter.exit_code();
  }
  const QuantizeV2Range range = quantize_v2_range(min, max, rule);
  if (!is_usable(range) || range.scale == 0) {
    reporter.usage_error("this range has no scale in float32");
    return reporter.exit_code();
  }
  print_line(cat("mode        ", arguments.mode));
  print_line(cat("type        ", arguments.type, ", ", least_of(rule), " to ", max_of(rule.type)));
  print_line(cat("range       ", decimal(range.low), " to ", decimal(range.high)));
  print_line(cat("multiplier  ", decimal(range.scale)));
  print_line(cat("scale       ", decimal(1.0F / range.scale)));
  print_line(cat("zero point  ", zero_point_text(range, rule)));
  return ExitCode::kOk;
}

Option add_number(const Parser& parser, const char* name, std::string& value, const char* help) {
  return parser.add_option(name, value, help).check(check_number).type_name("NUMBER");
}

}  // namespace

Command add_quantize_params(const Parser& root) {
  const Parser parser =
      root.add_subcommand("quantize-params", "Print scale and zero point of a QuantizeV2 range");
  auto arguments = std::make_shared<Arguments>();
  parser.add_option("--mode", arguments->mode, "MIN_COMBINED, MIN_FIRST or SCALED")
      .check(check_mode)
      .type_name("MODE")
      .show_default();
  parser.add_option("--type", arguments->type, "qint8, quint8, qint16, quint16 or qint32")
      .check(check_type)
      .type_name("TYPE")
      .show_default();
  add_number(parser, "--min", arguments->min, "least real value").required();
  add_number(parser, "--max", arguments->max, "greatest real value").required();
  parser.add_flag("--narrow-range", arguments->narrow_range,
                  "SCALED: leave out the least quantized value");
  add_number(parser, "--ensure-minimum-range", arguments->minimum_range,
             "least width of the range, as a part of its size or of 1")
      .show_default();
  parser.footer(
      "Prints\n"
      "  range       the range that is used: 0 included, widened if too narrow; for SCALED what\n"
      "              the quantized values reach\n"
      "  multiplier  the factor that real values are multiplied by\n"
      "  scale       1 / multiplier: the distance of two neighbouring real values\n"
      "  zero point  such that real = scale * (quantized - zero point)\n"
      "\n"
      "Example:\n"
      "  etch quantize-params --mode SCALED --min -10 --max 5");
  return {parser,
          [arguments](Reporter& reporter) { return print_parameters(*arguments, reporter); }};
}

}  // namespace etch::cli

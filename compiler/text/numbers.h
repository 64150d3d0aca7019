// Numbers as people read them in reports; independent of locale and of the machine.
#pragma once

#include <cstdint>
#include <string>

namespace etch {

// `value` with exactly `decimals` digits after the point: fixed(1.25, 1) == "1.2".
std::string fixed(double value, int decimals);

// The shortest text with at most `digits` significant digits: significant(0.0123456, 3) ==
// "0.0123".
std::string significant(double value, int digits);

// Three significant digits and a unit of thousands: "999", "1.23 k", "45.6 M", "7.89 G".
std::string with_unit(std::int64_t value);
// The same for bytes: "999 B", "1.23 kB".
std::string bytes_with_unit(std::int64_t value);

// `part` of `whole` in percent, with one decimal: "12.5 %"; "0.0 %" of nothing.
std::string percent(double part, double whole);

}  // namespace etch

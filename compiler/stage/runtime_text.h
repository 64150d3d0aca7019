// How the structs that functions of runtime/ take look in generated code. Declared beside the
// structs, so that the Recorder finds them by argument.
#pragma once

#include <string>

#include "runtime/etch_float_products.h"
#include "runtime/etch_products.h"

namespace etch {
namespace rt {

std::string text_of(const Stored& stored);
std::string text_of(const Range& range);
std::string text_of(const Reduced& reduced);
std::string text_of(const Requantized& requantized);
std::string text_of(const ConvShape& shape);
std::string text_of(const MatMulShape& shape);
std::string text_of(const PoolShape& shape);
std::string text_of(const PackShape& shape);
std::string text_of(const FloatConvShape& shape);
std::string text_of(const FloatEnd& end);

}  // namespace rt
}  // namespace etch

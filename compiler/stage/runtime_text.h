// How the structs that functions of runtime/ take look in generated code. Declared beside the
// structs, so that the Recorder finds them by argument.
#pragma once

#include <string>

namespace etch {
namespace rt {

struct MveColumns;
struct PackedColumns;
struct ConvShape;
struct Filtered;
struct FloatConvShape;
struct FloatEnd;
struct GateRows;
struct Grid;
struct LrnShape;
struct MatMulShape;
struct PackShape;
struct PackedIntegers;
struct PackedProduct;
struct PackedTable;
struct Picked;
struct PoolShape;
struct Range;
struct Reduced;
struct Requantized;
struct RowAffine;
struct RowTerms;
struct RowsShape;
struct Stored;

std::string text_of(const Stored& stored);
std::string text_of(const Range& range);
std::string text_of(const Reduced& reduced);
std::string text_of(const Requantized& requantized);
std::string text_of(const ConvShape& shape);
std::string text_of(const MatMulShape& shape);
std::string text_of(const MveColumns& columns);
std::string text_of(const PackedColumns& columns);
std::string text_of(const RowTerms& terms);
std::string text_of(const PoolShape& shape);
std::string text_of(const PackShape& shape);
std::string text_of(const PackedIntegers& shape);
std::string text_of(const PackedProduct& shape);
std::string text_of(const PackedTable& table);
std::string text_of(const FloatConvShape& shape);
std::string text_of(const FloatEnd& end);
std::string text_of(const RowsShape& shape);
std::string text_of(const RowAffine& affine);
std::string text_of(const LrnShape& shape);
std::string text_of(const Picked& picked);
std::string text_of(const Grid& grid);
std::string text_of(const Filtered& filtered);
std::string text_of(const GateRows& rows);

}  // namespace rt
}  // namespace etch

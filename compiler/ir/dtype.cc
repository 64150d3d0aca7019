// Facts about element types; see dtype.h.
#include "compiler/ir/dtype.h"

#include "compiler/base/check.h"

namespace etch {

std::string_view name_of(DType type) {
  switch (type) {
#define ETCH_DTYPE(id, name, bytes) \
  case DType::id:                   \
    return name;
    ETCH_DTYPES(ETCH_DTYPE)
#undef ETCH_DTYPE
  }
  ETCH_CHECK(false);
}

int bytes_of(DType type) {
#define ETCH_DTYPE(id, name, bytes) bytes,
  static constexpr int kBytes[] = {ETCH_DTYPES(ETCH_DTYPE)};
#undef ETCH_DTYPE
  return kBytes[static_cast<std::size_t>(type)];
}

namespace {
int bits_of(DType type) {
  return type == DType::kU4 || type == DType::kS4 ? 4
         : type == DType::kBool                   ? 1
                                                  : 8 * bytes_of(type);
}
}  // namespace

std::int64_t min_of(DType type) {
  return is_signed(type) ? -(std::int64_t{1} << (bits_of(type) - 1)) : 0;
}

std::int64_t max_of(DType type) {
  return (std::int64_t{1} << (bits_of(type) - (is_signed(type) ? 1 : 0))) - 1;
}

}  // namespace etch

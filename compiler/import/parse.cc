// See parse.h. ONNX has no required fields, so a partial parse is a full one and protobuf has
// nothing to complain about on stderr.
#include "compiler/import/parse.h"

#include <google/protobuf/io/coded_stream.h>

#include <climits>

#include "compiler/base/check.h"

namespace etch {

bool parse_message(std::string_view bytes, int depth, google::protobuf::MessageLite& message) {
  ETCH_CHECK(bytes.size() <= INT_MAX);
  const int size = static_cast<int>(bytes.size());
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                size);
  stream.SetTotalBytesLimit(size);
  stream.SetRecursionLimit(depth);
  return message.ParsePartialFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

}  // namespace etch

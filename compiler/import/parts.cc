// See parts.h. onnx.proto says which fields are messages or lists of strings; all other fields
// with a length are single strings, bytes or packed numbers, which take no more memory than a few
// times their bytes, or than the message that they are in.
#include "compiler/import/parts.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <climits>
#include <optional>
#include <vector>

#include "compiler/base/check.h"

namespace etch {

namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

enum class Message {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kValue,
  kType,
  kTensorType,
  kWrappedType,  // sequence, map, optional
  kShape,
  kAnnotation,
  kFunction,
  kTraining,
  kFlat,  // has neither messages nor lists
  kText,  // no message, but a string in a list
};

struct Field {
  Message in;
  int number;
  Message type;
};

constexpr Field kFields[] = {
    {Message::kModel, 7, Message::kGraph},
    {Message::kModel, 8, Message::kFlat},  // opset_import
    {Message::kModel, 14, Message::kFlat},
    {Message::kModel, 20, Message::kTraining},
    {Message::kModel, 25, Message::kFunction},
    {Message::kGraph, 1, Message::kNode},
    {Message::kGraph, 5, Message::kTensor},
    {Message::kGraph, 11, Message::kValue},
    {Message::kGraph, 12, Message::kValue},
    {Message::kGraph, 13, Message::kValue},
    {Message::kGraph, 14, Message::kAnnotation},
    {Message::kGraph, 15, Message::kSparseTensor},
    {Message::kNode, 1, Message::kText},  // inputs
    {Message::kNode, 2, Message::kText},
    {Message::kNode, 5, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor},
    {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 9, Message::kText},
    {Message::kAttribute, 10, Message::kTensor},
    {Message::kAttribute, 11, Message::kGraph},
    {Message::kAttribute, 14, Message::kType},
    {Message::kAttribute, 15, Message::kType},
    {Message::kAttribute, 22, Message::kSparseTensor},
    {Message::kAttribute, 23, Message::kSparseTensor},
    {Message::kTensor, 6, Message::kText},
    {Message::kTensor, 13, Message::kFlat},  // external_data
    {Message::kSparseTensor, 1, Message::kTensor},
    {Message::kSparseTensor, 2, Message::kTensor},
    {Message::kValue, 2, Message::kType},
    {Message::kType, 1, Message::kTensorType},
    {Message::kType, 4, Message::kWrappedType},
    {Message::kType, 5, Message::kWrappedType},
    {Message::kType, 8, Message::kTensorType},
    {Message::kType, 9, Message::kWrappedType},
    {Message::kTensorType, 2, Message::kShape},
    {Message::kWrappedType, 1, Message::kType},
    {Message::kWrappedType, 2, Message::kType},
    {Message::kShape, 1, Message::kFlat},  // dim
    {Message::kAnnotation, 2, Message::kFlat},
    {Message::kFunction, 4, Message::kText},  // inputs
    {Message::kFunction, 5, Message::kText},
    {Message::kFunction, 6, Message::kText},
    {Message::kFunction, 7, Message::kNode},
    {Message::kFunction, 9, Message::kFlat},
    {Message::kFunction, 11, Message::kAttribute},
    {Message::kFunction, 12, Message::kValue},
    {Message::kTraining, 1, Message::kGraph},
    {Message::kTraining, 2, Message::kGraph},
    {Message::kTraining, 3, Message::kFlat},
    {Message::kTraining, 4, Message::kFlat},
};

std::optional<Message> message_of(Message in, int number) {
  for (const Field& field : kFields) {
    if (field.in == in && field.number == number) return field.type;
  }
  return std::nullopt;
}

class Counter {
 public:
  Counter(std::string_view bytes, std::int64_t most)
      : stream_(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                static_cast<int>(bytes.size())),
        most_(most) {}

  std::int64_t count() {
    while (parts_ <= most_ && step()) {
    }
    return parts_;
  }

 private:
  struct Open {
    Message message;
    CodedInputStream::Limit outer;  // to go back to at its end
  };

  // One field or the end of a message; false at the end of everything.
  bool step() {
    const std::uint32_t tag = stream_.ReadTag();
    if (tag == 0) return leave();
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      return WireFormatLite::SkipField(&stream_, tag);
    }
    std::uint32_t size = 0;
    if (!stream_.ReadVarint32(&size) || size > INT_MAX) return false;
    const Message in = open_.empty() ? Message::kModel : open_.back().message;
    const auto message = message_of(in, WireFormatLite::GetTagFieldNumber(tag));
    parts_ += message ? 1 : 0;
    if (!message || message == Message::kText) return stream_.Skip(static_cast<int>(size));
    open_.push_back({*message, stream_.PushLimit(static_cast<int>(size))});
    return true;
  }

  bool leave() {
    if (open_.empty() || !stream_.ConsumedEntireMessage()) return false;
    stream_.PopLimit(open_.back().outer);
    open_.pop_back();
    return true;
  }

  CodedInputStream stream_;
  std::int64_t most_;
  std::int64_t parts_ = 0;
  std::vector<Open> open_;
};

}  // namespace

std::int64_t count_parts(std::string_view bytes, std::int64_t most) {
  ETCH_CHECK(bytes.size() <= INT_MAX);
  return Counter(bytes, most).count();
}

}  // namespace etch

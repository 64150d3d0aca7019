// Protobuf parsing of untrusted bytes: bounded depth and size, nothing left over, no output to
// stderr. Internal to import/.
#pragma once

#include <google/protobuf/message_lite.h>

#include <string_view>

namespace etch {

// Parses all of `bytes` (at most INT_MAX) into `message`; false when they are no such message or
// nest deeper than `depth` messages. An empty input is a valid empty message.
[[nodiscard]] bool parse_message(std::string_view bytes, int depth,
                                 google::protobuf::MessageLite& message);

}  // namespace etch

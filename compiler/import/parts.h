// Counts what a serialized model consists of before protobuf makes objects of it: an empty message
// takes two bytes in the file and some hundred in memory. Internal to import/.
#pragma once

#include <cstdint>
#include <string_view>

namespace etch {

// The messages and the strings of lists in `bytes`, a ModelProto, up to one more than `most`. Ends
// early where the bytes are no such message, which protobuf finds as well.
std::int64_t count_parts(std::string_view bytes, std::int64_t most);

}  // namespace etch

// Names and types as the generated code spells them, and the one filter through which any
// sentence has to go before it becomes a comment there.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/dtype.h"

namespace etch {

// True for a --name that can be a C++ namespace, a file stem and a symbol prefix at once:
// [A-Za-z][A-Za-z0-9_]*, at most 40 characters, no "__", no keyword, none of our own namespaces.
bool is_usable_name(std::string_view name);

// True for a --weights-section: [A-Za-z_.][A-Za-z0-9_.]*, at most 64 characters.
bool is_usable_section(std::string_view name);

// The C type of an element: kU8 is uint8_t, kBool too; kF16 and kBF16 are their bits, uint16_t.
std::string_view c_type(DType type);

// "const uint8_t*"
std::string pointer_type(DType element, bool is_const);

// "tiny_net" as the stem of macros: "TINY_NET".
std::string macro_stem(std::string_view name);

// A name of the model where generated code shows it, in a comment or a string: `name` itself if it
// is at most 44 letters, digits, '_', '.', '-', ':' and '/' with a letter first (after one '/' or
// '_') and no "..", "//" or "::"; else nothing.
std::string_view shown_name(std::string_view name);

// True for a name of the model that can be a parameter of run(), in C++ and in C: shown_name(), an
// identifier with a small first letter, no keyword, no "__", none that the platform may have as a
// macro, and none that the body of run() uses.
bool is_usable_parameter(std::string_view name);

// One argument of a command line as a shell takes it, in quotes where it needs them; characters
// that would be an escape in a comment or a string become '.'.
std::string shell_word(std::string_view text);

// `text` as one line that is safe in a // comment: printable ASCII, no backslash (it would join
// lines) and no question mark (trigraphs); everything else becomes '.'.
std::string comment_text(std::string_view text);

// 1234567 as "1,234,567", for comments.
std::string with_thousands(long long value);

}  // namespace etch

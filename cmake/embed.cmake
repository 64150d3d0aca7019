# Writes OUTPUT, a C++ source that carries the text of FILES (paths relative to SOURCE_DIR) and implements
# compiler/base/embedded.h. Run as: cmake -D SOURCE_DIR=... -D "FILES=a;b" -D OUTPUT=... -P embed.cmake
# Texts become raw string literals, cut into pieces below 16 KB because some compilers limit one literal to that.
# Their lengths are part of the literals (sv): counting characters in a constant expression passes clang's limit.
cmake_minimum_required(VERSION 3.25)

set(delimiter "ETCH_EMBED")
set(piece_size 15000)

# Appends to `out` the C++ literal that holds `text`.
function(append_literal out text)
  if(text MATCHES "\\)${delimiter}\"")
    message(FATAL_ERROR "a file to embed contains the raw string delimiter ${delimiter}")
  endif()
  string(LENGTH "${text}" length)
  set(literal "")
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${text}" ${begin} ${piece_size} piece)
    string(APPEND literal "\n     R\"${delimiter}(${piece})${delimiter}\"")
    math(EXPR begin "${begin} + ${piece_size}")
  endwhile()
  if(literal STREQUAL "")
    set(literal "\"\"")
  endif()
  set(${out} "${${out}}${literal}sv" PARENT_SCOPE)
endfunction()

set(source "// Written by cmake/embed.cmake from files of the source tree. Do not edit.\n")
string(APPEND source "#include \"compiler/base/embedded.h\"\n\n#include <array>\n#include <string_view>\n\nnamespace etch {\nnamespace {\n\n")
string(APPEND source "using std::string_view_literals::operator\"\"sv;\n\n")
list(LENGTH FILES count)
string(APPEND source "constexpr std::array<EmbeddedFile, ${count}> kFiles = {{\n")
foreach(path IN LISTS FILES)
  file(READ "${SOURCE_DIR}/${path}" text)
  string(APPEND source "    {\"${path}\"sv,")
  append_literal(source "${text}")
  string(APPEND source "},\n")
endforeach()
string(APPEND source "}};\n\n}  // namespace\n\n")
string(APPEND source "std::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n}  // namespace etch\n")

file(WRITE "${OUTPUT}" "${source}")

// Table (org.etch; made by compiler/passes/fuse_table): y = table[x] for each 8-bit element.
//   inputs     X uint8 or int8; table, a constant [256] of uint8 or int8, whose entry i is for the
//              value with the bits i; Y has its type and X's shape
//   attribute  of: what the table stands for, "Tanh, Mul", for reports
#pragma once

#include <string>

namespace etch {

struct Table {
  std::string of;
};

}  // namespace etch

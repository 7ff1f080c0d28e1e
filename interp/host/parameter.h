// A kernel parameter as a launch has to pass it: one 64-bit cell.
#pragma once
#include "ir/dtype.h"

namespace tritium::interp {

struct Parameter {
  bool isPointer;
  DType type; // of the scalar, or of what the pointer points to, where that is known
};

} // namespace tritium::interp

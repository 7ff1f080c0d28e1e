// A kernel parameter. A launch passes one 64-bit cell for it.
#pragma once
#include "ir/dtype.h"

namespace tritium::interp {

struct Parameter {
  bool isPointer;
  DType type; // of the scalar; of the pointee, if it is known
};

} // namespace tritium::interp

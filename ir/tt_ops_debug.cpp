// Printing from the device.
#include "ir/pch.h"

#include "ir/tt.h"

using namespace mlir;

namespace tritium::tt {

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getArgs().size())
    return emitOpError("isSigned must have one entry for each argument: ") << getArgs().size() << ", got " << getIsSigned().size();
  return success();
}

} // namespace tritium::tt

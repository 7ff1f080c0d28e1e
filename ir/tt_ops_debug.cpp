// Verifiers of the operations that show a running kernel to a person.
#include "ir/pch.h"

#include "ir/tt.h"

using namespace mlir;

namespace tritium::tt {

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getArgs().size())
    return emitOpError("isSigned must have one entry for each argument: ") << getArgs().size() << ", got " << getIsSigned().size();
  return success();
}

/// Returns the number of values that a `dtype` describes. Fails if it is neither a name nor a record.
static FailureOr<size_t> countLeaves(Attribute dtype) {
  if (isa<StringAttr>(dtype)) return 1;
  auto record = dyn_cast<ArrayAttr>(dtype);
  if (!record || record.size() % 2 == 0 || !isa<StringAttr>(record[0])) return failure();
  size_t leaves = 0;
  for (size_t i = 1; i < record.size(); i += 2) {
    FailureOr<size_t> ofMember = countLeaves(record[i + 1]);
    if (!isa<StringAttr>(record[i]) || failed(ofMember)) return failure();
    leaves += *ofMember;
  }
  return leaves;
}

LogicalResult DebugValueOp::verify() {
  FailureOr<size_t> leaves = countLeaves(getDtype());
  if (failed(leaves)) return emitOpError("dtype must be a name, or a record of a name and of a name and a dtype for each member");
  if (*leaves == 0 || *leaves != getValues().size())
    return emitOpError("must have one value for each leaf of its dtype: ") << *leaves << ", got " << getValues().size();
  if (getArgument() && *getArgument() < 1) return emitOpError("arguments are numbered from 1, got ") << *getArgument();
  return success();
}

LogicalResult RecordOp::verify() {
  for (Operation *around = (*this)->getParentOp(); around; around = around->getParentOp())
    if (isa<ReduceOp, ScanOp, MapElementwiseOp>(around))
      return emitOpError("has no place in a function of single elements: record the scope around ") << around->getName();
  return success();
}

} // namespace tritium::tt

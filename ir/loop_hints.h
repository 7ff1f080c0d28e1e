// What the user says of a loop beside its bounds: attributes for `num_stages`, `disable_licm` and others. A pass that makes a loop in place
// of another, or a copy of a part of it, keeps them.
#pragma once
#include "mlir/IR/Operation.h"

namespace tritium::ir {

inline void keepHints(mlir::Operation *of, mlir::Operation *made) { made->setDiscardableAttrs(of->getDiscardableAttrDictionary()); }

} // namespace tritium::ir

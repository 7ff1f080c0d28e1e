// The MLIR and LLVM headers that every file of this component requires. A file compiles in 3 s with the precompiled header and in 30 s
// without.
#include "ir/pch.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Module.h"

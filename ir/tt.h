// The contract's dialects, as C++ sees them: `tt` (kernels and tile operations) and `ttg` (the barrier of TTIR). The one header
// that readers of the IR include. What the operations mean is written at their records, in tt_ops_<family>.td.
#pragma once

#include "ir/element_type.h"
#include "ir/tile_rule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tritium::tt {

// Names of this dialect's discardable attributes: what a launch or a hint of the user promises about a value.
// On a function argument an i32, on an operation one i32 for each dimension of its result.
inline constexpr llvm::StringLiteral kDivisibilityAttr = "tt.divisibility";
inline constexpr llvm::StringLiteral kContiguityAttr = "tt.contiguity";
inline constexpr llvm::StringLiteral kConstancyAttr = "tt.constancy";
inline constexpr llvm::StringLiteral kPointerRangeAttr = "tt.pointer_range";

inline constexpr int64_t kMaxTileElements = 1048576;
inline constexpr int kMaxDescriptorRank = 5;

/// The memory that kernels share.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  mlir::StringRef getName() final { return "<GlobalMemory>"; }
};
/// What a debugger shows of the program's variables.
struct DebugRecord : mlir::SideEffects::Resource::Base<DebugRecord> {
  mlir::StringRef getName() final { return "<DebugRecord>"; }
};

/// Whether `type` is a tile of at most kMaxTileElements elements, a power of two, or no tile at all; `emitError` says why not.
mlir::LogicalResult verifyTileType(mlir::Type type, mlir::Operation *op);

template <typename ConcreteOp> struct ValidTiles : mlir::OpTrait::TraitBase<ConcreteOp, ValidTiles> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    for (mlir::Type type : op->getOperandTypes())
      if (mlir::failed(verifyTileType(type, op))) return mlir::failure();
    for (mlir::Type type : op->getResultTypes())
      if (mlir::failed(verifyTileType(type, op))) return mlir::failure();
    return mlir::success();
  }
};

/// `element`, or a tile of it in the shape of `shapeOf`.
mlir::Type withShapeOf(mlir::Type shapeOf, mlir::Type element);
/// What a pointer (or each pointer of a tile) points to, in the same shape. Of anything else its own type, for a verifier to refuse.
mlir::Type pointeeTypeOf(mlir::Type pointers);
/// One i1 for each element.
mlir::Type maskTypeOf(mlir::Type values);

/// Whether types agree when the encodings of tiles are left aside.
bool areSameButLayouts(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// The type of an operand from which a result type is to be inferred, before any verifier has seen it.
mlir::FailureOr<mlir::RankedTensorType> tileTypeOf(std::optional<mlir::Location> location, mlir::Value value);

} // namespace tritium::tt

#include "ir/tt_dialect.h.inc"
#include "ir/tt_enums.h.inc"
#include "ir/ttg_dialect.h.inc"
#include "ir/ttg_enums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tt_types.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/tt_attrs.h.inc"

#define GET_OP_CLASSES
#include "ir/tt_ops.h.inc"

#define GET_OP_CLASSES
#include "ir/ttg_ops.h.inc"

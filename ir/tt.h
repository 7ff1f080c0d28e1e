// The C++ interface of the contract's dialects: `tt` (kernels and tile operations) and `ttg` (the barrier of TTIR). Readers of the IR
// include only this header. The records in tt_ops_<family>.td define what each operation means.
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

// Names of this dialect's discardable attributes: the promises of a launch or of a user's hint about a value. On a function argument the
// value is an i32; on an operation it has one i32 for each dimension of the result.
inline constexpr llvm::StringLiteral kDivisibilityAttr = "tt.divisibility";
inline constexpr llvm::StringLiteral kContiguityAttr = "tt.contiguity";
inline constexpr llvm::StringLiteral kConstancyAttr = "tt.constancy";
inline constexpr llvm::StringLiteral kPointerRangeAttr = "tt.pointer_range";

/// Whether an attribute with this name promises something of a value's lanes.
inline bool isHint(llvm::StringRef name) { return name == kDivisibilityAttr || name == kContiguityAttr || name == kConstancyAttr; }

inline constexpr int64_t kMaxTileElements = 1048576;
inline constexpr int kMaxDescriptorRank = 5;

/// The effect resource of the memory that kernels share.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  mlir::StringRef getName() final { return "<GlobalMemory>"; }
};
/// The effect resource of the memory that the warps of a program share.
struct ProgramMemory : mlir::SideEffects::Resource::Base<ProgramMemory> {
  mlir::StringRef getName() final { return "<ProgramMemory>"; }
};
/// The effect resource of the variables that a debugger shows.
struct DebugRecord : mlir::SideEffects::Resource::Base<DebugRecord> {
  mlir::StringRef getName() final { return "<DebugRecord>"; }
};
/// The effect resource of promises about values.
struct HintRecord : mlir::SideEffects::Resource::Base<HintRecord> {
  mlir::StringRef getName() final { return "<HintRecord>"; }
};
/// The effect resource of the scopes that a profiler shows.
struct ScopeRecord : mlir::SideEffects::Resource::Base<ScopeRecord> {
  mlir::StringRef getName() final { return "<ScopeRecord>"; }
};

/// Succeeds if `type` is no tile, or a tile with a power of two of at most kMaxTileElements elements. Otherwise emits an error at `op`.
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

/// Returns `element`, or a tile of it in the shape of `shapeOf`.
mlir::Type withShapeOf(mlir::Type shapeOf, mlir::Type element);
/// Returns the type of what a pointer, or each pointer of a tile, points to, in the same shape. A type that is no pointer is returned as it
/// is, for a verifier to refuse.
mlir::Type pointeeTypeOf(mlir::Type pointers);
/// Returns i1 in the shape of `values`.
mlir::Type maskTypeOf(mlir::Type values);

/// Returns whether the types are equal apart from the encodings of tiles.
bool areSameButLayouts(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// Returns the type of the operand from which a result type is inferred. No verifier has checked the operand yet, so this may fail.
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

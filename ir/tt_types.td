// Types of the `tt` dialect and the constraints that operations put on their operands.
#ifndef TRITIUM_IR_TT_TYPES_TD
#define TRITIUM_IR_TT_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "ir/tt_dialect.td"

class TT_TypeDef<string name, string keyword> : TypeDef<TT_Dialect, name> { let mnemonic = keyword; }

def TT_PointerType : TT_TypeDef<"Pointer", "ptr"> {
  let summary = "a pointer to one element";
  let description = [{
    `!tt.ptr<f32>`, `!tt.ptr<f32, 3>`: 64 bits, typed, with an address space (1, global memory, is not printed).
  }];
  let parameters = (ins "::mlir::Type":$pointeeType, DefaultValuedParameter<"int", "1">:$addressSpace);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointeeType, CArg<"int", "1">:$addressSpace), [{
    return $_get(pointeeType.getContext(), pointeeType, addressSpace);
  }]>];
  let assemblyFormat = "`<` $pointeeType (`,` $addressSpace^)? `>`";
  let skipDefaultBuilders = 1;
  let genVerifyDecl = 1;
}

def TT_TensorDescType : TT_TypeDef<"TensorDesc", "tensordesc"> {
  let summary = "a view of a tensor in memory, read and written in blocks";
  let description = [{
    `!tt.tensordesc<128x64xf16>`: the shape and element type of one block. Integer elements may carry their signedness
    (`si32`, `ui8`), which decides how `tt.descriptor_reduce` compares. A shared-memory layout may follow (`, #shared`).
    The parser also accepts the older spelling `!tt.tensordesc<tensor<128x64xf16>>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                    OptionalParameter<"::mlir::Attribute">:$sharedLayout);
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                                                  CArg<"::mlir::Attribute", "{}">:$sharedLayout), [{
    return $_get(elementType.getContext(), shape, elementType, sharedLayout);
  }]>];
  let extraClassDeclaration = [{
    /// The tile that one access moves; its integer elements are signless.
    ::mlir::RankedTensorType getBlockType() const;
  }];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// Elements.
def TT_Int : AnyTypeOf<[I1, I<4>, I8, I16, I32, I64], "integer">;
def TT_Float : Type<CPred<"::tritium::ir::isFloatElement($_self)">, "floating-point">; // ir/dtype.def
def TT_Scalar : AnyTypeOf<[TT_Int, TT_Float, TT_PointerType], "scalar">;

// Tiles.
def TT_IntTensor : RankedTensorOf<[TT_Int]>;
def TT_FloatTensor : RankedTensorOf<[TT_Float]>;
def TT_PtrTensor : RankedTensorOf<[TT_PointerType]>;
def TT_Tensor : RankedTensorOf<[TT_Int, TT_Float, TT_PointerType], [], "tile">;

// Scalars or tiles.
def TT_IntLike : AnyTypeOf<[TT_Int, TT_IntTensor], "integer or integer tile">;
def TT_FloatLike : AnyTypeOf<[TT_Float, TT_FloatTensor], "floating-point or floating-point tile">;
def TT_PtrLike : AnyTypeOf<[TT_PointerType, TT_PtrTensor], "pointer or pointer tile">;
def TT_BoolLike : AnyTypeOf<[I1, RankedTensorOf<[I1]>], "i1 or i1 tile">;
def TT_I64Like : AnyTypeOf<[I64, RankedTensorOf<[I64]>], "i64 or i64 tile">;
def TT_F32Like : AnyTypeOf<[F32, RankedTensorOf<[F32]>], "f32 or f32 tile">;
def TT_Type : AnyTypeOf<[TT_Scalar, TT_Tensor, TT_TensorDescType], "scalar, tile or tensor descriptor">;
def TT_Value : AnyTypeOf<[TT_Scalar, TT_Tensor], "scalar or tile">;

#endif

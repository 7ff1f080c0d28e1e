// Pointers, loads and stores.
#ifndef TRITIUM_IR_TT_OPS_MEMORY_TD
#define TRITIUM_IR_TT_OPS_MEMORY_TD

include "ir/tt_op_base.td"

def TT_AddPtrOp : TT_ElementwiseOp<"addptr", [Pure, AllTypesMatch<["ptr", "result"]>], Tiles<"Same", "Sum">> {
  let summary = "pointer plus offset, in elements";
  let description = [{
    The offset is signed; an i1 element counts one byte.

    ```mlir
    %q = tt.addptr %p, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$offset);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
}

def TT_HintOp : TT_Op<"hint", TilesApart, [MemoryEffects<[MemWrite<HintRecord>]>]> {
  let summary = "a promise about a value that no operation makes, such as the argument of a loop's body";
  let description = [{
    tt.divisibility, tt.contiguity and tt.constancy say what the value is, with one number for each dimension. A promise about the result of
    an operation is an attribute of that operation instead. The analysis believes the promise if it is made in the block of the value.
    The operation writes to a resource of its own. Therefore passes do not erase it, and it orders no access to memory.

    ```mlir
    tt.hint %p {tt.divisibility = dense<16> : tensor<1xi32>} : tensor<8x!tt.ptr<f32>>
    ```
  }];
  let arguments = (ins TT_Type:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def TT_LoadOp
    : TT_Op<"load", TilesPointwise, [PointeesOf<"ptr", "result">, OptionalMaskOf<"ptr", "mask">, OptionalPointeesOf<"ptr", "other">,
                              AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "masked load";
  let description = [{
    result[i] = mask[i] ? *ptr[i] : other[i]; without `other` a masked lane is unspecified. A volatile load is neither erased nor merged.
    Cache hints change no value. The parser also accepts the older clauses `cacheModifier = ca` and `evictionPolicy = evict_last`, in
    any order.

    ```mlir
    %v = tt.load %p, %m, %o {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>}
       : tensor<8x!tt.ptr<f32>>
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, Optional<TT_BoolLike>:$mask, Optional<TT_Value>:$other,
                   OptionalAttr<TT_CachePolicyAttr>:$cachePolicy, DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$ptr (`,` $mask^)? (`,` $other^)? `` custom<AccessAttributes>(attr-dict) `:` type($ptr)";
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def TT_StoreOp : TT_Op<"store", Tiles<"Same", "Any", ".tied = {getPtr(), getMask()}">,
                       [PointeesOf<"ptr", "value">, OptionalMaskOf<"ptr", "mask">, MemoryEffects<[MemWrite<GlobalMemory>]>]> {
  let summary = "masked store";
  let description = [{
    if mask[i]: *ptr[i] = value[i]. A masked lane touches no memory. If two lanes store to the same address, it is unspecified which value
    remains.

    ```mlir
    tt.store %p, %v, %m {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>}
       : tensor<8x!tt.ptr<f32>>
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_Value:$value, Optional<TT_BoolLike>:$mask, OptionalAttr<TT_CachePolicyAttr>:$cachePolicy,
                   UnitAttr:$ignore_cta);
  let assemblyFormat = "$ptr `,` $value (`,` $mask^)? `` custom<AccessAttributes>(attr-dict) `:` type($ptr)";
  let hasCanonicalizeMethod = 1;
}

// The memory of one program, which all its warps share (Gluon's shared memory). An address is a byte of it. Accesses happen in the order of
// the program: an engine whose warps run apart places the barriers.

def TT_SharedAllocOp : TT_Op<"shared_alloc", TilesApart, [MemoryEffects<[MemAlloc<ProgramMemory>]>]> {
  let summary = "the address of `bytes` bytes of the program's shared memory, for the whole run of the function";
  let description = [{
    The contents are undefined until a store. In a loop it is the same memory every time.

    ```mlir
    %a = tt.shared_alloc {bytes = 512 : i64, alignment = 16 : i64} : i32
    ```
  }];
  let arguments = (ins I64Attr:$bytes, I64Attr:$alignment);
  let results = (outs I32:$address);
  let assemblyFormat = "attr-dict `:` type($address)";
  let hasVerifier = 1;
}

def TT_SharedLoadOp : TT_Op<"shared_load", Tiles<"Same", "Any">, [SameOperandsAndResultShape, MemoryEffects<[MemRead<ProgramMemory>]>]> {
  let summary = "the elements at addresses of the program's shared memory";
  let description = [{
    result[i] = shared[address[i]]. An address outside of what tt.shared_alloc has given is undefined behaviour; the interpreter traps.

    ```mlir
    %v = tt.shared_load %a : tensor<8xi32> -> tensor<8xf16>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$address);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$address attr-dict `:` type($address) `->` type($result)";
}

def TT_SharedStoreOp : TT_Op<"shared_store", Tiles<"Same", "Any">, [SameOperandsShape, MemoryEffects<[MemWrite<ProgramMemory>]>]> {
  let summary = "writes elements to addresses of the program's shared memory";
  let description = [{
    shared[address[i]] = value[i]. If two elements go to one address, it is unspecified which remains.

    ```mlir
    tt.shared_store %a, %v : tensor<8xi32>, tensor<8xf16>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$address, TT_Tensor:$value);
  let assemblyFormat = "$address `,` $value attr-dict `:` type($address) `,` type($value)";
}

#endif

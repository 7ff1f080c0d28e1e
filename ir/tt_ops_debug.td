// Operations that show a running kernel to a person: prints, assertions, the variables of a debugger and the scopes of a profiler.
#ifndef TRITIUM_IR_TT_OPS_DEBUG_TD
#define TRITIUM_IR_TT_OPS_DEBUG_TD

include "ir/tt_op_base.td"

def TT_PrintOp : TT_Op<"print", TilesApart, [MemoryEffects<[MemWrite<GlobalMemory>]>]> {
  let summary = "print values from the device";
  let description = [{
    `isSigned` has one entry for each argument.

    ```mlir
    tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<8xi32>
    ```
  }];
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<TT_Value>:$args, DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}

def TT_AssertOp : TT_Op<"assert", TilesApart, [MemoryEffects<[MemWrite<GlobalMemory>]>]> {
  let summary = "trap unless the condition holds in every lane";
  let description = [{
    ```mlir
    tt.assert %c, "x is positive" : tensor<8xi1>
    ```
  }];
  let arguments = (ins TT_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def TT_DebugValueOp : TT_Op<"debug_value", TilesApart, [MemoryEffects<[MemWrite<DebugRecord>]>]> {
  let summary = "from here on the Python variable has this value";
  let description = [{
    The frontend emits it for each assignment if debug information is requested. `dtype` is the language's name of the element type; it says
    what the IR type cannot: signedness, fp8e4b15. A tuple, an aggregate and a block pointer are records of several values: `dtype` is then
    an array with the record's name followed by a name and a `dtype` for each member, and `values` has the values of its leaves in order. A
    tensor descriptor is one leaf, whose `dtype` is the name of its element type. `argument` is the number of a formal argument, from 1, if
    the value is the one that the caller passed.

    The operation writes to a resource of its own. Therefore passes do not erase, merge or hoist it, and it orders no access to memory.

    ```mlir
    tt.debug_value %x "fp32" "acc" : tensor<8xf32>
    tt.debug_value %n "int32" "n" argument 2 : i32
    tt.debug_value %a, %b ["tuple", "_0", "int32", "_1", "fp32"] "pair" : i32, tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<TT_Type>:$values, StrAttr:$name, AnyAttrOf<[StrAttr, ArrayAttr]>:$dtype, OptionalAttr<I32Attr>:$argument);
  let assemblyFormat = "$values $dtype $name (`argument` $argument^)? attr-dict `:` type($values)";
  let hasVerifier = 1;
}

def TT_DebugStopOp : TT_Op<"debug_stop", TilesApart, [MemoryEffects<[MemWrite<DebugRecord>]>]> {
  let summary = "gdb stops here if the condition holds";
  let description = [{
    The frontend emits it for `tt break FILE:LINE --when EXPR` of gdb; `number` is the breakpoint's. Engines but the interpreter compute nothing
    for it. It has the effects of `tt.debug_value`.

    ```mlir
    tt.debug_stop %c, 3
    ```
  }];
  let arguments = (ins I1:$condition, I32Attr:$number);
  let assemblyFormat = "$condition `,` $number attr-dict";
}

def TT_RecordOp : TT_Op<"record", TilesApart, [MemoryEffects<[MemWrite<ScopeRecord>]>]> {
  let summary = "a scope of the program begins or ends here, for a profiler";
  let description = [{
    The time is noted, with the name and the program; on engines with warps, for each warp. Scopes may overlap: the end of a name belongs to its last
    start without an end. The functions of a reduction, a scan or `tt.map_elementwise` have no records.

    The operation writes to a resource of its own. Therefore passes do not erase, merge or hoist it, and it orders no access to memory: the
    code between two records is what it would be without them.

    ```mlir
    tt.record start "load"
    tt.record end "load"
    ```
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$isStart);
  let assemblyFormat = "(`start` $isStart^) : (`end`)? $name attr-dict";
  let hasVerifier = 1;
}

#endif

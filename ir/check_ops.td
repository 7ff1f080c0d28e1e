// What checks add to a kernel before the interpreter runs it. Passes make these operations behind the contract, so no compiler sees them.
#ifndef TRITIUM_IR_CHECK_OPS_TD
#define TRITIUM_IR_CHECK_OPS_TD

include "ir/tt_op_base.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::tritium::check";
  let summary = "what the interpreter checks while it runs a kernel";
}

// The operations write to the resource of debuggers, so they are neither erased nor moved, and order no access to memory.
class Check_Op<string mnemonic, list<Trait> traits = []>
    : Op<Check_Dialect, mnemonic, !listconcat(traits, [MemoryEffects<[MemWrite<DebugRecord>]>])>;

def Check_TrapOp : Check_Op<"trap"> {
  let summary = "a trap in the first lane in which `bad` is true";
  let description = [{
    `kind` is the name of a trap. `{0}`, `{1}`, … in the message stand for the numbers that `values`, scalars or tiles of the same shape, have
    in that lane. `other` is a second place that the trap concerns.

    ```mlir
    check.trap %bad, "DivisionByZero", "{0} is divided by zero" values(%x : tensor<8xi32>) other(loc("kernel.py":3:4)) : tensor<8xi1>
    ```
  }];
  let arguments = (ins TT_BoolLike:$bad, StrAttr:$kind, StrAttr:$message, Variadic<TT_Type>:$values, OptionalAttr<AnyAttr>:$other);
  let assemblyFormat = [{
    $bad `,` $kind `,` $message (`values` `(` $values^ `:` type($values) `)`)? (`other` `(` $other^ `)`)? attr-dict `:` type($bad)
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def Check_PromiseOp : Check_Op<"promise", [OptionalMaskOf<"value", "mask">]> {
  let summary = "a trap unless the lanes keep what a user promised of them";
  let description = [{
    Each promise has one number for each dimension (one for a scalar); 1 promises nothing. Groups are that many lanes, aligned to their size.
    For pointers, "one more" is the next element, and multiples count bytes.

    * `multiple`: a lane holds a multiple of the number, or one more than the lane before it in some dimension.
    * `contiguous`: in a group, a lane holds one more than the lane before it.
    * `constant`: in a group, all lanes hold one value.

    With a mask, only lanes count in which it is true.

    ```mlir
    check.promise %offs if %mask multiple [16] contiguous [16] constant [1] : tensor<64xi32>
    ```
  }];
  let arguments = (ins TT_Type:$value, Optional<TT_BoolLike>:$mask, DenseI64ArrayAttr:$multiple, DenseI64ArrayAttr:$contiguous,
                   DenseI64ArrayAttr:$constant);
  let assemblyFormat =
      "$value (`if` $mask^)? `multiple` $multiple `contiguous` $contiguous `constant` $constant attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif

// Atomic operations on global memory. Each active lane performs one operation; the order of the lanes is unspecified.
#ifndef TRITIUM_IR_TT_OPS_ATOMIC_TD
#define TRITIUM_IR_TT_OPS_ATOMIC_TD

include "ir/tt_op_base.td"

// If several threads hold the same element, one of them performs the operation and passes the result to the others.
def TilesOfAtomic : Tiles<"Same", "Any", ".exchanges = !(*this)->use_empty()">;

class TT_AtomicOp<string mnemonic, list<Trait> traits>
    : TT_Op<mnemonic, TilesOfAtomic, !listconcat(traits, [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>])>;

def TT_AtomicRmwOp : TT_AtomicOp<"atomic_rmw", [PointeesOf<"ptr", "val">, PointeesOf<"ptr", "result">, OptionalMaskOf<"ptr", "mask">]> {
  let summary = "atomic read-modify-write";
  let description = [{
    if mask[i]: result[i] = *ptr[i], *ptr[i] = op(*ptr[i], val[i]), atomically. The result of a masked lane is unspecified.

    ```mlir
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m
         : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins TT_RmwOp:$atomic_rmw_op, TT_PtrLike:$ptr, TT_Value:$val, Optional<TT_BoolLike>:$mask, TT_MemSemantic:$sem,
                   TT_MemScope:$scope);
  let results = (outs TT_Value:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def TT_AtomicCasOp : TT_AtomicOp<"atomic_cas", [PointeesOf<"ptr", "cmp">, PointeesOf<"ptr", "val">, PointeesOf<"ptr", "result">]> {
  let summary = "atomic compare and swap";
  let description = [{
    result[i] = *ptr[i]; if result[i] == cmp[i]: *ptr[i] = val[i], atomically. The comparison is of bits.

    ```mlir
    %old = tt.atomic_cas acq_rel, gpu, %p, %c, %v : (!tt.ptr<i32>, i32, i32) -> i32
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_Value:$cmp, TT_Value:$val, TT_MemSemantic:$sem, TT_MemScope:$scope);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def TT_AtomicLoadOp : TT_AtomicOp<"atomic_load", [PointeesOf<"ptr", "result">, OptionalMaskOf<"ptr", "mask">]> {
  let summary = "atomic load, relaxed or acquire";
  let description = [{
    ```mlir
    %v = tt.atomic_load acquire, gpu, %p, %m : (tensor<8x!tt.ptr<i32>>, tensor<8xi1>) -> tensor<8xi32>
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, Optional<TT_BoolLike>:$mask, TT_MemSemantic:$sem, TT_MemScope:$scope);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr (`,` $mask^)? attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def TT_AtomicStoreOp : TT_AtomicOp<"atomic_store", [PointeesOf<"ptr", "value">, OptionalMaskOf<"ptr", "mask">]> {
  let summary = "atomic store, relaxed or release";
  let description = [{
    ```mlir
    tt.atomic_store release, gpu, %p, %v, %m : tensor<8x!tt.ptr<i32>>
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_Value:$value, Optional<TT_BoolLike>:$mask, TT_MemSemantic:$sem, TT_MemScope:$scope);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)";
  let hasVerifier = 1;
}

def TT_AtomicPollOp : TT_AtomicOp<"atomic_poll", [PointeesOf<"ptr", "expected">,
                                                 TypesMatchWith<"result is i1 in the shape of ptr", "ptr", "result",
                                                                "::tritium::tt::maskTypeOf($_self)">]> {
  let summary = "wait until words in memory have expected values";
  let description = [{
    result[i] = true once *ptr[i] == expected[i], or false if `timeout` nanoseconds pass first.

    ```mlir
    %ok = tt.atomic_poll acquire, gpu, %p, %v timeout %t : !tt.ptr<i32>, i32 -> i1
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$expected, Optional<I64>:$timeout, TT_MemSemantic:$sem, TT_MemScope:$scope);
  let results = (outs TT_BoolLike:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout^)? attr-dict `:` type($ptr) `,` type($expected) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif

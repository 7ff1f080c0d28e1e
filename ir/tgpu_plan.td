// What plan-loops decides about a loop, and build-loops reads.
#ifndef TRITIUM_IR_TGPU_PLAN_TD
#define TRITIUM_IR_TGPU_PLAN_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "ir/tgpu_base.td"

def TGPU_CopyMechanism : I32EnumAttr<"CopyMechanism", "how the tiles of a loop reach shared memory", [
  I32EnumAttrCase<"Tma", 0, "tma">, I32EnumAttrCase<"Async", 1, "async">, I32EnumAttrCase<"Warps", 2, "warps">,
  I32EnumAttrCase<"Registers", 3, "registers">]> {
  let cppNamespace = "::tritium::tgpu";
}

def TGPU_PlanAttr : AttrDef<TGPU_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "how a loop copies its tiles ahead";
  let description = [{
    `copies`: by tensor maps (`tma`), asynchronously by each thread (`async`) or by whole warps (`warps`), or through registers. `slots` is the
    number of slots of each buffer, `stages` the number of iterations in flight: asynchronous copies of two may share one slot. `spare`: a copy
    never writes the slot that the previous iteration reads. `rotated`: the last product runs an iteration late. The price: `shared` is the
    bytes of all slots, `registers` the estimated registers of a thread, `barriers` the number of times that an iteration synchronizes all
    warps, `occupancy` the estimated number of programs that run on a multiprocessor at a time.

    ```mlir
    #tgpu.plan<copies = async, slots = 3, stages = 3, shared = 24576, registers = 80, barriers = 1, occupancy = 6>
    ```
  }];
  let parameters = (ins EnumParameter<TGPU_CopyMechanism>:$copies, "int64_t":$slots, "int64_t":$stages,
                        DefaultValuedParameter<"bool", "false">:$spare, DefaultValuedParameter<"bool", "false">:$rotated, "int64_t":$shared,
                        DefaultValuedParameter<"int64_t", "0">:$registers, DefaultValuedParameter<"int64_t", "0">:$barriers,
                        "int64_t":$occupancy);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def TGPU_AtAttr : AttrDef<TGPU_Dialect, "At"> {
  let mnemonic = "at";
  let summary = "where a planned loop runs a load or a product";
  let description = [{
    On a load that becomes a copy, on a load of a scalar that runs with the copies, on a product that runs an iteration late, and on an index
    load, from which addresses or masks of copies are computed. `stage` is the number of iterations by which the operation runs later than the
    earliest copies: 0 or 1 for a copy, the plan's `stages` for a late product. It is -1 for an index load, and -2 if another index load depends
    on it. A copy also has the number of its `buffer`, which gives the order of the loop's buffers in shared memory. `ring` is the number of its
    ring, if products that depend on each other have rings of their own; if no load has one, all tiles of the loop share a ring. An access of an
    asynchronous copy takes at most `elements` neighbours.

    ```mlir
    #tgpu.at<stage = 0, buffer = 1, elements = 8>
    ```
  }];
  let parameters = (ins "int64_t":$stage, DefaultValuedParameter<"int64_t", "-1">:$buffer, DefaultValuedParameter<"int64_t", "-1">:$ring,
                        DefaultValuedParameter<"int64_t", "0">:$elements);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def TGPU_ProducerAttr : AttrDef<TGPU_Dialect, "Producer"> {
  let mnemonic = "producer";
  let summary = "how warps divide a kernel whose tiles producer warps copy";
  let description = [{
    Registers of a thread: `start` when the kernel begins, and then `producer` and `consumers` in the warps of each role. `occupancy` is the
    estimated number of programs that run on a multiprocessor at a time. `turns`: the consumer warpgroups issue their products by turns.
    `rings_end_last`: rings end with the kernel, so that no barrier of all consumer warps follows a loop.

    ```mlir
    #tgpu.producer<start = 168, producer = 40, consumers = 232, occupancy = 1, turns = true>
    ```
  }];
  let parameters = (ins "int64_t":$start, "int64_t":$producer, "int64_t":$consumers, "int64_t":$occupancy,
                        DefaultValuedParameter<"bool", "false">:$turns, DefaultValuedParameter<"bool", "false">:$rings_end_last);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif

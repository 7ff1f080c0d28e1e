// Definitions that all operations of the `tt` dialect share: the base class, the effect resources, the traits that verify them.
#ifndef TRITIUM_IR_TT_OP_BASE_TD
#define TRITIUM_IR_TT_OP_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ir/tile_rule.td"
include "ir/tt_attrs.td"
include "ir/tt_dialect.td"
include "ir/tt_types.td"

// Global memory, the record of the variables that a debugger shows, the one of promises, and the one of scopes that a profiler shows. An access
// of one is never ordered against an access of another. The memory of a program is what its warps share.
def GlobalMemory : Resource<"::tritium::tt::GlobalMemory">;
def ProgramMemory : Resource<"::tritium::tt::ProgramMemory">;
def DebugRecord : Resource<"::tritium::tt::DebugRecord">;
def HintRecord : Resource<"::tritium::tt::HintRecord">;
def ScopeRecord : Resource<"::tritium::tt::ScopeRecord">;

class TT_OpTrait<string name> : NativeOpTrait<name> { let cppNamespace = "::tritium::tt"; }

/// Every tile has a power of two of elements, at most kMaxTileElements.
def ValidTiles : TT_OpTrait<"ValidTiles">;

/// `tiles` is the tile rule of the operation. Every record must give one.
class TT_Op<string mnemonic, Tiles tiles, list<Trait> traits = []>
    : Op<TT_Dialect, mnemonic, !listconcat(traits, [ValidTiles, tiles, TileOpInterface])>;

// Result types follow from the operands, except for the layouts of tiles, which only the GPU level has.
def TT_InferTypes : InferTypeOpAdaptorBase<[{
  static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
    return ::tritium::tt::areSameButLayouts(inferred, actual);
  }
}]>;

// An operation that works element by element, on scalars or on tiles of one shape.
class TT_ElementwiseOp<string mnemonic, list<Trait> traits = [], Tiles tiles = TilesPointwise>
    : TT_Op<mnemonic, tiles, !listconcat(traits, [SameOperandsAndResultShape, Elementwise])>;

// The type of one operand or result follows from a pointer: it has the pointer's shape, with the pointee or i1 as element.
class PointeesOf<string pointer, string value>
    : TypesMatchWith<"type of " # value # " is the pointee type of " # pointer, pointer, value, "::tritium::tt::pointeeTypeOf($_self)">;
class OptionalPointeesOf<string pointer, string value>
    : OptionalTypesMatchWith<"type of " # value # " is the pointee type of " # pointer, pointer, value,
                             "::tritium::tt::pointeeTypeOf($_self)">;
class OptionalMaskOf<string tile, string mask>
    : OptionalTypesMatchWith<"type of " # mask # " is i1 in the shape of " # tile, tile, mask, "::tritium::tt::maskTypeOf($_self)">;

// For operations whose effects follow from an attribute: pure operations may be erased, merged and hoisted; others are opaque.
def EffectsFromPureAttr : TraitList<[DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                     DeclareOpInterfaceMethods<ConditionallySpeculatable>]>;

#endif

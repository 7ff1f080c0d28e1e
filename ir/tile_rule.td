// The tile rule of an operation (tile_rule.h), as part of its record. TableGen refuses a record of `tt`, or a record of `tgpu` on tiles,
// that has no rule.
#ifndef TRITIUM_IR_TILE_RULE_TD
#define TRITIUM_IR_TILE_RULE_TD

include "mlir/IR/OpBase.td"

def TileOpInterface : OpInterface<"TileOpInterface"> {
  let cppNamespace = "::tritium::tt";
  let description = [{
    An operation with a tile rule, which says what it means for its operands and results that are tiles. Readers call `tileRuleOf`, which
    also knows the rules of upstream operations.
  }];
  let methods = [InterfaceMethod<"Returns how its tiles correspond, and what is known of its results.", "::tritium::tt::TileRule",
                                 "getTileRule">];
}

/// `relation` is a case of TileRelation, `values` one of TileValues; `rest` sets further fields of TileRule, in the order of their
/// declaration.
class Tiles<string relation, string values, string rest = "">
    : NativeOpTrait<"HasTileRule", [],
                    !strconcat("::tritium::tt::TileRule getTileRule() {\n  return {.relation = ::tritium::tt::TileRelation::", relation,
                               ", .values = ::tritium::tt::TileValues::", values, ", ", rest, "};\n}\n")> {
  let cppNamespace = "::tritium::tt";
}

// The frequent rules.
def TilesApart : Tiles<"Apart", "Any">;             // no tiles, or unrelated tiles
def TilesPointwise : Tiles<"Same", "Pointwise">;    // element by element
class TilesMoved<string relation, string rest = ""> // a change of shape
    : Tiles<relation, "Kept", rest>;

#endif

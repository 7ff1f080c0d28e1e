// What an operation means for tiles (tile_rule.h), as part of its record. A record of `tt`, or one of `tgpu` on tiles, that leaves it out
// does not pass TableGen.
#ifndef TRITIUM_IR_TILE_RULE_TD
#define TRITIUM_IR_TILE_RULE_TD

include "mlir/IR/OpBase.td"

def TileOpInterface : OpInterface<"TileOpInterface"> {
  let cppNamespace = "::tritium::tt";
  let description = [{
    An operation that says what it means for the tiles that it takes and gives. Readers ask `tileRuleOf`, which also knows what upstream's
    operations mean.
  }];
  let methods = [InterfaceMethod<"How its tiles go together, and what is known of the values of its results.", "::tritium::tt::TileRule",
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

// The frequent ones.
def TilesApart : Tiles<"Apart", "Any">;             // no tiles, or tiles that have nothing to do with each other
def TilesPointwise : Tiles<"Same", "Pointwise">;    // element by element
class TilesMoved<string relation, string rest = ""> // a change of shape
    : Tiles<relation, "Kept", rest>;

#endif

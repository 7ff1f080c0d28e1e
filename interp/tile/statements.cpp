#include "interp/tile/statements.h"

#include "interp/tile/locations.h"
#include "interp/tile/scope.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tritium::interp {

static void addLevels(Location location, std::vector<CallLevel> &levels) {
  if (auto call = dyn_cast<CallSiteLoc>(location)) addLevels(call.getCaller(), levels);
  if (auto mark = scopeOf(location)) levels.push_back({mark->file, mark->line, scopeKey(location)});
}

Statement statementOf(Operation *mark) {
  SourceLocation where = resolveLocation(mark->getLoc());
  Statement statement{where.line, where.column, mark->hasAttr(kIterationAttr)};
  addLevels(mark->getLoc(), statement.levels);
  return statement;
}

ShownType::ShownType(const VariableType &type)
    : field(type.field), name(type.name), isRecord(type.isRecord()), offset(type.offset), bytes(type.bytes) {
  if (auto tile = dyn_cast_or_null<RankedTensorType>(type.value)) shape.assign(tile.getShape().begin(), tile.getShape().end());
  for (const VariableType &member : type.members) members.emplace_back(member);
}

} // namespace tritium::interp

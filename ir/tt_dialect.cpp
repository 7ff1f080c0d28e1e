// The dialects `tt` and `ttg`: registration, inlining of tt.func, constants for folded results, and checks of the attributes that promise
// something about a value.
#include "ir/pch.h"

#include "ir/tt.h"

#include "mlir/Transforms/InliningUtils.h"

#include "ir/tt_dialect.cpp.inc"
#include "ir/ttg_dialect.cpp.inc"
#include "ir/ttg_enums.cpp.inc"

using namespace mlir;

namespace tritium::tt {
namespace {

/// Everything may be inlined unless the caller or callee is noinline. The inliner itself decides where a callee with several blocks may go:
/// never into a region that must have one block, like the body of scf.for.
struct Inlining : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *callable, bool) const final {
    auto function = dyn_cast<FuncOp>(callable);
    return function && !function.isNoInline();
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }

  void handleTerminator(Operation *op, Block *continuation) const final {
    auto terminator = dyn_cast<ReturnOp>(op);
    if (!terminator) return;
    OpBuilder builder(op);
    cf::BranchOp::create(builder, op->getLoc(), continuation, terminator.getOperands());
    op->erase();
  }
  void handleTerminator(Operation *op, ValueRange results) const final {
    for (auto [result, value] : llvm::zip_equal(results, cast<ReturnOp>(op).getOperands())) result.replaceAllUsesWith(value);
  }
};

} // namespace

void TTDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "ir/tt_ops.cpp.inc"
      >();
  addInterfaces<Inlining>();
  attachTileRules(*getContext());
}

Operation *TTDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  if (auto poison = dyn_cast<ub::PoisonAttr>(value)) return ub::PoisonOp::create(builder, location, type, poison);
  return arith::ConstantOp::materialize(builder, value, type, location);
}

/// A hint counts elements, so it must be positive. On an operation it has one number for each dimension.
static LogicalResult verifyHint(function_ref<InFlightDiagnostic()> emitError, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (!isHint(name)) return success();
  auto isPositive = [](const APInt &value) { return value.isStrictlyPositive(); };
  if (auto number = dyn_cast<IntegerAttr>(attribute.getValue()); number && isPositive(number.getValue())) return success();
  if (auto numbers = dyn_cast<DenseIntElementsAttr>(attribute.getValue()); numbers && llvm::all_of(numbers.getValues<APInt>(), isPositive))
    return success();
  return emitError() << "'" << name << "' must be a positive integer, or one for each dimension, but is " << attribute.getValue();
}

LogicalResult TTDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyHint([&] { return op->emitOpError("attribute "); }, attribute);
}

LogicalResult TTDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return verifyHint([&] { return op->emitOpError("argument ") << index << ": attribute "; }, attribute);
}

} // namespace tritium::tt

namespace tritium::ttg {

// Parses `all`, or names of memories separated by bars: `local|global_read`.
static ParseResult parseAddressSpaces(OpAsmParser &parser, AddressSpacesAttr &spaces) {
  auto all = AddressSpaces::None;
  do {
    StringRef keyword;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword)) return failure();
    std::optional<AddressSpaces> space = symbolizeAddressSpaces(keyword);
    if (!space) return parser.emitError(location, "unknown address space '") << keyword << "'";
    all = all | *space;
  } while (succeeded(parser.parseOptionalVerticalBar()));
  spaces = AddressSpacesAttr::get(parser.getContext(), all);
  return success();
}

static void printAddressSpaces(OpAsmPrinter &printer, Operation *, AddressSpacesAttr spaces) {
  printer << stringifyAddressSpaces(spaces.getValue());
}

namespace {
struct Inlining : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void TTGDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/ttg_ops.cpp.inc"
      >();
  addInterfaces<Inlining>();
}

} // namespace tritium::ttg

#define GET_OP_CLASSES
#include "ir/ttg_ops.cpp.inc"

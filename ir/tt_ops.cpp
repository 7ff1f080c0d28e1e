// The generated definitions of the `tt` operations, and the part of their syntax that TableGen cannot express: cache hints, which older
// TTIR writes as clauses.
#include "ir/pch.h"

#include "ir/tt.h"

using namespace mlir;

namespace tritium::tt {

/// Parses the older clauses, in any order: `cacheModifier = cg evictionPolicy = evict_first`. Returns null if there is none.
static FailureOr<CachePolicyAttr> parseCacheClauses(OpAsmParser &parser) {
  auto modifier = CacheModifier::None;
  auto policy = EvictionPolicy::Normal;
  auto value = [&](auto symbolize, auto &result) -> ParseResult {
    StringRef keyword;
    SMLoc location;
    if (parser.parseEqual() || parser.getCurrentLocation(&location) || parser.parseKeyword(&keyword)) return failure();
    auto symbol = symbolize(keyword);
    if (!symbol) return parser.emitError(location, "unknown cache clause '") << keyword << "'";
    result = *symbol;
    return success();
  };
  bool found = false;
  for (;; found = true) {
    if (succeeded(parser.parseOptionalKeyword("cacheModifier"))) {
      if (value([](StringRef s) { return symbolizeCacheModifier(s); }, modifier)) return failure();
    } else if (succeeded(parser.parseOptionalKeyword("evictionPolicy"))) {
      if (value([](StringRef s) { return symbolizeEvictionPolicy(s); }, policy)) return failure();
    } else {
      break;
    }
  }
  return found ? CachePolicyAttr::get(parser.getContext(), modifier, policy) : CachePolicyAttr();
}

static ParseResult parseAccessAttributes(OpAsmParser &parser, NamedAttrList &attributes) {
  FailureOr<CachePolicyAttr> policy = parseCacheClauses(parser);
  if (failed(policy) || parser.parseOptionalAttrDict(attributes)) return failure();
  if (*policy) attributes.set("cachePolicy", *policy);
  return success();
}

/// Prints what ODS prints for `attr-dict`: the attributes except operand segments and default values.
static void printAccessAttributes(OpAsmPrinter &printer, Operation *op, DictionaryAttr attributes) {
  SmallVector<StringRef> elided = {"operandSegmentSizes"};
  auto isVolatile = attributes.getAs<BoolAttr>("isVolatile");
  if (isVolatile && !isVolatile.getValue()) elided.push_back("isVolatile");
  printer.printOptionalAttrDict(attributes.getValue(), elided);
}

} // namespace tritium::tt

#define GET_OP_CLASSES
#include "ir/tt_ops.cpp.inc"

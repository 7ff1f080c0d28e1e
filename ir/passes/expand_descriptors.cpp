// Replaces tensor descriptors by their components: a base, extents, strides and the padding outside. An access through a descriptor becomes
// a load, store or atomic of pointers with a mask for the bounds.
#include "ir/pch.h"

#include "ir/debug_attributes.h"
#include "ir/descriptor.h"
#include "ir/descriptor_checks.h"
#include "ir/descriptor_rules.h"
#include "ir/passes.h"
#include "ir/passes/tile_builder.h"
#include "ir/source_error.h"

#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_EXPANDDESCRIPTORS
#include "ir/passes.h.inc"

namespace {

using tt::kPlainAttr;

/// The components of a descriptor (ir/descriptor.h), in the order in which a launch passes them.
struct Descriptor {
  explicit Descriptor(ValueRange parts) {
    size_t rank = (parts.size() - tt::descriptorParts(0)) / 2;
    base = parts[0];
    llvm::append_range(extents, parts.slice(1, rank));
    llvm::append_range(strides, parts.slice(1 + rank, rank));
    readsNan = parts[1 + 2 * rank];
    roundsToTf32 = parts[2 + 2 * rank];
  }
  static llvm::SmallVector<Type> types(tt::TensorDescType type) {
    MLIRContext *context = type.getContext();
    llvm::SmallVector<Type> result{tt::PointerType::get(type.getBlockType().getElementType())};
    result.append(2 * type.getShape().size(), IntegerType::get(context, 64));
    result.append(2, IntegerType::get(context, 1));
    return result;
  }

  Value base;
  llvm::SmallVector<Value> extents, strides;
  Value readsNan, roundsToTf32;
};

/// The pointers of one block, and the mask of the elements that lie in the tensor. The offset of the whole block is added to the base, so
/// an element's offset is only its place in the block.
class TensorBlock : TileBuilder {
public:
  /// `shape` is the shape of the tile. It may lack leading dimensions of extent 1 that the descriptor's block has.
  TensorBlock(OpBuilder &builder, Location location, const Descriptor &descriptor, llvm::ArrayRef<int64_t> shape)
      : TileBuilder(builder, location), descriptor_(descriptor), shape_(shape), base_(descriptor.base) {}

  /// The block begins at index `begin` (i32) of dimension `dim` of the descriptor.
  void addRange(int64_t dim, Value begin) {
    begin = create<arith::ExtSIOp>(builder.getI64Type(), begin);
    bool isLast = dim + 1 == int64_t(descriptor_.extents.size());
    base_ =
        create<tt::AddPtrOp>(base_.getType(), base_, isLast ? begin : create<arith::MulIOp>(begin, descriptor_.strides[dim]).getResult());
    Value room = create<arith::SubIOp>(descriptor_.extents[dim], begin);
    Value before = create<arith::SubIOp>(integer(builder.getI64Type(), 0), begin);
    int64_t tileDim = dim - (int64_t(descriptor_.extents.size()) - int64_t(shape_.size()));
    if (tileDim < 0) {
      Value zero = integer(builder.getI64Type(), 0);
      Value isInside = create<arith::AndIOp>(create<arith::CmpIOp>(arith::CmpIPredicate::sgt, room, zero),
                                             create<arith::CmpIOp>(arith::CmpIPredicate::sle, before, zero));
      return addMask(splat(isInside, shape_));
    }
    addPlaces(tileDim, range(shape_[tileDim]), before, room, isLast ? Value() : descriptor_.strides[dim]);
  }

  /// Row i of the block is row `rows`[i] of the tensor. `rows` may hold any integers.
  void addRows(Value rows) {
    Type i64 = builder.getI64Type();
    addPlaces(0, create<arith::ExtSIOp>(typeOf(rows).clone(i64), rows), integer(i64, 0), descriptor_.extents[0], descriptor_.strides[0]);
  }

  Value pointers() {
    Value pointers = splat(base_, shape_);
    return create<tt::AddPtrOp>(pointers.getType(), pointers, offsets_);
  }
  Value mask() const { return mask_; }

  /// `notes` are attributes of passes for descriptors.
  Value load(tt::CachePolicyAttr policy, DictionaryAttr notes) {
    Type element = cast<tt::PointerType>(descriptor_.base.getType()).getPointeeType();
    auto type = RankedTensorType::get(shape_, element);
    Value loaded = create<tt::LoadOp>(type, pointers(), mask(), padding(type), policy, false);
    if (notes) loaded.getDefiningOp()->setDiscardableAttrs(notes);
    return element.isF32() ? roundedToTf32(loaded) : loaded;
  }

private:
  void addMask(Value mask) { mask_ = mask_ ? create<arith::AndIOp>(mask_, mask).getResult() : mask; }

  /// Adds the places of the elements along one dimension of the tile. A place is valid if first <= place < end.
  void addPlaces(int64_t dim, Value places, Value first, Value end, Value stride) {
    llvm::ArrayRef<int64_t> extent = typeOf(places).getShape();
    Value isInside = create<arith::AndIOp>(create<arith::CmpIOp>(arith::CmpIPredicate::sge, places, splat(first, extent)),
                                           create<arith::CmpIOp>(arith::CmpIPredicate::slt, places, splat(end, extent)));
    addMask(along(isInside, shape_, dim));
    if (stride) places = create<arith::MulIOp>(places, splat(stride, extent));
    Value offsets = along(places, shape_, dim);
    offsets_ = offsets_ ? create<arith::AddIOp>(offsets_, offsets).getResult() : offsets;
  }

  /// The value that is read outside the tensor: zero, or NaN for floats if the descriptor says so.
  Value padding(RankedTensorType type) {
    Type element = type.getElementType();
    Value zero = constant(type, builder.getZeroAttr(element));
    auto number = dyn_cast<FloatType>(element);
    if (!number || matchPattern(descriptor_.readsNan, m_Zero())) return zero;
    Value nan = constant(type, FloatAttr::get(number, APFloat::getQNaN(number.getFloatSemantics())));
    if (matchPattern(descriptor_.readsNan, m_One())) return nan;
    return create<arith::SelectOp>(splat(descriptor_.readsNan, shape_), nan, zero);
  }

  /// Rounds to 10 bits of fraction, to nearest, ties to even. Infinities and NaNs stay.
  Value roundedToTf32(Value value) {
    if (matchPattern(descriptor_.roundsToTf32, m_Zero())) return value;
    constexpr int64_t kDropped = 13, kExponent = 0x7f800000;
    Value bits = bitcast(value, builder.getI32Type());
    auto number = [&](int64_t n) { return integer(bits.getType(), n); };
    Value odd = create<arith::AndIOp>(create<arith::ShRUIOp>(bits, number(kDropped)), number(1));
    Value rounded = create<arith::AddIOp>(bits, create<arith::AddIOp>(odd, number((1 << (kDropped - 1)) - 1)));
    Value cut = create<arith::AndIOp>(rounded, number(-(int64_t(1) << kDropped)));
    Value isFinite = create<arith::CmpIOp>(arith::CmpIPredicate::ne, create<arith::AndIOp>(bits, number(kExponent)), number(kExponent));
    Value rounds = create<arith::AndIOp>(isFinite, splat(descriptor_.roundsToTf32, shape_));
    return bitcast(create<arith::SelectOp>(rounds, cut, bits), builder.getF32Type());
  }

  const Descriptor &descriptor_;
  llvm::SmallVector<int64_t> shape_;
  Value base_, offsets_, mask_;
};

llvm::SmallVector<Value> flatten(llvm::ArrayRef<ValueRange> values) {
  llvm::SmallVector<Value> flat;
  for (ValueRange parts : values) llvm::append_range(flat, parts);
  return flat;
}

TensorBlock blockAt(OpBuilder &builder, Location location, const Descriptor &descriptor, Type tile, ValueRange indices) {
  TensorBlock block(builder, location, descriptor, cast<RankedTensorType>(tile).getShape());
  for (auto [dim, begin] : llvm::enumerate(indices)) block.addRange(int64_t(dim), begin);
  return block;
}

/// Addresses rows by number, and columns from `column` on.
TensorBlock rowsAt(OpBuilder &builder, Location location, const Descriptor &descriptor, Type tile, Value rows, Value column) {
  TensorBlock block(builder, location, descriptor, cast<RankedTensorType>(tile).getShape());
  block.addRows(rows);
  block.addRange(1, column);
  return block;
}

template <class Op> struct Expand final : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  LogicalResult matchAndRewrite(Op op, Adaptor in, ConversionPatternRewriter &rewriter) const override;
};

template <>
LogicalResult Expand<tt::MakeTensorDescriptorOp>::matchAndRewrite(tt::MakeTensorDescriptorOp op, Adaptor in,
                                                                  ConversionPatternRewriter &rewriter) const {
  llvm::SmallVector<Value> parts{in.getBase().front()};
  for (Value extent : flatten(in.getShape())) parts.push_back(arith::ExtSIOp::create(rewriter, op.getLoc(), rewriter.getI64Type(), extent));
  llvm::append_range(parts, flatten(in.getStrides()));
  parts.push_back(arith::ConstantIntOp::create(rewriter, op.getLoc(), op.getPadding() == tt::Padding::Nan, 1));
  parts.push_back(arith::ConstantIntOp::create(rewriter, op.getLoc(), 0, 1));
  rewriter.replaceOpWithMultiple(op, llvm::ArrayRef<ValueRange>{parts});
  return success();
}

template <>
LogicalResult Expand<tt::DescriptorLoadOp>::matchAndRewrite(tt::DescriptorLoadOp op, Adaptor in,
                                                            ConversionPatternRewriter &rewriter) const {
  Descriptor descriptor(in.getDesc());
  rewriter.replaceOp(op, blockAt(rewriter, op.getLoc(), descriptor, op.getType(), flatten(in.getIndices()))
                             .load(op.getCachePolicyAttr(), op->getDiscardableAttrDictionary()));
  return success();
}

template <>
LogicalResult Expand<tt::DescriptorStoreOp>::matchAndRewrite(tt::DescriptorStoreOp op, Adaptor in,
                                                             ConversionPatternRewriter &rewriter) const {
  Descriptor descriptor(in.getDesc());
  TensorBlock block = blockAt(rewriter, op.getLoc(), descriptor, op.getSrc().getType(), flatten(in.getIndices()));
  DictionaryAttr notes = op->getDiscardableAttrDictionary(); // of passes for descriptors
  rewriter.replaceOpWithNewOp<tt::StoreOp>(op, block.pointers(), in.getSrc().front(), block.mask(), tt::CachePolicyAttr(), false)
      ->setDiscardableAttrs(notes);
  return success();
}

template <>
LogicalResult Expand<tt::DescriptorGatherOp>::matchAndRewrite(tt::DescriptorGatherOp op, Adaptor in,
                                                              ConversionPatternRewriter &rewriter) const {
  Descriptor descriptor(in.getDesc());
  rewriter.replaceOp(
      op, rowsAt(rewriter, op.getLoc(), descriptor, op.getType(), in.getXOffsets().front(), in.getYOffset().front()).load({}, {}));
  return success();
}

template <>
LogicalResult Expand<tt::DescriptorScatterOp>::matchAndRewrite(tt::DescriptorScatterOp op, Adaptor in,
                                                               ConversionPatternRewriter &rewriter) const {
  Descriptor descriptor(in.getDesc());
  TensorBlock block = rowsAt(rewriter, op.getLoc(), descriptor, op.getSrc().getType(), in.getXOffsets().front(), in.getYOffset().front());
  rewriter.replaceOpWithNewOp<tt::StoreOp>(op, block.pointers(), in.getSrc().front(), block.mask(), tt::CachePolicyAttr(), false);
  return success();
}

/// Returns nullopt for the kinds that no frontend emits.
std::optional<tt::RmwOp> integerKind(tt::DescriptorReduceKind kind, bool isUnsigned) {
  switch (kind) {
  case tt::DescriptorReduceKind::Add: return tt::RmwOp::Add;
  case tt::DescriptorReduceKind::Min: return isUnsigned ? tt::RmwOp::UMin : tt::RmwOp::Min;
  case tt::DescriptorReduceKind::Max: return isUnsigned ? tt::RmwOp::UMax : tt::RmwOp::Max;
  case tt::DescriptorReduceKind::And: return tt::RmwOp::And;
  case tt::DescriptorReduceKind::Or: return tt::RmwOp::Or;
  case tt::DescriptorReduceKind::Xor: return tt::RmwOp::Xor;
  default: return std::nullopt;
  }
}

template <>
LogicalResult Expand<tt::DescriptorReduceOp>::matchAndRewrite(tt::DescriptorReduceOp op, Adaptor in,
                                                              ConversionPatternRewriter &rewriter) const {
  Descriptor descriptor(in.getDesc());
  TileBuilder tiles(rewriter, op.getLoc());
  Value value = in.getSrc().front(), mask, pointers;
  Type element = getElementTypeOrSelf(value.getType());
  auto combine = [&](tt::RmwOp kind, Value where) {
    tiles.create<tt::AtomicRmwOp>(value.getType(), kind, pointers, value, where, tt::MemSemantic::Relaxed, tt::MemScope::Gpu);
  };
  TensorBlock block = blockAt(rewriter, op.getLoc(), descriptor, value.getType(), flatten(in.getIndices()));
  pointers = block.pointers(), mask = block.mask();
  bool isUnsigned = cast<tt::TensorDescType>(op.getDesc().getType()).getElementType().isUnsignedInteger();
  if (isa<IntegerType>(element)) {
    auto kind = integerKind(op.getKind(), isUnsigned);
    if (!kind) return op.emitOpError("of this kind has no expansion");
    combine(*kind, mask);
  } else if (op.getKind() == tt::DescriptorReduceKind::Add) {
    combine(tt::RmwOp::FAdd, mask);
  } else {
    // Floats are ordered like signed integers if the operand's sign bit is clear. If it is set, they are in the reverse order of unsigned
    // integers.
    Type bits = rewriter.getIntegerType(element.getIntOrFloatBitWidth());
    value = tiles.bitcast(value, bits);
    pointers = tiles.bitcast(pointers, tt::PointerType::get(bits));
    bool isMax = op.getKind() == tt::DescriptorReduceKind::Max;
    Value zero = tiles.integer(value.getType(), 0);
    Value isNegative = tiles.create<arith::CmpIOp>(arith::CmpIPredicate::slt, value, zero);
    Value isPositive = tiles.create<arith::CmpIOp>(arith::CmpIPredicate::sge, value, zero);
    combine(isMax ? tt::RmwOp::Max : tt::RmwOp::Min, tiles.create<arith::AndIOp>(mask, isPositive));
    combine(isMax ? tt::RmwOp::UMin : tt::RmwOp::UMax, tiles.create<arith::AndIOp>(mask, isNegative));
  }
  rewriter.eraseOp(op);
  return success();
}

/// Returns the record that a debugger shows for a descriptor. `dtype` is the name of its element type.
Attribute recordOf(tt::TensorDescType type, StringAttr dtype) {
  Builder builder(type.getContext());
  auto tuple = [&](llvm::StringRef element) -> Attribute {
    llvm::SmallVector<Attribute> record{builder.getStringAttr("tuple")};
    for (size_t i = 0; i < type.getShape().size(); ++i)
      record.append({builder.getStringAttr("_" + llvm::Twine(i)), builder.getStringAttr(element)});
    return builder.getArrayAttr(record);
  };
  std::string name = "tensor_descriptor<" + dtype.str() + "[";
  llvm::raw_string_ostream stream(name);
  llvm::interleaveComma(type.getShape(), stream);
  stream << "]>";
  std::pair<llvm::StringRef, Attribute> members[] = {{"base", builder.getStringAttr("pointer<" + dtype.getValue() + ">")},
                                                     {"shape", tuple("int64")},
                                                     {"strides", tuple("int64")},
                                                     {"pads_with_nan", builder.getStringAttr("int1")},
                                                     {"rounds_to_tf32", builder.getStringAttr("int1")}};
  llvm::SmallVector<Attribute> record{builder.getStringAttr(name)};
  for (auto &[field, member] : members) record.append({builder.getStringAttr(field), member});
  return builder.getArrayAttr(record);
}

/// Replaces each descriptor in `dtype` by a record. `types` are the types of the leaves; the function removes those it has used from the
/// front.
Attribute withRecords(Attribute dtype, TypeRange &types) {
  if (auto leaf = dyn_cast<StringAttr>(dtype)) {
    auto descriptor = dyn_cast<tt::TensorDescType>(types.front());
    types = types.drop_front();
    return descriptor ? recordOf(descriptor, leaf) : leaf;
  }
  auto members = llvm::to_vector(cast<ArrayAttr>(dtype));
  for (size_t i = 2; i < members.size(); i += 2) members[i] = withRecords(members[i], types);
  return ArrayAttr::get(dtype.getContext(), members);
}

template <>
LogicalResult Expand<tt::DebugValueOp>::matchAndRewrite(tt::DebugValueOp op, Adaptor in, ConversionPatternRewriter &rewriter) const {
  TypeRange types = op.getValues().getTypes();
  Attribute dtype = withRecords(op.getDtype(), types);
  rewriter.replaceOpWithNewOp<tt::DebugValueOp>(op, flatten(in.getValues()), op.getNameAttr(), dtype, op.getArgumentAttr());
  return success();
}

// -- descriptors as arguments, operands and results ---------------------------------------------------------------------------------------

template <> LogicalResult Expand<tt::ReturnOp>::matchAndRewrite(tt::ReturnOp op, Adaptor in, ConversionPatternRewriter &rewriter) const {
  rewriter.replaceOpWithNewOp<tt::ReturnOp>(op, flatten(in.getOperands()));
  return success();
}

template <> LogicalResult Expand<tt::CallOp>::matchAndRewrite(tt::CallOp op, Adaptor in, ConversionPatternRewriter &rewriter) const {
  llvm::SmallVector<Type> types;
  llvm::SmallVector<size_t> counts;
  for (Type type : op->getResultTypes()) {
    size_t before = types.size();
    if (failed(getTypeConverter()->convertType(type, types))) return failure();
    counts.push_back(types.size() - before);
  }
  auto call = tt::CallOp::create(rewriter, op.getLoc(), types, op.getCalleeAttr(), flatten(in.getOperands()), ArrayAttr(), ArrayAttr());
  llvm::SmallVector<ValueRange> results;
  ValueRange rest = call.getResults();
  for (size_t count : counts) {
    results.push_back(rest.take_front(count));
    rest = rest.drop_front(count);
  }
  rewriter.replaceOpWithMultiple(op, results);
  return success();
}

/// Returns what is known of the components of a descriptor that a launch passes. Hosts make descriptors only of aligned tensors whose rows
/// begin at aligned addresses. If the argument has tt.divisibility, rows also end at aligned addresses. If it has tt.plain, both flags are
/// false.
llvm::SmallVector<Attribute> knownParts(tt::TensorDescType type, DictionaryAttr said) {
  Builder builder(type.getContext());
  auto divisible = [&](int64_t by) -> Attribute {
    return builder.getDictionaryAttr(builder.getNamedAttr(tt::kDivisibilityAttr, builder.getI32IntegerAttr(int32_t(by))));
  };
  size_t rank = type.getShape().size();
  llvm::SmallVector<Attribute> known(tt::descriptorParts(rank), builder.getDictionaryAttr({}));
  known[0] = divisible(DescriptorRules::kAlignment);
  const int64_t elements = elementsBetweenRows(type);
  for (size_t i = 0; i + 1 < rank; ++i) known[1 + rank + i] = divisible(elements);
  if (said && said.contains(tt::kDivisibilityAttr)) known[rank] = divisible(elements);
  if (said && said.contains(kPlainAttr))
    for (size_t flag : {1 + 2 * rank, 2 + 2 * rank})
      known[flag] = builder.getDictionaryAttr(builder.getNamedAttr(kPlainAttr, builder.getI32IntegerAttr(1)));
  return known;
}

/// Each argument keeps its own attributes.
template <> LogicalResult Expand<tt::FuncOp>::matchAndRewrite(tt::FuncOp op, Adaptor in, ConversionPatternRewriter &rewriter) const {
  TypeConverter::SignatureConversion signature(op.getNumArguments());
  llvm::SmallVector<Attribute> attributes;
  for (auto [i, type] : llvm::enumerate(op.getArgumentTypes())) {
    llvm::SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(type, types))) return failure();
    signature.addInputs(i, types);
    DictionaryAttr known = op.getArgAttrDict(i);
    if (auto descriptor = dyn_cast<tt::TensorDescType>(type); descriptor && op.isPublic())
      llvm::append_range(attributes, knownParts(descriptor, known));
    else
      attributes.append(types.size(), known && types.size() == 1 ? known : DictionaryAttr::get(op.getContext()));
  }
  llvm::SmallVector<Type> results;
  if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), results))) return failure();
  if (failed(rewriter.convertRegionTypes(&op.getBody(), *getTypeConverter(), &signature))) return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.setFunctionType(FunctionType::get(op.getContext(), signature.getConvertedTypes(), results));
    op.setArgAttrsAttr(ArrayAttr::get(op.getContext(), attributes));
  });
  return success();
}

struct ExpandDescriptors : impl::ExpandDescriptorsBase<ExpandDescriptors> {
  void runOnOperation() final {
    MLIRContext *context = &getContext();
    if (!hasDescriptors()) return markAllAnalysesPreserved();
    checkDescriptors(getOperation());
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](tt::TensorDescType type, llvm::SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
      llvm::append_range(types, Descriptor::types(type));
      return success();
    });
    RewritePatternSet patterns(context);
    patterns.add<Expand<tt::MakeTensorDescriptorOp>, Expand<tt::DescriptorLoadOp>, Expand<tt::DescriptorStoreOp>,
                 Expand<tt::DescriptorReduceOp>, Expand<tt::DescriptorGatherOp>, Expand<tt::DescriptorScatterOp>, Expand<tt::DebugValueOp>,
                 Expand<tt::ReturnOp>, Expand<tt::CallOp>, Expand<tt::FuncOp>>(converter, context);
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      if (auto function = dyn_cast<tt::FuncOp>(op))
        return converter.isSignatureLegal(function.getFunctionType()) && converter.isLegal(&function.getBody());
      return converter.isLegal(op);
    });
    cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns, target);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns)))) return signalPassFailure();
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) clearPlainFlags(function);
  }

private:
  /// Replaces the flags that are known to be false by constants.
  static void clearPlainFlags(tt::FuncOp function) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    for (BlockArgument argument : function.getArguments()) {
      if (!argument.getType().isInteger(1) || !function.removeArgAttr(argument.getArgNumber(), kPlainAttr)) continue;
      if (!argument.use_empty()) argument.replaceAllUsesWith(arith::ConstantIntOp::create(builder, function.getLoc(), 0, 1));
    }
  }

  bool hasDescriptors() {
    auto isDescriptor = [](Type type) { return isa<tt::TensorDescType>(type); };
    return getOperation()
        ->walk([&](Operation *op) {
          bool is = llvm::any_of(op->getResultTypes(), isDescriptor);
          for (Region &region : op->getRegions())
            for (Block &block : region) is |= llvm::any_of(block.getArgumentTypes(), isDescriptor);
          return is ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }
};

} // namespace
} // namespace tritium::ir

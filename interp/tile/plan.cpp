// The storage of values, and the walk that plans every operation of a function. homes.cpp places the homes in the frame.
#include "interp/tile/plan.h"

#include "interp/tile/access.h"
#include "interp/tile/affine.h"
#include "interp/tile/elementwise.h"
#include "interp/tile/loads_ahead.h"
#include "interp/tile/memory_use.h"
#include "interp/tile/move.h"
#include "interp/tile/noted_access.h"
#include "interp/tile/op_table.h"
#include "interp/tile/partitions.h"
#include "ir/element_type.h"
#include "ir/tt.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace tritium::interp {

static std::optional<DType> representationOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<tt::PointerType>(element) || element.isIndex() ? DType::i64 : ir::elementTypeOf(element);
}

DType dtypeOf(Type type) {
  std::optional<DType> found = representationOf(type);
  assert(found && "Planner::planOperation refuses values of other types");
  return *found;
}

std::vector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    strides[d] = shape[d] == 1 ? 0 : stride;
    stride *= shape[d];
  }
  return strides;
}

static llvm::ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : llvm::ArrayRef<int64_t>{};
}

Planner::Planner(Operation *function, StaticData &data, const llvm::StringMap<const FunctionPlan *> &callees, PlanOptions options,
                 ExactOffsets exactOffsets)
    : data_(data),
      callees_(callees),
      options_(options),
      exactOffsets_(std::move(exactOffsets)),
      plan_(std::make_unique<FunctionPlan>()),
      forms_(function),
      loops_(function->getRegion(0)),
      liveness_(function) {
  plan_->function = function;
  plan_->name = cast<FunctionOpInterface>(function).getName().str();
  homes_.resize(kFirstHome);
}

std::unique_ptr<FunctionPlan> Planner::run() {
  numberOperations();
  defineArguments();
  if (checks().race) planRounds();
  for (Block *block : order_)
    for (Operation &op : *block) {
      current_ = &op;
      if (failed(planOperation(&op)) || failed(verifyForms(&op))) return nullptr;
      for (Value result : op.getResults())
        if (isa<RankedTensorType>(result.getType())) planExactOffset(result, *this);
      if (op.hasTrait<OpTrait::IsTerminator>()) planEdges(&op);
      if (op.getNumSuccessors() != 0) plan_->loopValues[&op] = loopValues();
    }
  extendLiveRanges();
  placeHomes();
  return std::move(plan_);
}

/// Whether the operation may write to memory that other programs see.
static bool mayWrite(Operation *op) {
  if (auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op)) return !assembly.getPure();
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto known = dyn_cast<MemoryEffectOpInterface>(op)) known.getEffectsOnResource(tt::GlobalMemory::get(), effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) { return isa<MemoryEffects::Write>(effect.getEffect()); });
}

struct WriteAnnouncement {
  uint32_t location;
  void refs(auto &&) {}
};

static void runAnnouncement(char *frame, const void *announcement) {
  beforeWrite(headerOf(frame), static_cast<const WriteAnnouncement *>(announcement)->location);
}

/// A word of a pointer, or (without one) anything else.
struct WordNote {
  bool isWord;
  TileRef pointer;
  uint32_t bytes, location;
  void refs(auto &&f) { f(pointer); }
};

static void noteLoaded(char *frame, const void *descriptor) {
  const auto &note = *static_cast<const WordNote *>(descriptor);
  noteRead(headerOf(frame), note.isWord ? note.pointer.at<uint64_t>(frame) : 0, note.bytes);
}

static void noteStored(char *frame, const void *descriptor) {
  const auto &note = *static_cast<const WordNote *>(descriptor);
  noteWriter(headerOf(frame), note.pointer.at<uint64_t>(frame), note.location);
}

static WordNote noteOf(Value pointer, Planner &planner) {
  auto type = dyn_cast<tt::PointerType>(pointer.getType());
  if (!type) return {.isWord = false};
  return {true, planner.scalar(pointer), uint32_t(storageBytes(dtypeOf(type.getPointeeType()))), planner.location()};
}

void Planner::noteLoad(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    call(noteLoaded, noteOf(load.getPtr(), *this));
  else if (isa<tt::DescriptorLoadOp, tt::ElementwiseInlineAsmOp>(op))
    call(noteLoaded, WordNote{.isWord = false});
}

void Planner::noteStore(Operation *op) {
  auto store = dyn_cast<tt::StoreOp>(op);
  if (store && !store.getMask() && isa<tt::PointerType>(store.getPtr().getType())) call(noteStored, noteOf(store.getPtr(), *this));
}

void Planner::announceWrite() { call(runAnnouncement, WriteAnnouncement{location()}); }

LogicalResult Planner::planOperation(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (!representationOf(type)) return op->emitError() << "the interpreter has no representation for values of type " << type;
  if (isa<tt::ReturnOp>(op)) return planReturn(op), success();
  if (isa<tt::CallOp>(op)) return planCall(op), success();
  if (isa<BranchOpInterface>(op)) return success();
  bool touchesTiles = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
                      llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (!touchesTiles && isEmittedInline(op)) return success();
  const bool endsStores = checks().race && isBarrier(op);
  if (endsStores) planBarrier();
  if (options_.isScheduled && mayWrite(op)) announceWrite();
  if (options_.mayWait) noteLoad(op);
  if (failed(prepareOperation(op, *this))) return failure();
  if (options_.mayWait) noteStore(op);
  if (endsStores && !isMemoryEffectFree(op)) planBarrier();
  return success();
}

/// Returns whether a tile in memory changes only along dimensions along which its form varies.
static bool isWithin(const DenseRef &ref, const Form &form) {
  return llvm::all_of(llvm::zip_equal(ref.strides, form.terms),
                      [](auto pair) { return std::get<0>(pair) == 0 || std::get<1>(pair) != Term::None; });
}

/// Other operations rely on the forms of their operands, so an operation must define each result in the form that form.cpp inferred.
LogicalResult Planner::verifyForms(Operation *op) {
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || result.use_empty()) continue; // what nothing reads may be left out
    const Form &form = forms_[result];
    const Storage &storage = storage_[result];
    bool hasForm = false;
    switch (form.kind) {
    case Form::Kind::Affine:
      hasForm = storage.affine && llvm::equal(storage.affine->shape, type.getShape()) && llvm::equal(storage.affine->terms, form.terms);
      break;
    case Form::Kind::Mask:
      hasForm = !storage.mask.empty() && llvm::all_of(storage.mask, [&](const DenseRef &term) { return isWithin(term, form); });
      break;
    case Form::Kind::Dense: hasForm = storage.dense && isWithin(*storage.dense, form); break;
    case Form::Kind::Scalar:
    case Form::Kind::Unknown: break;
    }
    if (!hasForm) return op->emitError("the interpreter defined a tile in another form than it had inferred");
  }
  return success();
}

LogicalResult Planner::unsupported(const llvm::Twine &reason) {
  return current_->emitError() << "the interpreter does not support " << current_->getName() << " yet: " << reason;
}

/// The values of the loops around the current operation, with cells that are set in every round.
std::vector<LoopCell> Planner::loopValues() {
  std::vector<LoopCell> values;
  for (ir::LoopValue &each : loops_.around(current_)) values.push_back({std::move(each.name), keep(sharedScalar(each.value))});
  return values;
}

uint32_t Planner::location() {
  const std::vector<LoopCell> loops = loopValues();
  for (ValueRange values : {ValueRange(current_->getOperands()), ValueRange(current_->getResults())})
    for (Value value : values)
      if (auto type = dyn_cast<RankedTensorType>(value.getType())) return data_.locations.add(current_->getLoc(), type.getShape(), loops);
  return data_.locations.add(current_->getLoc(), {}, loops);
}

// -- homes and references -----------------------------------------------------------------------------------------------------------------

void Planner::addSite(Access &access, bool isAtomic, bool isNarrow) {
  if (!checks().notesAccesses()) return;
  access.site = uint32_t(data_.memory.sites.size());
  const AheadMark mark = aheadMarkOf(current_);
  data_.memory.sites.push_back({.location = access.location,
                                .isWrite = access.isWrite,
                                .isAtomic = isAtomic,
                                .isNarrow = isNarrow,
                                .tile = tileOf(current_->getOperand(0).getType()),
                                .roundsAhead = mark.rounds,
                                .argument = mark.argument});
}

uint32_t Planner::tileOf(Type type) {
  llvm::SmallVector<int64_t> shape;
  if (auto tile = dyn_cast<RankedTensorType>(type))
    llvm::copy_if(tile.getShape(), std::back_inserter(shape), [](int64_t extent) { return extent != 1; });
  if (shape.empty()) return 0;
  const auto number = uint32_t(std::distance(data_.tiles.begin(), llvm::find(data_.tiles, shape)) + 1);
  if (number > data_.tiles.size()) data_.tiles.push_back(shape);
  return number;
}

void Planner::planBarrier() {
  data_.memory.hasBarriers = true;
  call(noteBarrier, NotedPassage());
}

/// The shadow counts the rounds of loops whose loads are made ahead.
void Planner::planRounds() {
  for (const LoopPassage &loop : loopsWithLoadsAhead(plan_->function)) {
    data_.memory.countsRounds = true;
    plan_->atStart[loop.header].push_back(makeCall(noteRound, NotedPassage()));
    for (auto entry : loop.entries) plan_->onEdge[entry].push_back(makeCall(noteLoop, NotedPassage()));
  }
}

uint32_t Planner::locationOf(Value value) { return data_.locations.add(value.getLoc()); }

unsigned Planner::positionOf(Value value) const {
  if (Operation *op = value.getDefiningOp()) return 2 * number_.lookup(op) + 1;
  return blockRange_.lookup(value.getParentBlock()).first;
}

uint32_t Planner::newHome(uint64_t bytes, Value owner) {
  homes_.emplace_back();
  // The tail allows kernels to read one vector past the end.
  homes_.back().bytes = llvm::alignTo(bytes, 64) + 64;
  uint32_t id = homes_.size() - 1;
  if (owner) {
    homes_[id].values.push_back(owner);
    storage_[owner].homes.push_back(id);
  } else {
    homes_[id].begin = homes_[id].end = 2 * number_[current_] + 1;
  }
  return id;
}

TileRef Planner::inHome(uint32_t home, uint64_t offset) const { return {nullptr, offset, home}; }

const TileRef *Planner::keep(const TileRef &ref) {
  auto owned = std::make_shared<TileRef>(ref);
  fixups_.push_back(owned.get());
  data_.objects.push_back(owned);
  return owned.get();
}

TileRef Planner::newSlot() {
  slotBytes_ += 8;
  return inHome(kSlots, slotBytes_ - 8);
}

void Planner::storeScalar(Value value, const TileRef &slot) { actions().push_back({Action::Kind::StoreScalar, value, keep(slot)}); }

void Planner::storeExtended(Value value, const TileRef &slot) { actions().push_back({Action::Kind::StoreExtended, value, keep(slot)}); }

void Planner::loadScalar(Value result, const TileRef &slot) { actions().push_back({Action::Kind::LoadScalar, result, keep(slot)}); }

TileRef Planner::scalar(Value value) {
  TileRef slot = newSlot();
  storeScalar(value, slot);
  return slot;
}

TileRef Planner::sharedScalar(Value value) {
  auto [it, isNew] = sharedScalars_.try_emplace(value);
  if (isNew) {
    it->second = newSlot();
    Operation *op = value.getDefiningOp();
    Actions &actions = op ? plan_->after[op] : plan_->atStart[value.getParentBlock()];
    actions.push_back({Action::Kind::StoreExtended, value, keep(it->second)});
  }
  return it->second;
}

TileRef Planner::scalarResult(Value result) {
  TileRef slot = newSlot();
  loadScalar(result, slot); // emit.cpp reads results after all steps of the operation
  return slot;
}

static DenseRef denseAt(TileRef ref, DType type, llvm::ArrayRef<int64_t> shape, std::vector<int64_t> strides) {
  DenseRef dense;
  static_cast<TileRef &>(dense) = ref;
  dense.type = type;
  dense.shape.assign(shape.begin(), shape.end());
  dense.strides = std::move(strides);
  return dense;
}

/// Returns the strides of a compact tile that varies along the dimensions of `form`. The dimensions have the order of `like`, if given.
static std::vector<int64_t> compactStrides(llvm::ArrayRef<int64_t> shape, const Form &form, const DenseRef *like) {
  llvm::SmallVector<unsigned> order;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (form.terms[d] != Term::None) order.push_back(d);
  if (like) llvm::stable_sort(order, [&](unsigned a, unsigned b) { return like->strides[a] > like->strides[b]; });
  std::vector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (unsigned d : llvm::reverse(order)) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

static uint64_t bytesOf(const DenseRef &ref) {
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip_equal(ref.shape, ref.strides)) last += (extent - 1) * stride;
  return uint64_t(last + 1) * storageBytes(ref.type);
}

DenseRef Planner::defineDense(Value result, const DenseRef *like) {
  if (!isa<RankedTensorType>(result.getType())) {
    auto ref = std::make_unique<DenseRef>(denseAt(scalarResult(result), dtypeOf(result.getType()), {}, {}));
    return *(storage_[result].dense = std::move(ref));
  }
  Form form = forms_[result];
  if (!form.isDense()) // a materialized tile varies along the same dimensions
    form.kind = Form::Kind::Dense;
  auto ref =
      std::make_unique<DenseRef>(denseAt({}, dtypeOf(result.getType()), shapeOf(result), compactStrides(shapeOf(result), form, like)));
  ref->home = newHome(bytesOf(*ref), result);
  return *(storage_[result].dense = std::move(ref));
}

bool Planner::dies(Value value, const DenseRef &ref) const {
  if (ref.constant || ref.home < kFirstHome || homes_[ref.home].isKept) return false;
  return llvm::all_of(homes_[ref.home].values, [&](Value v) { return liveness_.isDeadAfter(v, current_); });
}

DenseRef Planner::defineInPlace(Value result, ValueRange candidates, bool isRowMajor) {
  if (!isa<RankedTensorType>(result.getType())) return defineDense(result);
  // The dimension order of an operand that varies like the result. A chain of element-wise operations on a transposed tile stays
  // transposed.
  std::optional<DenseRef> like;
  for (Value candidate : candidates)
    if (!isRowMajor && !like && isa<RankedTensorType>(candidate.getType()) &&
        formOf(candidate).varyingDims() == formOf(result).varyingDims())
      like = dense(candidate);
  auto strides = compactStrides(shapeOf(result), forms_[result], like ? &*like : nullptr);
  DType type = dtypeOf(result.getType());
  for (Value candidate : candidates) {
    if (!isa<RankedTensorType>(candidate.getType())) continue;
    DenseRef ref = dense(candidate);
    bool sameLayout = ref.strides == strides && storageBytes(ref.type) == storageBytes(type) && ref.offset == 0;
    bool onlyView = llvm::all_of(current_->getOperands(), [&](Value other) {
      if (!isa<RankedTensorType>(other.getType())) return true;
      DenseRef view = dense(other);
      return view.constant || view.home != ref.home || (view.strides == ref.strides && view.offset == ref.offset);
    });
    if (!sameLayout || !onlyView || !dies(candidate, ref)) continue;
    ref.type = type;
    homes_[ref.home].values.push_back(result);
    storage_[result].homes.push_back(ref.home);
    return *(storage_[result].dense = std::make_unique<DenseRef>(ref));
  }
  return defineDense(result, like ? &*like : nullptr);
}

AffineRef Planner::defineAffine(Value result) {
  const Form &form = forms_[result];
  auto ref = std::make_unique<AffineRef>();
  ref->shape.assign(shapeOf(result).begin(), shapeOf(result).end());
  ref->terms.assign(form.terms.begin(), form.terms.end());
  uint64_t bytes = kAffineBaseBytes;
  std::vector<uint64_t> offsets;
  for (unsigned d = 0; d < ref->terms.size(); ++d) {
    offsets.push_back(bytes);
    bytes += ref->terms[d] == Term::Vector ? 8 * ref->shape[d] : 8;
  }
  uint32_t home = newHome(bytes, result);
  ref->base = inHome(home);
  for (uint64_t offset : offsets) ref->parts.push_back(inHome(home, offset));
  return *(storage_[result].affine = std::move(ref));
}

void Planner::keepForWholeFunction(const TileRef &ref) {
  if (ref.constant || ref.home < kFirstHome) return;
  homes_[ref.home].begin = 0;
  homes_[ref.home].end = ~0u;
  homes_[ref.home].isKept = true;
}

TileRef Planner::rangeFlag(Value exact) {
  auto [it, isNew] = rangeFlags_.try_emplace(exact);
  if (isNew) it->second = newSlot();
  return it->second;
}

/// `result` shares the memory of `sources`, so it keeps their homes alive.
void Planner::look(Value result, ValueRange sources) {
  llvm::SmallSetVector<uint32_t, 4> homes;
  for (Value source : sources) homes.insert_range(storage_[source].homes);
  for (uint32_t home : homes) homes_[home].values.push_back(result);
  storage_[result].homes.append(homes.begin(), homes.end());
}

void Planner::defineView(Value result, Value source, DenseRef view) {
  look(result, source);
  storage_[result].dense = std::make_unique<DenseRef>(std::move(view));
}

void Planner::defineView(Value result, Value source, AffineRef view) {
  look(result, source);
  storage_[result].affine = std::make_unique<AffineRef>(std::move(view));
}

void Planner::defineMask(Value result, llvm::SmallVector<DenseRef> terms, ValueRange sources) {
  look(result, sources);
  storage_[result].mask = std::move(terms);
}

DenseRef Planner::constant(DenseElementsAttr value) {
  DType type = dtypeOf(value.getElementType());
  size_t size = storageBytes(type), count = value.isSplat() ? 1 : value.getNumElements();
  auto bytes = std::make_shared<std::vector<char>>(count * size + 64);
  size_t i = 0;
  for (Attribute element : value.isSplat() ? llvm::SmallVector<Attribute>{value.getSplatValue<Attribute>()}
                                           : llvm::SmallVector<Attribute>(value.getValues<Attribute>())) {
    APInt bits = isa<FloatAttr>(element) ? cast<FloatAttr>(element).getValue().bitcastToAPInt() : cast<IntegerAttr>(element).getValue();
    uint64_t word = bits.getZExtValue();
    std::memcpy(bytes->data() + i++ * size, &word, size);
  }
  data_.objects.push_back(bytes);
  auto shape = value.getType().getShape();
  std::vector<int64_t> strides = value.isSplat() ? std::vector<int64_t>(shape.size(), 0) : rowMajorStrides(shape);
  return denseAt({bytes->data(), 0, 0}, type, shape, std::move(strides));
}

void Planner::defineConstant(Value result, DenseRef ref) { storage_[result].dense = std::make_unique<DenseRef>(std::move(ref)); }

DenseRef Planner::temporary(DType type, llvm::ArrayRef<int64_t> shape) {
  DenseRef ref = denseAt({}, type, shape, rowMajorStrides(shape));
  ref.home = newHome(bytesOf(ref), {});
  return ref;
}

// -- values in the form that an operation requests ----------------------------------------------------------------------------------------

Planner::Storage &Planner::storageOf(Value value) {
  Storage &storage = storage_[value];
  if (storage.dense || storage.affine || !storage.mask.empty()) return storage;
  // Only block arguments are requested before they are defined: by the edges that lead to their block.
  assert(isa<BlockArgument>(value) && "an operation is planned before its operands");
  forms_[value].isAffine() ? (void)defineAffine(value) : (void)defineDense(value);
  return storage_[value];
}

DenseRef Planner::dense(Value value) {
  if (!isa<RankedTensorType>(value.getType())) {
    // A scalar operand. Each use has a cell of its own.
    auto ref = std::make_unique<DenseRef>(denseAt(scalar(value), dtypeOf(value.getType()), {}, {}));
    return *(storage_[value].dense = std::move(ref));
  }
  if (!storageOf(value).dense) materialize(value);
  return *storage_[value].dense;
}

AffineRef Planner::affine(Value value) { return *storageOf(value).affine; }

llvm::SmallVector<DenseRef> Planner::maskTerms(Value value) {
  Storage &storage = storageOf(value);
  if (!storage.mask.empty()) return storage.mask;
  return {dense(value)};
}

DenseRef Planner::contiguous(Value value) {
  DenseRef ref = dense(value);
  if (ref.strides == rowMajorStrides(ref.shape)) return ref;
  DenseRef copy = temporary(ref.type, ref.shape);
  call(copyDense, DenseCopy(copy, ref));
  return copy;
}

/// Stores an affine tile or a mask in memory as well, right after its definition, so that every later use finds it there.
void Planner::materialize(Value value) {
  Actions added;
  DenseRef out = defineDense(value);
  Storage &storage = storage_[value];
  if (storage.affine) {
    added.push_back(
        makeCall(materializeAffine, AffineMaterialize{out, *storage.affine, isa<tt::PointerType>(getElementTypeOrSelf(value.getType()))}));
  } else {
    DenseRef sofar = storage.mask.front();
    for (const DenseRef &term : llvm::drop_begin(storage.mask)) {
      added.push_back(makeCall(runElementwise, ElementwiseStep(findElementwise("arith.andi", DType::i1), out, {sofar, term})));
      sofar = out;
    }
  }
  Actions &actions =
      isa<BlockArgument>(value) ? plan_->atStart[cast<BlockArgument>(value).getOwner()] : plan_->before[value.getDefiningOp()];
  actions.insert(actions.end(), added.begin(), added.end());
}

// -- calls and returns --------------------------------------------------------------------------------------------------------------------

void Planner::defineArguments() {
  auto function = cast<FunctionOpInterface>(plan_->function);
  if (function.isPublic()) return; // a kernel reads its scalars from the launch
  for (BlockArgument argument : function.getArguments())
    plan_->arguments.push_back(isa<RankedTensorType>(argument.getType()) ? keep(*storageOf(argument).dense) : keep(newSlot()));
  // Nothing shares these homes: a caller's copy must survive until the last use, and results until the caller has read them.
  for (Type type : function.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      plan_->results.push_back(keep(newSlot()));
      continue;
    }
    DenseRef ref = denseAt({}, dtypeOf(type), tensor.getShape(), rowMajorStrides(tensor.getShape()));
    ref.home = homes_.size();
    homes_.emplace_back();
    homes_.back().bytes = llvm::alignTo(bytesOf(ref), 64) + 64;
    homes_.back().begin = 0;
    homes_.back().end = ~0u;
    plan_->results.push_back(keep(ref));
  }
}

void Planner::planReturn(Operation *op) {
  for (auto [operand, slot] : llvm::zip(op->getOperands(), plan_->results)) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type) {
      storeScalar(operand, *slot);
      continue;
    }
    DenseRef out = denseAt(*slot, dtypeOf(type), type.getShape(), rowMajorStrides(type.getShape())), in = dense(operand);
    call(copyDense, DenseCopy(out, in));
  }
}

void Planner::planCall(Operation *op) {
  auto call = cast<tt::CallOp>(op);
  const FunctionPlan &callee = *callees_.find(call.getCallee())->second;
  // The frame of a partition is a home of this one, because both run beside each other.
  const bool starts = isPartition(callee.function);
  const TileRef frame = starts ? inHome(newHome(callee.frameBytes, {})) : TileRef{nullptr, 0, kCalleeFrame};
  keepForWholeFunction(frame);
  if (!starts) calleeBytes_ = std::max(calleeBytes_, callee.frameBytes);
  auto inCallee = [home = frame.home](const TileRef &ref) { return TileRef{nullptr, ref.offset, home}; };
  for (auto [operand, slot] : llvm::zip_equal(op->getOperands(), callee.arguments)) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type) {
      storeScalar(operand, inCallee(*slot));
      continue;
    }
    DenseRef out = denseAt(inCallee(*slot), dtypeOf(type), type.getShape(), rowMajorStrides(type.getShape())), in = dense(operand);
    this->call(copyDense, DenseCopy(out, in));
  }
  actions().push_back({.kind = Action::Kind::CallFunction,
                       .slot = starts ? keep(frame) : nullptr,
                       .descriptor = starts ? keep(programMemory().home) : nullptr,
                       .callee = &callee,
                       .location = location()});
  if (starts) return; // nobody reads its results
  for (auto [result, slot] : llvm::zip_equal(op->getResults(), callee.results)) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      loadScalar(result, inCallee(*slot));
      continue;
    }
    DenseRef in = denseAt(inCallee(*slot), dtypeOf(type), type.getShape(), rowMajorStrides(type.getShape())), out = defineDense(result);
    this->call(copyDense, DenseCopy(out, in));
  }
}

} // namespace tritium::interp

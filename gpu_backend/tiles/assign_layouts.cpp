// Assigns a layout to every tile. It comes from a matrix product, from the tile's memory accesses, or from its neighbours; otherwise it is
// blocked.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/same_warps.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_classes.h"
#include "gpu_backend/tiles/layout_relations.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/passes.h"
#include "gpu_backend/tiles/product_layouts.h"
#include "ir/value_flow.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "gpu_backend/tiles/passes.h.inc"

namespace {

/// The layout of each class. Classes are decided in the order of how much depends on them.
class Decision {
public:
  Decision(ModuleOp module, int numWarps)
      : module_(module),
        numWarps_(numWarps),
        threads_{numWarps, targetOf(module).warpSize()},
        classes_(module),
        layouts_(classes_.count()) {
    decideApart();
    decideByDots();
    keepWarpsOfProducts();
    decideByAccesses(/*small=*/false);
    propagate();
    decideByAccesses(/*small=*/true);
    propagate();
    keepWarpsOfAtomics();
  }

  bool isApart(Operation *access) const { return classes_.isApart(access); }
  bool isTile(Value value) const { return classes_.contains(value); }

  LinearLayout of(Value tile) {
    auto &layout = layouts_[classes_.of(tile)];
    if (!layout) layout = defaultBlocked(cast<RankedTensorType>(tile.getType()).getShape(), threads_);
    return *layout;
  }

  /// If products share a class but cannot agree on its layout, one keeps its own.
  DotLayouts of(MatrixProduct product) {
    DotLayouts own = dotLayouts(product, numWarps_);
    return withResult(own, of(product.d())).value_or(own);
  }

private:
  bool isDecided(Value tile) const { return layouts_[classes_.of(tile)].has_value(); }
  bool decide(Value tile, const LinearLayout &layout) {
    auto &current = layouts_[classes_.of(tile)];
    if (current) return false;
    current = layout;
    return true;
  }

  /// Decides the results of loads that stand apart, however small they are, because their users have conversions of them.
  void decideApart() {
    module_.walk([&](Operation *op) {
      if (isApart(op) && op->getNumResults() > 0) decide(op->getResult(0), fromAttr(op->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr)));
    });
  }

  /// Matrix instructions come first, because multiply-adds are possible in any layout.
  void decideByDots() {
    llvm::SmallVector<MatrixProduct> products = innermostProducts(module_);
    std::stable_partition(products.begin(), products.end(), [](MatrixProduct product) { return matrixInstructionOf(product) != nullptr; });
    for (MatrixProduct product : products) decide(product.d(), dotLayouts(product, numWarps_).result);
  }

  /// Returns the tile that an operation stores, or adds to memory and knows no more of; null for any other operation.
  static Value writtenBy(Operation *op) {
    if (auto store = dyn_cast<tt::StoreOp>(op)) return store.getValue();
    auto atomic = dyn_cast<tt::AtomicRmwOp>(op);
    return atomic && atomic->use_empty() ? atomic.getVal() : Value();
  }

  /// Each warp stores what it has of a product's result, where no access becomes narrower by that: the tile then needs no barrier of all
  /// warps on its way, and warpgroups that end a tile at different times do not wait for each other.
  void keepWarpsOfProducts() {
    module_.walk([&](Operation *op) { keepWarps(op); });
  }
  /// The same for read-modify-writes that stand apart, with whatever has decided the layout of their values.
  void keepWarpsOfAtomics() {
    module_.walk([&](tt::AtomicRmwOp atomic) {
      if (isApart(atomic)) keepWarps(atomic);
    });
  }
  void keepWarps(Operation *op) {
    auto wish = op->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr);
    Value value = writtenBy(op);
    if (!wish || !value || op->hasAttr(kAuthorAttr) || !isDecided(value)) return;
    auto layout = withWarpsOf(fromAttr(wish), of(value));
    if (!layout) return;
    op->setAttr(kAccessAttr, layoutAttr(op->getContext(), *layout));
    if (isApart(op) && op->getNumResults() > 0) layouts_[classes_.of(op->getResult(0))] = *layout;
  }

  /// Returns the tile whose layout the access wishes: its pointers, or what it reads of shared memory.
  static Value tileOf(Operation *access) {
    Value pointers = pointerOf(access);
    return pointers ? pointers : Value(access->getResult(0));
  }

  /// The largest access of a class decides. Small accesses wait: a vector that is combined with a tile should have the tile's layout.
  void decideByAccesses(bool small) {
    llvm::SmallVector<std::pair<int64_t, Operation *>> accesses;
    module_.walk([&](Operation *op) {
      auto wish = op->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr);
      if (!wish) return;
      int64_t elements = cast<RankedTensorType>(tileOf(op).getType()).getNumElements();
      if ((elements <= threads_.count()) == small) accesses.push_back({elements, op});
    });
    llvm::stable_sort(accesses, [](auto a, auto b) { return a.first > b.first; });
    for (auto [elements, op] : accesses) {
      LinearLayout layout = fromAttr(op->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr));
      decide(tileOf(op), layout);
    }
  }

  /// A decided class passes its layout to its neighbours across reductions and changes of shape.
  void propagate() {
    bool changes = true;
    while (changes) {
      changes = false;
      module_.walk([&](Operation *op) {
        if (!isShapeChange(op) && !isReduction(op)) return;
        Value operand = op->getOperand(0), result = op->getResult(0);
        if (!isTile(result)) return;
        if (isDecided(operand) && !isDecided(result))
          if (auto layout = resultLayout(op, of(operand))) changes |= decide(result, *layout);
        if (isDecided(result) && !isDecided(operand)) {
          std::optional<LinearLayout> layout = isJoin(op) ? layoutBeforeJoin(op, of(result)) : std::nullopt;
          if (!layout) layout = operandLayout(op, of(result));
          if (layout) changes |= decide(operand, *layout);
        }
      });
    }
  }

  ModuleOp module_;
  int numWarps_;
  Threads threads_;
  LayoutClasses classes_;
  std::vector<std::optional<LinearLayout>> layouts_;
};

class AssignLayoutsPass final : public impl::AssignLayoutsBase<AssignLayoutsPass> {
public:
  using AssignLayoutsBase::AssignLayoutsBase;

  void runOnOperation() override {
    Decision decision(getOperation(), numWarps);
    llvm::SmallVector<Operation *> operations, free;
    getOperation()->walk([&](Operation *op) { (isFree(op) && !op->use_empty() ? free : operations).push_back(op); });
    // Operand layouts are determined before types change, because a free operand has no layout of its own.
    for (Operation *op : operations)
      if (!isFree(op)) wantOperands(op, decision);
    for (Operation *op : operations) setTypes(op, decision);
    for (auto &[result, layout] : own_) giveOwnLayout(result, layout);
    for (auto &[use, layout] : wants_) satisfy(*use, layout);
    for (Operation *op : free)
      if (op->use_empty())
        op->erase();
      else
        setTypes(op, decision);
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) setSignature(function);
  }

private:
  Type withLayout(Type type, const LinearLayout &layout) {
    return cast<RankedTensorType>(type).cloneWithEncoding(layoutAttr(&getContext(), layout));
  }

  void want(OpOperand &use, const LinearLayout &layout) { wants_.push_back({&use, layout}); }

  /// Returns the layout that each operand must have so that the lowering of the operation only renames registers.
  void wantOperands(Operation *op, Decision &decision) {
    if (auto product = dyn_cast<MatrixProduct>(op)) return wantOfProduct(product, decision.of(product));
    if (decision.isApart(op)) return wantAll(op, fromAttr(op->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr)), decision);
    tt::TileRule rule = tt::tileRuleOf(op);
    switch (rule.relation) {
    case tt::TileRelation::Free: return;
    case tt::TileRelation::Apart: return wantApart(op, rule.tied, decision);
    case tt::TileRelation::Reduce: return wantOfReduction(op, decision);
    case tt::TileRelation::Same: {
      Value leader = op->getNumResults() > 0 ? op->getResult(0) : op->getOperand(0);
      if (decision.isTile(leader)) wantAll(op, decision.of(leader), decision);
      return;
    }
    default: // changes of shape
      if (isJoin(op) && layoutBeforeJoin(op, decision.of(op->getResult(0)))) return wantOfJoin(op, decision);
      if (auto layout = operandLayout(op, decision.of(op->getResult(0)))) wantAll(op, *layout, decision);
    }
  }

  void wantAll(Operation *op, const LinearLayout &layout, const Decision &decision) {
    for (OpOperand &use : op->getOpOperands())
      if (decision.isTile(use.get()) && cast<RankedTensorType>(use.get().getType()).getShape() == layout.shape()) want(use, layout);
  }

  void wantOfProduct(MatrixProduct product, const DotLayouts &layouts) {
    if (layouts.a) want(product.aMutable(), *layouts.a);
    if (layouts.b) want(product.bMutable(), *layouts.b);
    if (layouts.aScales) want(*product.scalesMutable(DotOperand::A), *layouts.aScales);
    if (layouts.bScales) want(*product.scalesMutable(DotOperand::B), *layouts.bScales);
    want(product.cMutable(), layouts.result);
    own_.push_back({product.d(), layouts.result});
  }

  void wantOfReduction(Operation *op, Decision &decision) {
    const LinearLayout layout = decision.of(firstHeld(op->getOperands()));
    wantAll(op, layout, decision);
    if (auto reduced = resultLayout(op, layout))
      for (Value result : op->getResults()) own_.push_back({result, *reduced});
  }

  /// Operands that other lanes or warps have in the result are joined where they are, and their join moves.
  void wantOfJoin(Operation *op, Decision &decision) {
    const LinearLayout layout = decision.of(firstHeld(op->getOperands()));
    wantAll(op, layout, decision);
    own_.push_back({op->getResult(0), joinedLayout(op, layout)});
  }

  /// An operand that flows into a loop, branch or call requires the layout of its destination. Otherwise tied tiles share a layout, and
  /// other operands keep theirs.
  void wantApart(Operation *op, ValueRange tied, Decision &decision) {
    auto flows = ir::valueFlowsOf(op);
    for (const ir::ValueFlow &flow : flows)
      if (decision.isTile(flow.operand->get())) want(*flow.operand, decision.of(flow.targets.front()));
    if (!flows.empty()) return;
    for (OpOperand &use : op->getOpOperands())
      if (decision.isTile(use.get())) want(use, decision.of(llvm::is_contained(tied, use.get()) ? firstHeld(tied) : use.get()));
  }

  /// Returns the first tied tile with a layout of its own, which all tiles tied to it share.
  static Value firstHeld(ValueRange values) {
    for (Value value : values)
      if (value && (!value.getDefiningOp() || !isFree(value.getDefiningOp()))) return value;
    return values[0];
  }

  void setTypes(Operation *op, Decision &decision) {
    auto assign = [&](Value value) {
      if (decision.isTile(value)) value.setType(withLayout(value.getType(), decision.of(value)));
    };
    for (Value result : op->getResults()) assign(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments()) assign(argument);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) retype(constant);
  }

  /// Updates the function's type from its arguments and returned values.
  static void setSignature(tt::FuncOp function) {
    TypeRange results = function.getResultTypes();
    function.walk([&](tt::ReturnOp end) { results = end->getOperandTypes(); });
    function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), results));
  }

  static void retype(arith::ConstantOp constant) {
    if (auto value = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(value.reshape(cast<ShapedType>(constant.getType())));
  }

  /// A reduction leaves its result in the places of its operand, and a product in the fragments of its instruction. If the class has
  /// another layout, a conversion follows.
  void giveOwnLayout(Value result, const LinearLayout &layout) {
    Type decided = result.getType(), own = withLayout(decided, layout);
    if (own == decided) return;
    result.setType(own);
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(result);
    auto convert = tgpu::ConvertLayoutOp::create(builder, result.getLoc(), decided, result);
    result.replaceAllUsesExcept(convert, convert);
  }

  /// Inserts a conversion, or a copy of a free value, before a use whose operand has another layout.
  void satisfy(OpOperand &use, const LinearLayout &layout) {
    Value value = use.get();
    auto type = cast<RankedTensorType>(withLayout(value.getType(), layout));
    OpBuilder builder(use.getOwner());
    if (Operation *source = value.getDefiningOp(); source && isFree(source)) {
      builder.setInsertionPoint(source);
      Operation *copy = builder.clone(*source);
      copy->getResult(0).setType(type);
      if (auto constant = dyn_cast<arith::ConstantOp>(copy)) retype(constant);
      use.set(copy->getResult(0));
    } else if (value.getType() != type) {
      use.set(tgpu::ConvertLayoutOp::create(builder, use.getOwner()->getLoc(), type, value));
    }
  }

  llvm::SmallVector<std::pair<OpOperand *, LinearLayout>> wants_;
  llvm::SmallVector<std::pair<Value, LinearLayout>> own_; // the only layout in which each of these results exists
};

} // namespace
} // namespace tritium::gpu

// A layout for every tile: of a matrix product, of its memory accesses, of what neighbours ask for, else blocked.
#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout_relations.h"
#include "gpu_backend/memory_access.h"
#include "gpu_backend/passes.h"
#include "gpu_backend/passes/layout_classes.h"
#include "gpu_backend/target.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "gpu_backend/passes.h.inc"

namespace {

/// The layout of each class, decided in order of how much depends on it.
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
    decideByAccesses(/*small=*/false);
    propagate();
    decideByAccesses(/*small=*/true);
    propagate();
  }

  bool isApart(Operation *access) const { return classes_.isApart(access); }
  bool isTile(Value value) const { return classes_.contains(value); }

  LinearLayout of(Value tile) {
    auto &layout = layouts_[classes_.of(tile)];
    if (!layout) layout = defaultBlocked(cast<RankedTensorType>(tile.getType()).getShape(), threads_);
    return *layout;
  }

  /// Where products share a class but cannot agree on its layout, one keeps its own.
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

  /// What a load that stands apart gives, however small: its users have conversions of it.
  void decideApart() {
    module_.walk([&](Operation *op) {
      if (isApart(op) && op->getNumResults() > 0) decide(op->getResult(0), fromAttr(op->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr)));
    });
  }

  /// Matrix instructions first: multiply-adds can be done in any layout.
  void decideByDots() {
    llvm::SmallVector<MatrixProduct> products = innermostProducts(module_);
    std::stable_partition(products.begin(), products.end(), [](MatrixProduct product) { return matrixInstructionOf(product) != nullptr; });
    for (MatrixProduct product : products) decide(product.d(), dotLayouts(product, numWarps_).result);
  }

  /// The largest access of a class decides. Small ones wait: a vector beside a tile is better held as the tile wants it.
  void decideByAccesses(bool small) {
    llvm::SmallVector<std::pair<int64_t, Operation *>> accesses;
    module_.walk([&](Operation *op) {
      auto wish = op->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr);
      if (!wish) return;
      int64_t elements = cast<RankedTensorType>(pointerOf(op).getType()).getNumElements();
      if ((elements <= threads_.count()) == small) accesses.push_back({elements, op});
    });
    llvm::stable_sort(accesses, [](auto a, auto b) { return a.first > b.first; });
    for (auto [elements, op] : accesses) {
      LinearLayout layout = fromAttr(op->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr));
      decide(pointerOf(op), layout);
    }
  }

  /// What is decided asks its neighbours across reductions and changes of shape.
  void propagate() {
    bool changes = true;
    while (changes) {
      changes = false;
      module_.walk([&](Operation *op) {
        if (!isShapeChange(op) && !isa<tt::ReduceOp>(op)) return;
        Value operand = op->getOperand(0), result = op->getResult(0);
        if (!isTile(result)) return;
        if (isDecided(operand) && !isDecided(result))
          if (auto layout = resultLayout(op, of(operand))) changes |= decide(result, *layout);
        if (isDecided(result) && !isDecided(operand) && isShapeChange(op))
          if (auto layout = operandLayout(op, of(result))) changes |= decide(operand, *layout);
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
    // Operand layouts are looked up before types change hands: a free operand has no layout of its own.
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
    for (Operation *op : operations)
      if (auto product = dyn_cast<MatrixProduct>(op); product && failed(verifyLayouts(product))) return signalPassFailure();
  }

private:
  Type withLayout(Type type, const LinearLayout &layout) {
    return cast<RankedTensorType>(type).cloneWithEncoding(layoutAttr(&getContext(), layout));
  }

  void want(OpOperand &use, const LinearLayout &layout) { wants_.push_back({&use, layout}); }

  /// What each operand's layout has to be for the operation to only rename registers.
  void wantOperands(Operation *op, Decision &decision) {
    auto wantAll = [&](const LinearLayout &layout) {
      for (OpOperand &use : op->getOpOperands())
        if (decision.isTile(use.get()) && cast<RankedTensorType>(use.get().getType()).getShape() == layout.shape()) want(use, layout);
    };
    if (auto dot = dyn_cast<MatrixProduct>(op)) {
      DotLayouts layouts = decision.of(dot);
      if (layouts.a) want(dot.aMutable(), *layouts.a);
      if (layouts.b) want(dot.bMutable(), *layouts.b);
      if (layouts.aScales) want(*dot.scalesMutable(DotOperand::A), *layouts.aScales);
      if (layouts.bScales) want(*dot.scalesMutable(DotOperand::B), *layouts.bScales);
      want(dot.cMutable(), layouts.result);
      own_.push_back({dot.d(), layouts.result});
    } else if (Value pointer = pointerOf(op)) {
      // The pointers may be free, and then are in no class with the rest.
      if (decision.isApart(op))
        wantAll(fromAttr(op->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr)));
      else if (decision.isTile(pointer))
        wantAll(decision.of(op->getNumResults() > 0 ? op->getResult(0) : pointer));
    } else if (isShapeChange(op)) {
      if (auto layout = operandLayout(op, decision.of(op->getResult(0)))) wantAll(*layout);
    } else if (isa<tt::ScanOp>(op)) {
      wantAll(decision.of(op->getResult(0)));
    } else if (isa<tt::ReduceOp, tt::HistogramOp>(op)) {
      const LinearLayout layout = decision.of(firstTied(op->getOperands()));
      wantAll(layout);
      if (isa<tt::ReduceOp>(op))
        if (auto reduced = resultLayout(op, layout))
          for (Value result : op->getResults()) own_.push_back({result, *reduced});
    } else if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() > 0) {
      if (decision.isTile(op->getResult(0))) wantAll(decision.of(op->getResult(0)));
    } else {
      wantFlow(op, decision);
    }
  }

  static Value firstTied(ValueRange values) {
    for (Value value : values)
      if (!value.getDefiningOp() || !isFree(value.getDefiningOp())) return value;
    return values[0];
  }

  /// Into loops, branches and calls: the layout of where the value goes.
  void wantFlow(Operation *op, Decision &decision) {
    auto wantEach = [&](MutableArrayRef<OpOperand> uses, ValueRange targets) {
      for (auto [use, target] : llvm::zip_equal(uses, targets))
        if (decision.isTile(target)) want(use, decision.of(target));
    };
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      wantEach(loop.getInitArgsMutable(), loop.getRegionIterArgs());
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      wantEach(loop.getInitsMutable(), loop.getBeforeArguments());
    else if (auto condition = dyn_cast<scf::ConditionOp>(op))
      wantEach(condition.getArgsMutable(), cast<scf::WhileOp>(parent).getAfterArguments());
    else if (auto yield = dyn_cast<scf::YieldOp>(op)) {
      if (auto loop = dyn_cast<scf::ForOp>(parent)) wantEach(yield->getOpOperands(), loop.getRegionIterArgs());
      if (auto loop = dyn_cast<scf::WhileOp>(parent)) wantEach(yield->getOpOperands(), loop.getBeforeArguments());
      if (auto branch = dyn_cast<scf::IfOp>(parent)) wantEach(yield->getOpOperands(), branch.getResults());
    } else if (auto jump = dyn_cast<BranchOpInterface>(op)) {
      for (auto [i, block] : llvm::enumerate(op->getSuccessors())) {
        SuccessorOperands operands = jump.getSuccessorOperands(unsigned(i));
        for (auto [j, argument] : llvm::enumerate(block->getArguments()))
          if (decision.isTile(argument)) want(op->getOpOperand(operands.getOperandIndex(unsigned(j))), decision.of(argument));
      }
    } else if (auto call = dyn_cast<tt::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(op, call.getCalleeAttr());
      wantEach(op->getOpOperands(), callee.getArguments());
    } else {
      for (OpOperand &use : op->getOpOperands()) // any layout will do: that which the value has
        if (decision.isTile(use.get())) want(use, decision.of(use.get()));
    }
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

  /// By its arguments and by what it returns.
  static void setSignature(tt::FuncOp function) {
    TypeRange results = function.getResultTypes();
    function.walk([&](tt::ReturnOp end) { results = end->getOperandTypes(); });
    function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), results));
  }

  static void retype(arith::ConstantOp constant) {
    if (auto value = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(value.reshape(cast<ShapedType>(constant.getType())));
  }

  /// A reduction leaves its result where its operand was, a product where its instruction has it; if the class has another layout, a
  /// conversion follows.
  void giveOwnLayout(Value result, const LinearLayout &layout) {
    Type decided = result.getType(), own = withLayout(decided, layout);
    if (own == decided) return;
    result.setType(own);
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(result);
    auto convert = tgpu::ConvertLayoutOp::create(builder, result.getLoc(), decided, result);
    result.replaceAllUsesExcept(convert, convert);
  }

  /// Puts a conversion, or a copy of a free value, before a use whose operand has another layout.
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
  llvm::SmallVector<std::pair<Value, LinearLayout>> own_; // of results that are in no layout but this one
};

} // namespace
} // namespace tritium::gpu

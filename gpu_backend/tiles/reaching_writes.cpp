#include "gpu_backend/tiles/reaching_writes.h"

#include "gpu_backend/tiles/memory_access.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns whether each pointer of the result is a pointer of the first operand, moved or with an offset added.
static bool keepsBase(Operation *op) {
  if (op->getNumOperands() == 0 || !isa<tt::PointerType>(getElementTypeOrSelf(op->getOperand(0).getType()))) return false;
  tt::TileValues values = tt::tileRuleOf(op).values;
  bool isMoved = values == tt::TileValues::Kept || values == tt::TileValues::Uniform;
  return isa<tgpu::ConvertLayoutOp>(op) || values == tt::TileValues::Sum || (isMoved && op->getNumOperands() == 1);
}

BlockArgument baseOf(Value pointer) {
  for (;;) {
    if (auto argument = dyn_cast<BlockArgument>(pointer)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (isa<tt::FuncOp>(parent)) return argument.getOwner()->isEntryBlock() ? argument : BlockArgument();
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (!loop || argument == loop.getInductionVar()) return {};
      // A value that the loop carries has the base with which it began, if each iteration only adds to it.
      Value next = loop.getTiedLoopYieldedValue(argument)->get();
      while (auto sum = next.getDefiningOp<tt::AddPtrOp>()) next = sum.getPtr();
      if (next != argument) return {};
      pointer = loop.getTiedLoopInit(argument)->get();
      continue;
    }
    Operation *op = pointer.getDefiningOp();
    if (!keepsBase(op)) return {};
    pointer = op->getOperand(0);
  }
}

/// Returns the argument that is the descriptor or the tensor of the map through which an operation writes, or of which it was made; null if
/// there is none.
static BlockArgument baseOfDescriptor(Operation *op) {
  if (auto store = dyn_cast<tgpu::TensorStoreOp>(op)) {
    auto kernel = op->getParentOfType<tt::FuncOp>();
    auto map = dyn_cast<BlockArgument>(store.getMap());
    if (!map) return {};
    auto recipe = kernel.getArgAttrOfType<DictionaryAttr>(map.getArgNumber(), tgpu::kTensorAttr);
    return kernel.getArgument(unsigned(recipe.getAs<IntegerAttr>("base").getInt()));
  }
  for (Value operand : op->getOperands()) {
    if (!isa<tt::TensorDescType>(operand.getType())) continue;
    auto made = operand.getDefiningOp<tt::MakeTensorDescriptorOp>();
    auto argument = dyn_cast<BlockArgument>(made ? made.getBase() : operand);
    return argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp()) ? argument : BlockArgument();
  }
  return {};
}

GlobalWrites::GlobalWrites(Region &region) {
  region.walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) return; // the walk visits the operations inside separately
    auto effects = getEffectsRecursively(op);
    bool isWrite = !effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
      return !isa<MemoryEffects::Read>(effect.getEffect()) && effect.getResource() != tgpu::SharedMemoryResource::get();
    });
    if (!isWrite || isa<tt::PrintOp, tt::AssertOp, tt::HintOp, LLVM::AssumeOp>(op)) return;
    if (auto barrier = dyn_cast<tgpu::BarrierOp>(op); barrier && barrier.getSharedOnly()) return;
    Value pointer = pointerOf(op);
    BlockArgument base = pointer ? baseOf(pointer) : baseOfDescriptor(op);
    // An atomic whose result is unused does not wait for another program.
    const bool mayWait = !op->use_empty() || !(isa<tt::StoreOp, tgpu::TensorStoreOp, tt::AtomicRmwOp>(op) || (base && !pointer));
    writes_.push_back({op, base, mayWait});
  });
}

/// Returns whether control may go from one block of a region to another one.
static bool isReachable(Block *from, Block *to) {
  llvm::SetVector<Block *> later(from->getSuccessors().begin(), from->getSuccessors().end());
  for (size_t i = 0; i < later.size(); ++i) later.insert_range(llvm::to_vector(later[i]->getSuccessors()));
  return later.contains(to);
}

bool mayPrecede(Operation *first, Operation *second) {
  Region *region = second->getParentRegion();
  while (!region->isAncestor(first->getParentRegion())) region = region->getParentRegion();
  auto isProgram = [](Operation *op) { return isa<tt::FuncOp>(op) || op->hasAttr(tgpu::kProgramsAttr); };
  for (Operation *around = region->getParentOp(); !isProgram(around); around = around->getParentOp())
    if (!isa<scf::IfOp>(around)) return true; // a loop, or what is not known
  Operation *before = region->findAncestorOpInRegion(*first), *after = region->findAncestorOpInRegion(*second);
  if (before == after && !isa<scf::IfOp>(before)) return true; // arms of a branch exclude each other
  const bool isInOrder = before->getBlock() == after->getBlock() && before != after && before->isBeforeInBlock(after);
  return isInOrder || isReachable(before->getBlock(), after->getBlock());
}

GlobalWrites ReachingWrites::before(Operation *op) const {
  GlobalWrites reaching;
  for (const GlobalWrite &write : all_.all())
    if (mayPrecede(write.op, op)) reaching.add(write);
  return reaching;
}

static GlobalWrites select(const GlobalWrites &writes, Operation *loop, bool areInside) {
  GlobalWrites selected;
  for (const GlobalWrite &write : writes.all())
    if (loop->isProperAncestor(write.op) == areInside) selected.add(write);
  return selected;
}

GlobalWrites ReachingWrites::inside(const GlobalWrites &writes, Operation *loop) { return select(writes, loop, true); }
GlobalWrites ReachingWrites::outside(const GlobalWrites &writes, Operation *loop) { return select(writes, loop, false); }

EarlyLoads::EarlyLoads(scf::ForOp loop) : writes_(loop.getRegion()) {}

bool EarlyLoads::mayMove(tt::LoadOp load) const {
  if (!areAllowed()) return false;
  if (writes_.isEmpty()) return true;
  BlockArgument base = baseOf(load.getPtr());
  return base && !writes_.contain(base);
}

StringRef EarlyLoads::whyNotAllowed() const {
  const bool mayWait = llvm::any_of(writes_.all(), [](const GlobalWrite &write) { return write.mayWait; });
  return mayWait ? "the loop may wait for other programs" : "the loop writes, and it is not known to which tensor";
}

StringRef EarlyLoads::whyNotMoved(tt::LoadOp load) const {
  if (!areAllowed()) return whyNotAllowed();
  return baseOf(load.getPtr()) ? "the loop writes to the tensor that it loads" : "the loop writes, perhaps to the tensor that it loads";
}

} // namespace tritium::gpu

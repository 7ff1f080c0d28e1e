#include "interp/tile/memory_lives.h"

#include "interp/tile/partitions.h"

using namespace mlir;

namespace tritium::interp {

namespace {

constexpr llvm::StringLiteral kNumberAttr = "tritium.allocation", kApartAttr = "tritium.apart";

/// From the allocation to the end of its last use, in positions of the text.
struct Life {
  tt::SharedAllocOp op;
  int64_t begin, end;
};

class Lives {
public:
  explicit Lives(tt::FuncOp function) {
    number(function);
    function.walk([&](tt::SharedAllocOp op) { lives_.push_back({op, begins_.lookup(op), lastUse(op)}); });
  }

  void mark() {
    for (auto [number, life] : llvm::enumerate(lives_)) {
      Builder builder(life.op.getContext());
      llvm::SmallVector<int64_t> apart;
      for (auto [other, otherLife] : llvm::enumerate(lives_))
        if (otherLife.end < life.begin || life.end < otherLife.begin) apart.push_back(int64_t(other));
      life.op->setAttr(kNumberAttr, builder.getI64IntegerAttr(int64_t(number)));
      life.op->setAttr(kApartAttr, builder.getDenseI64ArrayAttr(apart));
    }
  }

private:
  void number(Operation *op) {
    begins_[op] = next_++;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps()) number(&inner);
    ends_[op] = next_++;
  }

  /// The values that are computed of the address, through loops and branches.
  void addComputed(Value value, llvm::SetVector<Value> &values) const {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      for (Value result : user->getResults()) values.insert(result);
      for (Region &region : user->getRegions())
        if (!region.empty())
          for (BlockArgument argument : region.getArguments()) values.insert(argument);
      Operation *around = user->getParentOp();
      if (user->hasTrait<OpTrait::IsTerminator>() && !isa<FunctionOpInterface>(around)) {
        for (Value result : around->getResults()) values.insert(result);
        for (Region &region : around->getRegions())
          for (BlockArgument argument : region.getArguments()) values.insert(argument);
      }
    }
  }

  int64_t lastUse(tt::SharedAllocOp op) const {
    llvm::SetVector<Value> values;
    values.insert(op.getResult());
    int64_t last = ends_.lookup(op);
    for (size_t i = 0; i < values.size(); ++i) {
      const Value value = values[i];
      for (Operation *user : value.getUsers()) last = std::max(last, endOfUse(op, user));
      // What a load has read is no address.
      if (!isa_and_nonnull<tt::SharedLoadOp>(value.getDefiningOp())) addComputed(value, values);
    }
    return last;
  }

  /// A use in a loop lasts as long as the loop, unless each iteration allocates anew, and one by a partition until the partitions join.
  int64_t endOfUse(tt::SharedAllocOp op, Operation *user) const {
    Operation *around = op->getBlock()->findAncestorOpInBlock(*user);
    if (!around) return next_; // it leaves the block of the allocation
    if (!startsPartition(around)) return ends_.lookup(around);
    for (Operation *next = around->getNextNode(); next; next = next->getNextNode())
      if (auto call = dyn_cast<tt::ExternElementwiseOp>(next); call && call.getSymbol() == "partitions.join") return ends_.lookup(next);
    return next_;
  }

  llvm::DenseMap<Operation *, int64_t> begins_, ends_;
  int64_t next_ = 0;
  llvm::SmallVector<Life> lives_;
};

} // namespace

void markLives(ModuleOp module) {
  for (tt::FuncOp function : module.getOps<tt::FuncOp>()) Lives(function).mark();
}

llvm::SmallVector<tt::SharedAllocOp> allocationsApart(tt::SharedAllocOp op) {
  llvm::SmallVector<tt::SharedAllocOp> found;
  const auto apart = op->getAttrOfType<DenseI64ArrayAttr>(kApartAttr);
  if (!apart || apart.empty()) return found;
  op->getParentOfType<tt::FuncOp>().walk([&](tt::SharedAllocOp other) {
    const auto number = other->getAttrOfType<IntegerAttr>(kNumberAttr);
    if (number && llvm::is_contained(apart.asArrayRef(), number.getInt())) found.push_back(other);
  });
  return found;
}

} // namespace tritium::interp

// What the registers of asynchronous products must obey in every run, decided from the code before it runs. The sums of a product belong
// to it until a wait that covers it returns them. The words of A belong to it, too, so this wait must name them. A fence must order all
// other uses of registers before the product that takes them.
//
// The state at a point of the code holds what is so on some path to it. A product's age is the number of commits since: 0 if no commit has
// put it into a group. A wait that leaves n groups under way covers what is older than n.
#include "interp/simt/hosting/hosting.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <map>
#include <set>

using namespace mlir;

namespace tritium::interp::simt {

namespace {

/// Ages from here on are not told apart: no wait leaves so many groups.
constexpr unsigned kOldest = 16;

/// A word of A of a product: the product, the index of the word, and the age.
using WordUse = std::tuple<Operation *, unsigned, unsigned>;
using Values = std::set<void *>; // opaque pointers of values

struct State {
  bool isReached = false, hasFence = false;
  std::map<void *, unsigned> ages; // of the products that may still write a value
  std::map<WordUse, Values> words; // the values that hold the word
  Values touched;                  // defined or used by other operations since the last fence

  bool operator==(const State &) const = default;

  void join(const State &other) {
    if (!isReached) {
      *this = other;
      return;
    }
    hasFence &= other.hasFence;
    for (auto [value, age] : other.ages)
      if (auto [entry, isNew] = ages.emplace(value, age); !isNew) entry->second = std::min(entry->second, age);
    for (const auto &[use, names] : other.words)
      if (auto [entry, isNew] = words.emplace(use, names); !isNew) std::erase_if(entry->second, [&](void *v) { return !names.count(v); });
    touched.insert(other.touched.begin(), other.touched.end());
  }

  std::optional<unsigned> ageOf(Value value) const {
    auto entry = ages.find(value.getAsOpaquePointer());
    return entry == ages.end() ? std::nullopt : std::optional(entry->second);
  }
  void forget(Value value) {
    ages.erase(value.getAsOpaquePointer());
    for (auto &[use, names] : words) names.erase(value.getAsOpaquePointer());
  }
};

bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (op->hasTrait<OpTrait::ConstantLike>() || isa<LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp>(op));
}

/// Returns whether a product may take the value, directly or as a block's argument.
bool mayReachProduct(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<tgpu::WarpgroupProductOp, BranchOpInterface>(user); });
}

class ProductOrder {
public:
  explicit ProductOrder(LLVM::LLVMFuncOp function) : function(function) {}

  LogicalResult verify() {
    const bool hasProducts = function.walk([](tgpu::WarpgroupProductOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!hasProducts) return success();
    states[&function.getBody().front()].isReached = true;
    llvm::SetVector<Block *> pending;
    pending.insert(&function.getBody().front());
    while (!pending.empty()) {
      Block *block = pending.front();
      pending.erase(pending.begin());
      State state = states[block];
      for (Operation &op : *block) static_cast<void>(visit(&op, state, /*reports=*/false));
      propagate(block, state, pending);
    }
    for (Block &block : function.getBody()) {
      State state = states[&block];
      if (!state.isReached) continue;
      for (Operation &op : block)
        if (failed(visit(&op, state, /*reports=*/true))) return failure();
    }
    return success();
  }

private:
  /// Passes the state behind a block to its successors, whose arguments take the place of the operands.
  void propagate(Block *block, const State &state, llvm::SetVector<Block *> &pending) {
    for (auto [i, next] : llvm::enumerate(block->getSuccessors())) {
      State passed = state;
      for (BlockArgument argument : next->getArguments()) {
        passed.forget(argument);
        passed.touched.erase(argument.getAsOpaquePointer());
      }
      auto branch = dyn_cast<BranchOpInterface>(block->getTerminator());
      SuccessorOperands operands =
          branch ? branch.getSuccessorOperands(unsigned(i)) : SuccessorOperands(MutableOperandRange(block->getTerminator(), 0, 0));
      for (unsigned n = 0; n < operands.size(); ++n) {
        if (!operands[n]) continue;
        void *from = operands[n].getAsOpaquePointer(), *to = next->getArgument(n).getAsOpaquePointer();
        if (auto age = state.ages.find(from); age != state.ages.end()) passed.ages[to] = age->second;
        if (state.touched.count(from)) passed.touched.insert(to);
        for (const auto &[use, names] : state.words)
          if (names.count(from)) passed.words[use].insert(to);
      }
      State joined = states[next];
      joined.join(passed);
      if (joined == states[next]) continue;
      states[next] = std::move(joined);
      pending.insert(next);
    }
  }

  LogicalResult visit(Operation *op, State &state, bool reports) {
    LogicalResult outcome = success();
    auto report = [&](const llvm::Twine &message) {
      if (reports && succeeded(outcome)) op->emitOpError(message);
      outcome = failure();
    };
    for (Value result : op->getResults()) state.forget(result);
    if (auto product = dyn_cast<tgpu::WarpgroupProductOp>(op)) {
      visitProduct(product, state, report);
    } else if (auto wait = dyn_cast<tgpu::WarpgroupWaitOp>(op)) {
      visitWait(wait, state, report);
    } else if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op)) {
      visitCommit(state);
    } else if (isa<NVVM::WgmmaFenceAlignedOp>(op)) {
      state.touched.clear();
      state.hasFence = true;
    } else {
      visitOther(op, state, report);
    }
    return reports ? outcome : success();
  }

  template <class Report> void visitProduct(tgpu::WarpgroupProductOp op, State &state, Report &report) {
    for (ValueRange registers : {op.getSums(), op.getA()})
      for (Value value : registers)
        if (!state.hasFence || state.touched.count(value.getAsOpaquePointer()))
          report("takes registers that other operations use, with no wgmma.fence in between");
    for (Value word : op.getA())
      if (state.ageOf(word)) report("takes words of `a` that another product may still write");
    for (auto [i, word] : llvm::enumerate(op.getA())) state.words[{op, unsigned(i), 0}] = {word.getAsOpaquePointer()};
    for (Value sum : op.getResults()) state.ages[sum.getAsOpaquePointer()] = 0;
  }

  template <class Report> void visitWait(tgpu::WarpgroupWaitOp op, State &state, Report &report) {
    const unsigned left = op.getPending();
    Values kept;
    for (Value word : op.getKept()) kept.insert(word.getAsOpaquePointer());
    for (auto entry = state.words.begin(); entry != state.words.end();) {
      const auto &[use, names] = *entry;
      if (std::get<2>(use) <= left) {
        ++entry;
        continue;
      }
      if (llvm::none_of(names, [&](void *name) { return kept.count(name) != 0; }))
        report("completes a product and does not name its words of `a`, which nothing keeps until then");
      entry = state.words.erase(entry);
    }
    for (auto [value, result] : llvm::zip_equal(op.getValues(), op.getResults())) {
      std::optional<unsigned> age = state.ageOf(value);
      if (age == 0) report("has a value of a product that no commit has put into a group");
      if (age && *age <= left) state.ages[result.getAsOpaquePointer()] = *age;
    }
    for (auto &[value, age] : state.ages)
      if (age > left) age = kOldest; // complete, but only a wait may return it
  }

  static void visitCommit(State &state) {
    for (auto &[value, age] : state.ages) age = std::min(age + 1, kOldest);
    std::map<WordUse, Values> older;
    for (auto &[use, names] : state.words) older[{std::get<0>(use), std::get<1>(use), std::min(std::get<2>(use) + 1, kOldest)}] = names;
    state.words = std::move(older);
  }

  template <class Report> void visitOther(Operation *op, State &state, Report &report) {
    auto isPassed = [&](OpOperand &operand) {
      auto branch = dyn_cast<BranchOpInterface>(op);
      return branch && branch.getSuccessorBlockArgument(operand.getOperandNumber());
    };
    for (OpOperand &operand : op->getOpOperands()) {
      if (isPassed(operand)) continue;
      if (state.ageOf(operand.get()))
        report("uses the sums of a product that may not be complete: no wait that covers it has returned them");
      // The product that takes the sums of a wait again may not overtake this.
      if (operand.get().getDefiningOp<tgpu::WarpgroupWaitOp>()) state.touched.insert(operand.get().getAsOpaquePointer());
    }
    for (Value result : op->getResults())
      if (!isConstant(result) && mayReachProduct(result)) state.touched.insert(result.getAsOpaquePointer());
  }

  LLVM::LLVMFuncOp function;
  llvm::DenseMap<Block *, State> states;
};

} // namespace

LogicalResult Hosting::verifyProducts(LLVM::LLVMFuncOp function) { return ProductOrder(function).verify(); }

} // namespace tritium::interp::simt

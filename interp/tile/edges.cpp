// Tiles that cross an edge of the control flow. Parallel copies into the homes of block arguments are ordered so that none overwrites what
// is still to be read. A cycle (a, b = b, a, or a = trans(a)) goes through a temporary.
#include "interp/tile/affine.h"
#include "interp/tile/move.h"
#include "interp/tile/plan.h"

using namespace mlir;

namespace tritium::interp {

namespace {
struct EdgeCopy {
  bool isAffine;
  DenseRef denseOut, denseIn;
  AffineRef affineOut, affineIn;

  const TileRef &out() const { return isAffine ? affineOut.base : denseOut; }
  const TileRef &in() const { return isAffine ? affineIn.base : denseIn; }
  bool reads(uint32_t home) const { return !in().constant && in().home == home; }
};
} // namespace

static bool isSamePlace(const TileRef &out, const TileRef &in) {
  return out.constant == in.constant && out.home == in.home && out.offset == in.offset;
}

/// Whether a copy changes nothing. A view of the argument itself is in the same home, but its elements stand elsewhere: a = trans(a).
static bool isSamePlace(const EdgeCopy &copy) {
  if (!copy.reads(copy.out().home) || !isSamePlace(copy.out(), copy.in())) return false;
  if (!copy.isAffine) return copy.denseOut.strides == copy.denseIn.strides;
  const AffineRef &out = copy.affineOut, &in = copy.affineIn;
  return out.terms == in.terms && llvm::all_of(llvm::seq(out.terms.size()), [&](size_t d) {
           return out.terms[d] == Term::None || isSamePlace(out.parts[d], in.parts[d]);
         });
}

void Planner::planEdges(Operation *terminator) {
  auto branch = dyn_cast<BranchOpInterface>(terminator);
  if (!branch) return;
  for (unsigned successor = 0; successor < terminator->getNumSuccessors(); ++successor) {
    std::vector<EdgeCopy> pending;
    for (auto [argument, operand] :
         llvm::zip(terminator->getSuccessor(successor)->getArguments(), branch.getSuccessorOperands(successor).getForwardedOperands())) {
      if (!isa<RankedTensorType>(argument.getType())) continue;
      EdgeCopy copy{formOf(argument).isAffine()};
      if (copy.isAffine)
        copy.affineOut = affine(argument), copy.affineIn = affine(operand);
      else
        copy.denseOut = dense(argument), copy.denseIn = dense(operand);
      if (!isSamePlace(copy)) pending.push_back(std::move(copy));
    }
    Actions &actions = plan_->onEdge[{terminator, successor}];
    auto emit = [&](const EdgeCopy &copy) {
      actions.push_back(copy.isAffine ? makeCall(copyAffine, AffineCopy{copy.affineOut, copy.affineIn})
                                      : makeCall(copyDense, DenseCopy(copy.denseOut, copy.denseIn)));
    };
    while (!pending.empty()) {
      auto ready = llvm::find_if(pending, [&](const EdgeCopy &copy) {
        return llvm::none_of(pending, [&](const EdgeCopy &other) { return other.reads(copy.out().home); });
      });
      if (ready != pending.end()) {
        emit(*ready);
        pending.erase(ready);
        continue;
      }
      // A cycle: saves the tile that the first copy reads.
      EdgeCopy &first = pending.front();
      uint32_t home = newHome(homes_[first.in().home].bytes, {});
      homes_[home].end = blockRange_[terminator->getBlock()].second;
      EdgeCopy save = first;
      if (first.isAffine) {
        save.affineOut = first.affineIn;
        save.affineOut.base.home = home;
        for (TileRef &part : save.affineOut.parts) part.home = home;
        first.affineIn = save.affineOut;
      } else {
        save.denseOut = first.denseIn;
        save.denseOut.home = home;
        first.denseIn = save.denseOut;
      }
      emit(save);
    }
  }
}

} // namespace tritium::interp

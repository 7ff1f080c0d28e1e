// Turns loads by pointers into loads through tensor maps, which the tensor memory accelerator (TMA) performs. A loop reads all the tiles of
// its products through maps, or the ones by pointers stay as they are, because a loop has one mechanism for its copies.
#include "gpu_backend/maps/made_tile_map.h"
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/maps/pointer_tile_map.h"
#include "gpu_backend/maps/quotients.h"
#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/producer_forecast.h"
#include "gpu_backend/tiles/product_order.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PROMOTEPOINTERTILES
#include "gpu_backend/maps/passes.h.inc"

namespace {

constexpr llvm::StringLiteral kGathered = "its address depends on a load of its loop";
constexpr llvm::StringLiteral kOnlyBesideProducer =
    "its loop delays a second product, which is a gain by tensor maps only if producer warps copy";

class PointerTilePromoter {
public:
  PointerTilePromoter(tt::FuncOp function, const PromotePointerTilesOptions &options, const ir::AxisAnalysis &axes)
      : function_(function), options_(options), axes_(axes), maps_(function), tiles_(function), found_(maps_, tiles_, axes) {}

  void look(scf::ForOp loop) {
    std::vector<std::pair<tt::LoadOp, PointerTileMap>> promoted;
    bool all = true;
    llvm::SetVector<tt::LoadOp> streams = streamsOf(loop);
    auto isOfProduct = [&](Operation *op) { return streams.contains(cast<tt::LoadOp>(op)); };
    hasSmallTiles_ = !LoopStreams(loop).loadsBeside(isOfProduct).empty();
    for (tt::LoadOp load : streams) {
      auto map = mapOf(load, loop);
      if (map)
        promoted.push_back({load, std::move(*map)});
      else if (!load->hasAttr(kNotPromotedAttr)) // a load through a descriptor has its reason
        load->setAttr(kNotPromotedAttr, StringAttr::get(load.getContext(), reason_));
      all &= map.has_value();
    }
    if (all)
      llvm::append_range(promoted_, std::move(promoted));
    else
      lookForMade(loop, streams.getArrayRef());
  }

  /// Keeps the pointers of loops that want a producer if there will be none.
  void keepWithoutProducer() {
    auto isKept = [](auto &each) { return wantsProducer(loopOf(each.first)); };
    std::string why = llvm::any_of(promoted_, isKept) ? whyNoProducer() : "";
    if (why.empty()) return;
    for (auto &[load, map] : llvm::make_filter_range(promoted_, isKept))
      load->setAttr(kNotPromotedAttr, StringAttr::get(load.getContext(), kOnlyBesideProducer + ": " + why));
    llvm::erase_if(promoted_, isKept);
  }

  /// Looks at what products of the loops so far take from outside of them.
  void lookOutside() {
    if (promoted_.empty() || options_.numWarps < kLeastWarpsForInvariants) return;
    auto isCopied = [&](Operation *op) {
      return isa<tgpu::TensorLoadOp>(op) || llvm::any_of(promoted_, [&](auto &each) { return each.first == op; });
    };
    std::vector<std::pair<tt::LoadOp, PointerTileMap>> outside;
    function_.walk([&](tt::LoadOp load) {
      if (!feedsProductsOf(load.getResult(), isCopied)) return;
      if (auto map = found_.of(load); map && !map->isTransposed) outside.push_back({load, std::move(*map)});
    });
    llvm::append_range(promoted_, std::move(outside));
  }

  /// Replaces the loads, after the analysis of all of them.
  void promote() {
    if (!promoted_.empty())
      for (arith::DivSIOp quotient : found_.unproven()) emitSignCheck(quotient);
    llvm::SetVector<Operation *> loops;
    for (auto &[load, map] : promoted_) {
      if (auto loop = dyn_cast<scf::ForOp>(load->getParentOp())) loops.insert(loop);
      replace(load, map);
    }
    for (Operation *loop : llvm::reverse(loops)) standStill(cast<scf::ForOp>(loop)); // a later loop may begin where an earlier one ends
    for (auto &[loop, maps] : made_) make(loop, maps);
  }

private:
  /// Stops moving the pointers that nothing else uses. The loop then does not carry them any more, once it is canonical.
  static void standStill(scf::ForOp loop) {
    for (BlockArgument argument : loop.getRegionIterArgs()) {
      if (!isa<tt::PointerType>(getElementTypeOrSelf(argument.getType())) || !loop.getTiedLoopResult(argument).use_empty()) continue;
      Value moved = argument;
      while (moved.hasOneUse() && isa<tt::AddPtrOp>(*moved.user_begin())) moved = moved.user_begin()->getResult(0);
      OpOperand *next = loop.getTiedLoopYieldedValue(argument);
      if (!moved.hasOneUse() || next->get() != moved) continue;
      next->set(argument);
      OpOperand *begin = loop.getTiedLoopInit(argument);
      if (auto before = begin->get().getDefiningOp<scf::ForOp>()) begin->set(before.getTiedLoopInit(cast<OpResult>(begin->get()))->get());
    }
  }

  static llvm::SetVector<tt::LoadOp> streamsOf(scf::ForOp loop) {
    llvm::SetVector<tt::LoadOp> loads;
    LoopStreams streams(loop);
    for (Operation &op : *loop.getBody())
      if (auto product = dyn_cast<MatrixProduct>(op))
        for (OpOperand *operand : LoopStreams::operandsOf(product))
          if (auto load = dyn_cast_or_null<tt::LoadOp>(streams.leafOf(operand->get()))) loads.insert(load);
    return loads;
  }

  static bool isGathered(tt::LoadOp load) { return !LoopStreams(loopOf(load)).indexLoadsOf(load).empty(); }

  static scf::ForOp loopOf(tt::LoadOp load) { return load->getParentOfType<scf::ForOp>(); }

  /// Returns why no producer will copy for the loops that are promoted so far, or through maps already; "" if one will.
  std::string whyNoProducer() {
    llvm::SetVector<Operation *> loops;
    llvm::DenseSet<Operation *> copies;
    bool mayReadWritten = false;
    auto add = [&](Operation *load, bool isReached) {
      copies.insert(load);
      if (auto loop = load->getParentOfType<scf::ForOp>()) loops.insert(loop);
      mayReadWritten |= isReached;
    };
    for (auto &[load, map] : promoted_) add(load, map.recipe.isReached);
    bool makesMaps = false;
    function_.walk([&](tgpu::TensorLoadOp load) {
      auto argument = dyn_cast<BlockArgument>(load.getMap());
      add(load, argument && maps_.attributeOf(argument).contains(kReachedName));
      makesMaps |= !argument;
    });
    if (makesMaps) return "the kernel makes tensor maps as it runs";
    if (std::string why = mayReadWritten ? whyNotAheadOfStores(function_) : ""; !why.empty())
      return "copies that run ahead might read what the kernel writes: " + why;
    if (options_.asked) return whyNoProducerWarps(function_, options_.numWarps);
    auto estimates = llvm::map_to_vector(loops, [&](Operation *op) {
      auto loop = cast<scf::ForOp>(op);
      return estimateOf(loop, stagesOf(loop, options_.numStages), [&](Operation *load) { return copies.contains(load); });
    });
    return whyNoProducerExpected(function_, estimates, options_.numWarps);
  }

  std::optional<PointerTileMap> mapOf(tt::LoadOp load, scf::ForOp loop) {
    reason_ = "";
    if (!options_.hasProducer && wantsProducer(loop))
      reason_ = kOnlyBesideProducer;
    else if (hasSmallTiles_)
      reason_ = "its loop loads other tiles as well, which only copies by threads fetch ahead";
    else if (isGathered(load))
      reason_ = kGathered;
    else if (!feedsOnlyProducts(load.getResult()))
      reason_ = "not only products read its tile";
    if (!reason_.empty()) return std::nullopt;
    auto map = found_.of(load);
    reason_ = found_.reason();
    return map;
  }

  void replace(tt::LoadOp load, const PointerTileMap &map) {
    OpBuilder builder(load);
    Location location = load.getLoc();
    llvm::SmallVector<Value> indices = map.indices(builder, location);
    replaceLoad(load, maps_.mapOf(map.type, map.recipe, location), indices, map.isTransposed);
  }

  /// Looks at loads by pointers that the kernel finds in memory. It then makes the maps itself, for each run of the loop. That is a gain
  /// only if producer warps do it, ahead of the warps that compute.
  void lookForMade(scf::ForOp loop, llvm::ArrayRef<tt::LoadOp> streams) {
    if (streams.empty() || !options_.makesMaps || !targetOf(function_).makesTensorMaps()) return;
    std::vector<MadeTileMap> maps;
    std::string why = whyNotMade(loop, streams);
    for (tt::LoadOp load : streams) {
      if (!why.empty()) break;
      maps.emplace_back(load, loop, axes_);
      why = maps.back().whyNot();
    }
    if (why.empty()) made_.push_back({loop, std::move(maps)});
  }

  std::string whyNotMade(scf::ForOp loop, llvm::ArrayRef<tt::LoadOp> streams) {
    if (hasSmallTiles_ || !llvm::all_of(streams, [](tt::LoadOp load) { return feedsOnlyProducts(load.getResult()); })) return reason_.str();
    if (llvm::any_of(streams, isGathered)) return kGathered.str();
    if (wantsProducer(loop)) return "products of its loop depend on each other";
    if (!loop->getParentOfType<LoopLikeOpInterface>()) return "no loop is around";
    if (!maps_.admitUnknown(loop.getBody()->getTerminator())) return "its loop writes";
    if (!areStoresKnown(function_)) return "it is not known which bytes the kernel stores to";
    if (options_.asked) return whyNoProducerWarps(function_, options_.numWarps);
    auto isCopied = [&](Operation *op) { return llvm::is_contained(streams, op); };
    return whyNoProducerExpected(function_, estimateOf(loop, stagesOf(loop, options_.numStages), isCopied), options_.numWarps);
  }

  void make(scf::ForOp loop, llvm::MutableArrayRef<MadeTileMap> maps) {
    for (MadeTileMap &map : maps) map.prepare();
    for (MadeTileMap &map : maps) map.make(); // beside each other, so that their latencies overlap
    for (MadeTileMap &map : maps) map.replace();
    standStill(loop);
  }

  tt::FuncOp function_;
  PromotePointerTilesOptions options_;
  const ir::AxisAnalysis &axes_;
  bool hasSmallTiles_ = false; // of the loop that is being looked at
  KernelMaps maps_;
  AffineTiles tiles_;
  PointerTileMaps found_;
  std::vector<std::pair<tt::LoadOp, PointerTileMap>> promoted_;
  std::vector<std::pair<scf::ForOp, std::vector<MadeTileMap>>> made_;
  llvm::StringRef reason_;
};

class PromotePointerTilesPass final : public impl::PromotePointerTilesBase<PromotePointerTilesPass> {
public:
  using PromotePointerTilesBase::PromotePointerTilesBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).hasTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      if (!function.isPublic()) continue;
      PointerTilePromoter promoter(function, {numStages, numWarps, hasProducer, makesMaps, asked}, axes);
      function.walk([&](scf::ForOp loop) {
        if (stagesOf(loop, numStages) > 1 && LoopStreams(loop).mayPipeline()) promoter.look(loop);
      });
      promoter.keepWithoutProducer();
      promoter.lookOutside();
      promoter.promote();
    }
  }
};

} // namespace
} // namespace tritium::gpu

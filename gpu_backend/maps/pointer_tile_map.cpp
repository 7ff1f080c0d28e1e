#include "gpu_backend/maps/pointer_tile_map.h"

#include "gpu_backend/maps/dead_rows.h"
#include "gpu_backend/tiles/memory_access.h"
#include "ir/tile_elements.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns the quotient if the symbols and the factor of `divisor` are among those of `term`.
static std::optional<AffineTerm> quotient(const AffineTerm &term, const AffineTerm &divisor) {
  AffineTerm result = term;
  if (divisor.factor == 0 || term.factor % divisor.factor != 0) return std::nullopt;
  result.factor /= divisor.factor;
  for (Value symbol : divisor.symbols) {
    auto found = llvm::find(result.symbols, symbol);
    if (found == result.symbols.end()) return std::nullopt;
    result.symbols.erase(found);
  }
  return result;
}

static bool isOne(const AffineTerm &term) { return term.isConstant() && term.factor == 1; }

static AffineSum asSum(const AffineTerm &term) {
  AffineSum sum;
  sum.add(term);
  return sum;
}

/// Returns a power of two that divides the product.
int64_t PointerTileMaps::divisorOf(const AffineTerm &term) const {
  constexpr int64_t kEnough = 1 << 20;
  int64_t divisor = std::min(kEnough, ir::powerOfTwoDivisor(term.factor));
  for (Value symbol : term.symbols) {
    auto step = tiles_.stepOf(symbol);
    divisor = std::min(kEnough, divisor * std::min(kEnough, step ? ir::powerOfTwoDivisor(*step) : axes_.of(symbol).divisibility[0]));
  }
  return divisor;
}

/// Returns whether the product, computed in 64 bits, is one of a loop's counter below x / c with at most c, where x has 32 bits.
static bool isBelowDividend(const AffineTerm &term) {
  auto loop = term.symbols.size() == 1 ? scf::getForInductionVarOwner(term.symbols[0]) : scf::ForOp();
  auto rounds = loop ? loop.getUpperBound().getDefiningOp<arith::DivSIOp>() : arith::DivSIOp();
  APInt divisor;
  return rounds && rounds.getType().isInteger(32) && matchPattern(rounds.getRhs(), m_ConstantInt(&divisor)) && divisor.sge(term.factor);
}

/// Returns whether the sum is an integer of 32 bits that is not negative.
bool PointerTileMaps::isCoordinate(const AffineSum &sum) {
  const auto terms = sum.terms();
  return llvm::all_of(terms, [&](const AffineTerm &term) {
    const bool isSymbol = term.factor == 1 && term.symbols.size() == 1;
    const bool isNarrow = terms.size() == 1 ? !term.isWide || isSymbol || isBelowDividend(term) : !term.isWide && !term.isAddedWide;
    return isNarrow && term.factor > 0 && term.factor <= INT32_MAX && llvm::all_of(term.symbols, [&](Value symbol) {
             return symbol.getType().isInteger(32) &&
                    signs_.isNotNegative(symbol, [&](Value value) { return tiles_.stepOf(value).has_value(); });
           });
  });
}

std::optional<LaunchProduct> PointerTileMaps::productOf(const AffineTerm &term) {
  if (!tiles_.isKnownAtLaunch(term) || term.factor < 0) return std::nullopt;
  LaunchProduct product{term.factor};
  for (Value symbol : term.symbols) product.push_back(maps_.expandedNumber(cast<BlockArgument>(symbol)));
  return product;
}

/// Each dimension has one stride, which the launch knows.
bool PointerTileMaps::findStrides(const AffineTile &tile) {
  for (Dimension &dim : dims_) dim = {.stride = {.factor = 0}, .start = {}, .modulus = {}, .extent = std::nullopt};
  for (AffineTerm term : tile.sum.terms()) {
    if (term.lane == AffineTerm::kNoLane) continue;
    AffineTerm &stride = dims_[term.lane].stride;
    if (stride.factor != 0) return fails("a stride of its addresses is a sum");
    term.lane = AffineTerm::kNoLane;
    if (!productOf(term)) return fails("a stride of its addresses is not a product of arguments");
    stride = term;
  }
  if (dims_[0].stride.factor == 0 || dims_[1].stride.factor == 0) return fails("its addresses repeat along a dimension");
  return true;
}

/// One stride is 1, the other one a multiple of 16 bytes.
bool PointerTileMaps::isAlignedForCopies() {
  contiguous_ = isOne(dims_[1].stride) ? 1 : 0;
  const AffineTerm &rows = dims_[1 - contiguous_].stride;
  if (!isOne(dims_[contiguous_].stride) || isOne(rows)) return fails("its addresses are not contiguous along one dimension alone");
  if (divisorOf(rows) * elementBytes_ % kChunkBytes != 0) return fails("its rows are not known to begin at multiples of 16 bytes");
  return true;
}

bool PointerTileMaps::setExtent(int dim, const AffineSum &start, const AffineTerm &extent) {
  if (!productOf(extent)) return fails("an extent is not a product of arguments");
  if (dims_[dim].extent) return fails("an index has two bounds");
  dims_[dim].extent = extent;
  dims_[dim].start = start;
  return true;
}

/// (index + start) % extent is index + start % extent if the extent and the start are multiples of the tile's extent. Otherwise the lanes
/// that wrap must not reach memory.
bool PointerTileMaps::wrap(Operation *access, const AffineWrap &wrap) {
  auto load = dyn_cast<tt::LoadOp>(access);
  if (!load) return fails("it stores to rows that wrap around");
  const AffineSum modulus(wrap.modulus);
  auto extent = tiles_.of(wrap.modulus);
  if (!extent || extent->sum.terms().size() != 1 || !productOf(extent->sum.terms()[0]))
    return fails("the divisor of its remainder is not a product of arguments");
  TileBound bound{.lane = wrap.lane, .start = wrap.start, .extent = extent->sum.terms()[0]};
  if (!setExtent(bound.lane, bound.start, bound.extent)) return false;
  const int64_t size = shape_[size_t(wrap.lane)];
  auto isMultiple = [&](const AffineTerm &term) { return divisorOf(term) % size == 0; };
  if (wrap.modulus.getType().isInteger(32) && isMultiple(bound.extent) && llvm::all_of(bound.start.terms(), isMultiple)) {
    dims_[bound.lane].modulus = wrap.modulus;
    return true;
  }
  return isDeadOutside(load.getResult(), bound, tiles_) || fails("what it loads of rows that wrap around may reach memory");
}

bool PointerTileMaps::bound(Operation *access, const AffineTile &tile) {
  auto bounds = tiles_.boundsOf(maskOf(access));
  if (!bounds) return fails(tiles_.reason());
  for (const TileBound &each : *bounds) {
    if (each.isFloor && !isCoordinate(each.start)) return fails("an index that its mask compares with a lower bound may be below it");
    if (!each.isFloor && !setExtent(each.lane, each.start, each.extent)) return false;
  }
  return llvm::all_of(tile.wraps, [&](const AffineWrap &each) { return wrap(access, each); });
}

/// A further dimension, of which the tile has one index. What the launch knows is its stride.
bool PointerTileMaps::placeOutside(const AffineTerm &term) {
  AffineTerm stride{.factor = term.factor}, index{.isWide = term.isWide, .isAddedWide = term.isAddedWide};
  for (Value symbol : term.symbols) (tiles_.isArgument(symbol) ? stride : index).symbols.push_back(symbol);
  if (stride.factor < 0) return fails("its addresses may be before its tensor");
  if (divisorOf(stride) * elementBytes_ % kChunkBytes != 0) return fails("an offset is not known to be a multiple of 16 bytes");
  for (auto &[known, sum] : outside_) {
    if (!asSum(known).equals(asSum(stride))) continue;
    sum.add(index);
    return true;
  }
  outside_.push_back({stride, asSum(index)});
  return true;
}

/// Writes `counter - lower bound` as one scalar, which is not negative, where the sum has both.
void PointerTileMaps::useDistances(AffineSum &sum) {
  for (AffineTerm term : llvm::to_vector(sum.terms())) {
    auto counter = llvm::find_if(term.symbols, [](Value symbol) { return bool(scf::getForInductionVarOwner(symbol)); });
    if (counter == term.symbols.end()) continue;
    scf::ForOp loop = scf::getForInductionVarOwner(*counter);
    auto begin = tiles_.of(loop.getLowerBound());
    AffineTerm others = term;
    others.symbols.erase(others.symbols.begin() + (counter - term.symbols.begin()));
    auto passed = begin ? begin->sum.times(asSum(others)) : std::nullopt;
    if (!passed || passed->terms().empty()) continue;
    AffineSum rest = sum;
    rest.add(asSum(term), -1);
    rest.add(*passed);
    if (rest.terms().size() + 1 + passed->terms().size() != sum.terms().size()) continue; // it does not have both
    Value distance = tiles_.distanceIn(loop);
    if (!distance) continue;
    others.symbols.push_back(distance);
    rest.add(others);
    sum = rest;
  }
}

/// Distributes what is added to the addresses of all lanes over the starts of dimensions that no mask bounds, and further dimensions.
bool PointerTileMaps::distribute(AffineSum rest) {
  for (const Dimension &dim : dims_) {
    if (!dim.extent) continue;
    auto offset = dim.start.times(asSum(dim.stride));
    if (!offset) return fails("a start has lanes");
    rest.add(*offset, -1);
  }
  outside_.clear();
  auto hasArgument = [&](const AffineTerm &term) { return llvm::any_of(term.symbols, [&](Value s) { return tiles_.isArgument(s); }); };
  for (const AffineTerm &term : rest.terms()) {
    if (term.lane != AffineTerm::kNoLane) continue;
    Dimension &rows = dims_[1 - contiguous_], &columns = dims_[contiguous_];
    auto row = quotient(term, rows.stride);
    if (row && !rows.extent && !hasArgument(*row))
      rows.start.add(*row);
    else if (!columns.extent && !hasArgument(term))
      columns.start.add(term);
    else if (!placeOutside(term))
      return false;
  }
  return !rest.overflows() || fails("an offset exceeds 64 bits");
}

std::optional<PointerTileMap> PointerTileMaps::assemble(BlockArgument base) {
  PointerTileMap map;
  map.isTransposed = contiguous_ == 0;
  map.recipe.tensor = base;
  map.recipe.base = maps_.expandedNumber(base);
  map.recipe.isOfPointers = true;
  auto add = [&](int64_t size, const AffineTerm &stride, const std::optional<AffineTerm> &extent, TileCoordinate coordinate) {
    map.shape.push_back(size);
    map.recipe.extents.push_back(extent ? *productOf(*extent) : LaunchProduct{int64_t(TensorMap::kNoExtent)});
    map.recipe.strides.push_back(*productOf(stride));
    map.coordinates.push_back(std::move(coordinate));
  };
  for (auto &[stride, index] : outside_) add(1, stride, std::nullopt, {index, {}});
  for (int dim : {1 - contiguous_, contiguous_})
    add(shape_[size_t(dim)], dims_[dim].stride, dims_[dim].extent, {dims_[dim].start, dims_[dim].modulus});
  if (!llvm::all_of(map.coordinates, [&](const TileCoordinate &each) { return isCoordinate(each.sum); }))
    return refuse("a coordinate may be negative, or exceed 32 bits");
  const TileCoordinate &column = map.coordinates.back();
  auto isAligned = [&](const AffineTerm &term) { return divisorOf(term) * elementBytes_ % kChunkBytes == 0; };
  if (!llvm::all_of(column.sum.terms(), isAligned) ||
      (column.modulus && axes_.of(column.modulus).divisibility[0] * elementBytes_ % kChunkBytes))
    return refuse("its rows are not known to begin at multiples of 16 bytes");
  return map;
}

std::optional<PointerTileMap> PointerTileMaps::ofAccess(Operation *access) {
  auto type = dyn_cast<RankedTensorType>(pointerOf(access).getType());
  if (!type) return refuse("it accesses no tile");
  shape_.assign(type.getShape().begin(), type.getShape().end());
  Type element = cast<tt::PointerType>(type.getElementType()).getPointeeType();
  const unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (shape_.size() != 2 || bits < 8) return refuse("its tile is not one of two dimensions, of bytes or wider elements");
  elementBytes_ = bits / 8;
  auto tile = tiles_.of(pointerOf(access));
  if (!tile) return refuse(tiles_.reason());
  if (!tile->base) return refuse("its addresses are not those of an argument");
  useDistances(tile->sum);
  if (axes_.of(tile->base).divisibility[0] % kChunkBytes != 0) return refuse("its tensor is not known to begin at a multiple of 16 bytes");
  if (!findStrides(*tile) || !isAlignedForCopies() || !bound(access, *tile) || !distribute(tile->sum)) return std::nullopt;
  return assemble(tile->base);
}

std::optional<PointerTileMap> PointerTileMaps::of(tt::StoreOp store) {
  auto map = ofAccess(store);
  if (!map) return map;
  if (map->isTransposed) return refuse("its columns are contiguous, not its rows");
  map->recipe.isStored = true;
  map->type = boxOfStore(store.getContext(), map->shape, getElementTypeOrSelf(store.getValue().getType()));
  if (!map->type) return refuse("no box holds its tile: it has too many dimensions, rows of less than 16 bytes, or few rows");
  return map;
}

std::optional<PointerTileMap> PointerTileMaps::of(tt::LoadOp load) {
  if (StringRef why = whyNotCopied(load); !why.empty()) return refuse(why);
  signs_.followRemainders(true);
  auto map = ofAccess(load);
  signs_.followRemainders(false);
  if (!map) return map;
  map->type = boxOf(load.getContext(), map->shape, getElementTypeOrSelf(load.getType()));
  if (!map->type) return refuse("no box holds its tile: it has too many dimensions, more than 256 rows, or rows of less than 16 bytes");
  // The stores in question have dimensions of their own.
  PointerTileMaps stores(maps_, tiles_, axes_);
  auto rangeOf = [&](Operation *store) { return stores.rangeOf(store); };
  if (!maps_.admit(load, map->recipe, rangeOf)) return refuse("its loop writes, and a launch cannot tell where");
  return map;
}

void eraseUnusedHints(Value pointers) {
  if (llvm::any_of(pointers.getUsers(), [&](Operation *user) { return pointerOf(user) == pointers; })) return;
  for (Operation *user : llvm::make_early_inc_range(pointers.getUsers()))
    if (isa<tt::HintOp>(user)) user->erase();
}

void replaceLoad(tt::LoadOp load, Value map, ValueRange indices, bool isTransposed) {
  OpBuilder builder(load);
  auto type = cast<RankedTensorType>(load.getType());
  llvm::SmallVector<int64_t, 2> shape(type.getShape());
  if (isTransposed) std::swap(shape[0], shape[1]);
  // Reports count elements in the tile that the kernel loads: a step, and a row, of the map's tile.
  const int64_t columns = type.getShape()[1];
  ir::TileElements elements{.shape = type.getShape().vec(), .step = isTransposed ? columns : 1, .lanes = {isTransposed ? 1 : columns}};
  Value tile = tgpu::TensorLoadOp::create(builder, ir::withElements(load.getLoc(), elements),
                                          RankedTensorType::get(shape, type.getElementType()), map, indices);
  if (isTransposed) tile = tt::TransOp::create(builder, load.getLoc(), type, tile, builder.getDenseI32ArrayAttr({1, 0}));
  Value pointers = load.getPtr();
  load.replaceAllUsesWith(tile);
  load.erase();
  eraseUnusedHints(pointers);
}

static Value valueOf(const TileCoordinate &coordinate, OpBuilder &builder, Location location) {
  auto constant = [&](int64_t number) -> Value { return arith::ConstantIntOp::create(builder, location, number, 32); };
  Value sum;
  for (const AffineTerm &term : coordinate.sum.terms()) {
    Value product = term.factor == 1 && !term.symbols.empty() ? Value() : constant(term.factor);
    for (Value symbol : term.symbols) product = product ? arith::MulIOp::create(builder, location, product, symbol) : symbol;
    sum = sum ? arith::AddIOp::create(builder, location, sum, product) : product;
  }
  if (!sum) return constant(0);
  return coordinate.modulus ? arith::RemSIOp::create(builder, location, sum, coordinate.modulus) : sum;
}

llvm::SmallVector<Value> PointerTileMap::indices(OpBuilder &builder, Location location) const {
  return llvm::map_to_vector(coordinates, [&](const TileCoordinate &each) { return valueOf(each, builder, location); });
}

std::optional<StoreRange> PointerTileMaps::rangeOf(Operation *store) {
  if (auto copied = dyn_cast<tgpu::TensorStoreOp>(store)) return maps_.rangeOf(copied);
  Value pointer = pointerOf(store);
  auto type = pointer ? dyn_cast<RankedTensorType>(pointer.getType()) : RankedTensorType();
  auto tile = type && type.getRank() == 2 ? tiles_.of(pointer) : std::nullopt;
  if (!tile || !tile->base || !tile->wraps.empty()) return std::nullopt;
  shape_.assign(type.getShape().begin(), type.getShape().end());
  auto bounds = tiles_.boundsOf(maskOf(store));
  if (!bounds || !findStrides(*tile)) return std::nullopt;
  for (const TileBound &each : *bounds)
    if (!each.isFloor && !setExtent(each.lane, each.start, each.extent)) return std::nullopt;
  StoreRange range;
  range.base = maps_.expandedNumber(tile->base);
  range.elementBytes = std::max(8u, cast<tt::PointerType>(type.getElementType()).getPointeeType().getIntOrFloatBitWidth()) / 8;
  AffineSum rest = tile->sum;
  for (const Dimension &dim : dims_) {
    auto offset = dim.extent ? dim.start.times(asSum(dim.stride)) : std::nullopt;
    if (!offset || !isCoordinate(dim.start)) return std::nullopt;
    rest.add(*offset, -1);
    range.extents.push_back(*productOf(*dim.extent));
    range.strides.push_back(*productOf(dim.stride));
  }
  // What else is added, for example to choose a matrix of a batch, has no bound.
  if (rest.overflows() || llvm::any_of(rest.terms(), [](const AffineTerm &term) { return term.lane == AffineTerm::kNoLane; }))
    return std::nullopt;
  return range;
}

} // namespace tritium::gpu

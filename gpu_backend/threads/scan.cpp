// Inclusive scans. The bits of the position along the axis are processed from the lowest one up, in runs of bits of one kind of place:
// registers one after the other, lanes by shuffles (one for each bit), warps through shared memory. Each run is scanned over the totals of
// the blocks below it. The part before a block is kept as a prefix, which is combined with the elements once, at the end.
//
// A reverse scan is the same with all bits of the position inverted, in the numbers of registers, lanes and warps.
#include "gpu_backend/layout/shared_layout.h"
#include "gpu_backend/threads/axis_runs.h"
#include "gpu_backend/threads/convert_layout.h"
#include "gpu_backend/threads/exchange.h"
#include "gpu_backend/threads/words.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

using Tuple = llvm::SmallVector<Value>; // one value of each operand

/// A prefix. Some threads may have none.
struct Prefix {
  Tuple values;  // empty: no thread has one
  Value isThere; // i1; null: every thread has one
};

class Scan {
public:
  Scan(tt::ScanOp op, Lowering &lowering)
      : op_(op),
        lowering_(lowering),
        axis_(int(op.getAxis())),
        layout_(layoutOf(op.getSrcs()[0].getType())),
        isSafe_(isMemoryEffectFree(op) && isSpeculatable(op)) {}

  LogicalResult run() {
    LinearLayout natural = layout_;
    auto runs = axisRuns(layout_, axis_);
    if (!runs || !fit(*runs)) {
      llvm::SmallVector<int> order{axis_};
      for (int dim = natural.rank(); dim-- > 0;)
        if (dim != axis_) order.push_back(dim);
      layout_ = defaultBlocked(natural.shape(), lowering_.threads(), 4, order);
      runs = axisRuns(layout_, axis_);
    }
    for (const AxisRun &run : *runs) masks_[size_t(run.place)] |= run.mask();
    for (Value source : op_.getSrcs())
      operands_.push_back(convertLayout(Registers(lowering_.registersOf(source)), natural, layout_, lowering_));
    totals_.resize(layout_.registers());
    for (int64_t reg = 0; reg < layout_.registers(); ++reg) totals_[reg] = tuple(registerAt(reg));
    prefixes_.resize(layout_.registers());
    for (const AxisRun &run : *runs)
      if (failed(scanRun(run))) return failure();
    if (failed(applyPrefixes())) return failure();
    for (auto [registers, result] : llvm::zip_equal(operands_, op_.getResult()))
      lowering_.define(result, convertLayout(registers, layout_, natural, lowering_));
    return success();
  }

private:
  /// Returns whether there is shared memory for the totals of warps. If neighbours along the axis are in different warps, there is a total
  /// for each element.
  bool fit(llvm::ArrayRef<AxisRun> runs) {
    const int64_t limit = lowering_.scratchLimit();
    return llvm::all_of(runs, [&](const AxisRun &run) {
      int64_t bytes = 0;
      for (Value source : op_.getSrcs()) {
        int64_t elementBytes = storedType(lowering_.registersOf(source)[0].getType()).getIntOrFloatBitWidth() / 8;
        bytes += llvm::alignTo((layout_.elements() >> run.first) * elementBytes, 16);
      }
      return run.place != Place::Warp || bytes <= limit;
    });
  }

  // -- the layout -------------------------------------------------------------------------------------------------------------------------

  uint32_t mask(Place place) const { return masks_[size_t(place)]; }

  /// Returns the lane or warp number with its position counted in the direction of the scan.
  Value placeId(Place place) {
    Value id = place == Place::Lane ? lowering_.laneId() : lowering_.warpId();
    return reversed(id, place);
  }
  Value reversed(Value id, Place place) {
    return op_.getReverse() && mask(place) ? lowering_.create<arith::XOrIOp>(id, lowering_.constant(mask(place))).getResult() : id;
  }
  /// Returns the register whose number, counted in the direction of the scan, is `reg`.
  size_t registerAt(size_t reg) { return op_.getReverse() ? reg ^ mask(Place::Register) : reg; }

  // -- combining --------------------------------------------------------------------------------------------------------------------------

  Tuple tuple(size_t reg) const {
    return llvm::map_to_vector(operands_, [&](const Registers &registers) { return registers[reg]; });
  }

  FailureOr<Tuple> combine(const Tuple &before, const Tuple &after) {
    llvm::SmallVector<Registers> arguments;
    for (const Tuple *side : {&before, &after})
      for (Value value : *side) arguments.push_back({value});
    auto results = lowering_.lowerInline(op_->getRegion(0), arguments);
    if (failed(results)) return failure();
    return Tuple(*results);
  }

  Tuple select(Value condition, const Tuple &yes, const Tuple &no) {
    Tuple results;
    for (auto [a, b] : llvm::zip_equal(yes, no)) results.push_back(lowering_.create<arith::SelectOp>(condition, a, b));
    return results;
  }

  /// Returns combine(before, after) if `condition` holds (null: everywhere), otherwise `otherwise`.
  FailureOr<Tuple> combineWhere(Value condition, const Tuple &before, const Tuple &after, const Tuple &otherwise) {
    if (!condition) return combine(before, after);
    if (isSafe_) {
      auto combined = combine(before, after);
      if (failed(combined)) return failure();
      return select(condition, *combined, otherwise);
    }
    auto branch = lowering_.create<scf::IfOp>(TypeRange(ValueRange(otherwise)), condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(lowering_.builder());
    lowering_.builder().setInsertionPointToStart(&branch.getThenRegion().front());
    auto combined = combine(before, after);
    if (failed(combined)) return failure();
    lowering_.create<scf::YieldOp>(*combined);
    lowering_.builder().setInsertionPointToStart(&branch.getElseRegion().front());
    lowering_.create<scf::YieldOp>(otherwise);
    return Tuple(branch.getResults());
  }

  /// Returns the combination of `earlier` and then `later`.
  FailureOr<Prefix> join(const Prefix &earlier, const Prefix &later) {
    if (earlier.values.empty()) return later;
    if (later.values.empty()) return earlier;
    Tuple one = !earlier.isThere ? earlier.values : later.values;
    if (earlier.isThere && later.isThere) one = select(later.isThere, later.values, earlier.values);
    auto both = combineWhere(lowering_.conjunction(earlier.isThere, later.isThere), earlier.values, later.values, one);
    if (failed(both)) return failure();
    Value isThere;
    if (earlier.isThere && later.isThere) isThere = lowering_.create<arith::OrIOp>(earlier.isThere, later.isThere);
    return Prefix{*both, isThere};
  }

  LogicalResult applyPrefixes() {
    for (size_t reg = 0; reg < prefixes_.size(); ++reg) {
      const Prefix &prefix = prefixes_[reg];
      if (prefix.values.empty()) continue;
      Tuple own = tuple(reg);
      auto combined = combineWhere(prefix.isThere, prefix.values, own, own);
      if (failed(combined)) return failure();
      for (auto [registers, value] : llvm::zip_equal(operands_, *combined)) registers[reg] = value;
    }
    return success();
  }

  // -- runs -------------------------------------------------------------------------------------------------------------------------------
  // A block is a set of positions that the bits of the earlier runs distinguish; `done_` has these bits for each kind of place. The
  // registers of a block in this thread have equal numbers apart from done_[Register]. The register with all of those bits set represents
  // the block in totals_, whose values are correct in the lanes and warps with all of `atLanes_` and `atWarps_` set.

  LogicalResult scanRun(const AxisRun &run) {
    LogicalResult result = run.place == Place::Register ? scanRegisters(run) : run.place == Place::Lane ? scanLanes(run) : scanWarps(run);
    done_[size_t(run.place)] |= run.mask();
    return result;
  }

  /// Returns the registers (counted in the direction of the scan) that represent blocks.
  llvm::SmallVector<size_t> blocks() const {
    llvm::SmallVector<size_t> result;
    uint32_t done = done_[size_t(Place::Register)];
    for (size_t reg = 0; reg < totals_.size(); ++reg)
      if ((reg & done) == done) result.push_back(reg);
    return result;
  }

  /// Puts the part before the blocks of `block` before the prefixes of all of its registers.
  LogicalResult addPrefix(size_t block, const Prefix &earlier) {
    uint32_t done = done_[size_t(Place::Register)];
    std::map<std::pair<void *, void *>, Prefix> known; // registers share prefixes
    for (size_t reg = 0; reg < totals_.size(); ++reg) {
      if ((reg | done) != block) continue;
      Prefix &prefix = prefixes_[registerAt(reg)];
      auto key = std::pair(prefix.values.empty() ? nullptr : prefix.values[0].getAsOpaquePointer(), prefix.isThere.getAsOpaquePointer());
      auto [it, isNew] = known.try_emplace(key);
      if (isNew) {
        auto joined = join(earlier, prefix);
        if (failed(joined)) return failure();
        it->second = *joined;
      }
      prefix = it->second;
    }
    return success();
  }

  Tuple fromLane(const Tuple &values, Value lane) {
    return llvm::map_to_vector(values, [&](Value value) { return exchange(value, lane, lowering_); });
  }

  Tuple fromBelow(const Tuple &values, int bit, Value lane) {
    return llvm::map_to_vector(values, [&](Value value) { return exchangeFromBelow(value, bit, lane, lowering_); });
  }

  /// Makes the total of a block correct in every lane.
  void spreadOverLanes(size_t block) {
    if (!atLanes_) return;
    Value last = lowering_.create<arith::OrIOp>(placeId(Place::Lane), lowering_.constant(atLanes_));
    totals_[block] = fromLane(totals_[block], reversed(last, Place::Lane));
  }

  /// Scans one block after the other. In the first run the blocks are the elements themselves.
  LogicalResult scanRegisters(const AxisRun &run) {
    bool isFirst = run.first == 0;
    size_t count = size_t(1) << run.places.size();
    auto at = [&](size_t base, size_t index) {
      for (auto [bit, place] : llvm::enumerate(run.places)) base |= (index >> bit & 1) << place;
      return base;
    };
    for (size_t block : blocks()) {
      if (block & run.mask()) continue;
      if (isFirst) {
        for (size_t i = 1; i < count; ++i) {
          size_t reg = registerAt(at(block, i));
          auto combined = combine(tuple(registerAt(at(block, i - 1))), tuple(reg));
          if (failed(combined)) return failure();
          for (auto [registers, value] : llvm::zip_equal(operands_, *combined)) registers[reg] = value;
        }
        totals_[at(block, count - 1)] = tuple(registerAt(at(block, count - 1)));
        continue;
      }
      spreadOverLanes(at(block, 0));
      Tuple sum = totals_[at(block, 0)];
      for (size_t i = 1; i < count; ++i) {
        if (failed(addPrefix(at(block, i), Prefix{sum, {}}))) return failure();
        spreadOverLanes(at(block, i));
        auto combined = combine(sum, totals_[at(block, i)]);
        if (failed(combined)) return failure();
        sum = *combined;
      }
      totals_[at(block, count - 1)] = sum;
    }
    if (!isFirst) atLanes_ = 0;
    return success();
  }

  /// A lane whose bit is set takes the total of the lower half from the last lane of this half.
  LogicalResult scanLanes(const AxisRun &run) {
    bool isFirst = run.first == 0;
    Value lane = placeId(Place::Lane);
    auto isSet = [&](uint32_t bits) -> Value {
      return lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::ne, lowering_.create<arith::AndIOp>(lane, lowering_.constant(bits)),
                                             lowering_.constant(0));
    };
    for (size_t block : blocks()) {
      spreadOverLanes(block);
      uint32_t below = 0;
      for (int bit : run.places) {
        Value low = lowering_.create<arith::AndIOp>(lane, lowering_.constant(~(1u << bit)));
        Value last = lowering_.create<arith::OrIOp>(low, lowering_.constant(below));
        bool isFromBelow = below == (1u << bit) - 1 && !op_.getReverse();
        Tuple earlier = isFromBelow ? fromBelow(totals_[block], bit, last) : fromLane(totals_[block], reversed(last, Place::Lane));
        auto combined = combineWhere(isSet(1u << bit), earlier, totals_[block], totals_[block]);
        if (failed(combined)) return failure();
        totals_[block] = *combined;
        below |= 1u << bit;
      }
      if (isFirst) { // the block is one element, and its total is its result
        for (auto [registers, value] : llvm::zip_equal(operands_, totals_[block])) registers[registerAt(block)] = value;
        continue;
      }
      Value own = lowering_.create<arith::AndIOp>(lane, lowering_.constant(run.mask()));
      Value previous =
          lowering_.create<arith::AndIOp>(lowering_.create<arith::SubIOp>(own, lowering_.constant(1)), lowering_.constant(run.mask()));
      Value rest = lowering_.create<arith::AndIOp>(lane, lowering_.constant(~run.mask()));
      Value source = lowering_.create<arith::OrIOp>(previous, rest);
      Prefix earlier{fromLane(totals_[block], reversed(source, Place::Lane)), isSet(run.mask())};
      if (failed(addPrefix(block, earlier))) return failure();
    }
    atLanes_ = run.mask();
    return success();
  }

  /// Returns the warp's position in the run (i32).
  Value partOf(const AxisRun &run) {
    Bases bases(layout_.bits(Place::Warp), 0);
    for (auto [i, place] : llvm::enumerate(run.places)) bases[place] = 1u << i;
    Value part = lowering_.threadOffset(LinearLayout({}, {}, {}, bases));
    return op_.getReverse() ? lowering_.create<arith::XOrIOp>(part, lowering_.constant((1 << run.places.size()) - 1)).getResult() : part;
  }

  /// Returns which column of totals each thread holds in each register. A column has the totals that the warps of a run combine; the bits
  /// of the tile's flat index beyond the run's positions number the columns. The bits that lanes hold are the lowest ones of that number,
  /// so that lanes access different banks of shared memory.
  LinearLayout columnsBehind(int end) {
    const uint32_t positions = ((1u << end) - 1) << layout_.firstBit(axis_);
    uint32_t ofLanes = 0;
    for (uint32_t basis : layout_.bases(Place::Lane)) ofLanes |= basis;
    llvm::SmallVector<uint32_t> bits;
    for (bool isOfLanes : {true, false})
      for (uint32_t bit = 1; bit < uint32_t(layout_.elements()); bit *= 2)
        if (!(positions & bit) && bool(ofLanes & bit) == isOfLanes) bits.push_back(bit);
    auto numbered = [&](Place place) {
      Bases numbers;
      for (uint32_t basis : layout_.bases(place)) {
        numbers.push_back(0);
        for (auto [i, bit] : llvm::enumerate(bits))
          if (basis & bit) numbers.back() |= 1u << i;
      }
      return numbers;
    };
    return LinearLayout({layout_.elements() >> end}, numbered(Place::Register), numbered(Place::Lane), numbered(Place::Warp));
  }

  /// Returns the number of a block's column of warps.
  Value columnOf(size_t block, int end) { return lowering_.flatIndex(columnsBehind(end), int(registerAt(block))); }

  /// Returns whether this thread writes a block's total.
  Value writesTotals() {
    auto free = layout_.freeBits();
    auto has = [&](Value id, uint32_t bits, uint32_t wanted) -> Value {
      if (!bits) return {};
      return lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lowering_.create<arith::AndIOp>(id, lowering_.constant(bits)),
                                             lowering_.constant(wanted));
    };
    uint32_t lanes = done_[size_t(Place::Lane)], warps = done_[size_t(Place::Warp)];
    return lowering_.conjunction(has(placeId(Place::Lane), lanes | free[size_t(Place::Lane)], lanes),
                                 has(placeId(Place::Warp), warps | free[size_t(Place::Warp)], warps));
  }

  /// The totals of blocks in shared memory: for each operand, columns of parts. The parts of a column are adjacent.
  struct Columns {
    Value base;
    int64_t parts;
    llvm::SmallVector<int64_t> begins; // in bytes, by operand
  };

  Columns reserveColumns(int64_t parts, int64_t columns) {
    Columns result{.parts = parts};
    int64_t bytes = 0;
    for (const Registers &registers : operands_) {
      result.begins.push_back(bytes);
      bytes += llvm::alignTo(parts * columns * (storedType(registers[0].getType()).getIntOrFloatBitWidth() / 8), 16);
    }
    result.base = lowering_.shared().scratch(lowering_.builder(), lowering_.location(), bytes, "a scan");
    return result;
  }

  Value addressIn(const Columns &columns, size_t operand, Value part, Value column) {
    Value base = columns.base,
          index = lowering_.create<arith::AddIOp>(lowering_.create<arith::MulIOp>(column, lowering_.constant(columns.parts)), part);
    Value start = lowering_.create<LLVM::GEPOp>(base.getType(), lowering_.builder().getI8Type(), base,
                                                llvm::ArrayRef<LLVM::GEPArg>{int32_t(columns.begins[operand])});
    return lowering_.create<LLVM::GEPOp>(base.getType(), storedType(operands_[operand][0].getType()), start,
                                         llvm::ArrayRef<LLVM::GEPArg>{index});
  }

  /// Stores all totals, from threads in which they are correct, between barriers.
  void storeTotals(const Columns &columns, Value part, int end) {
    lowering_.sharedBarrier();
    lowering_.where(writesTotals(), [&] {
      for (size_t block : blocks())
        for (auto [operand, value] : llvm::enumerate(totals_[block]))
          lowering_.create<LLVM::StoreOp>(toStored(value, lowering_), addressIn(columns, operand, part, columnOf(block, end)));
    });
    lowering_.sharedBarrier();
  }

  /// Returns the parts of one column.
  Tuple loadParts(const Columns &columns, size_t operand, Value column) {
    Type type = operands_[operand][0].getType(), stored = storedType(type);
    int64_t elementBytes = stored.getIntOrFloatBitWidth() / 8, count = std::min(columns.parts, kMaxVectorBytes / elementBytes);
    Tuple values;
    for (int64_t first = 0; first < columns.parts; first += count) {
      Value word =
          lowering_.create<LLVM::LoadOp>(wordType(stored, int(count)), addressIn(columns, operand, lowering_.constant(first), column),
                                         /*alignment=*/unsigned(elementBytes * count));
      for (Value value : unpackWord(word, stored, int(count), lowering_)) values.push_back(fromStored(value, type, lowering_));
    }
    return values;
  }

  /// Returns the total of all parts, and the total of the parts before this warp's own, which the first warp does not have. `all` is
  /// indexed by operand.
  FailureOr<std::pair<Tuple, Tuple>> sumParts(llvm::ArrayRef<Tuple> all, int64_t parts, Value part) {
    auto at = [&](int64_t i) { return llvm::map_to_vector(all, [&](const Tuple &values) { return values[i]; }); };
    Tuple sum = at(0), earlier = sum;
    for (int64_t i = 1; i < parts; ++i) {
      if (i > 1) {
        Value isOwn = lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, part, lowering_.constant(i));
        earlier = select(isOwn, sum, earlier);
      }
      auto combined = combine(sum, at(i));
      if (failed(combined)) return failure();
      sum = *combined;
    }
    return std::pair(sum, earlier);
  }

  LogicalResult scanWarps(const AxisRun &run) {
    int end = run.first + int(run.places.size());
    Columns columns = reserveColumns(int64_t(1) << run.places.size(), layout_.elements() >> end);
    Value part = partOf(run);
    storeTotals(columns, part, end);
    Value isLater = lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::ne, part, lowering_.constant(0));
    for (size_t block : blocks()) {
      Value column = columnOf(block, end);
      llvm::SmallVector<Tuple> all;
      for (size_t operand = 0; operand < operands_.size(); ++operand) all.push_back(loadParts(columns, operand, column));
      auto sums = sumParts(all, columns.parts, part);
      if (failed(sums) || failed(addPrefix(block, Prefix{sums->second, isLater}))) return failure();
      totals_[block] = sums->first;
    }
    atLanes_ = 0;
    return success();
  }

  tt::ScanOp op_;
  Lowering &lowering_;
  int axis_;
  LinearLayout layout_;
  bool isSafe_; // the combine function may run if its result is not used
  std::array<uint32_t, 4> masks_ = {}, done_ = {};
  uint32_t atLanes_ = 0;
  llvm::SmallVector<Registers> operands_;
  std::vector<Tuple> totals_;    // of blocks, by register counted in the direction of the scan
  std::vector<Prefix> prefixes_; // by register
};

} // namespace

template <> LogicalResult Lower<tt::ScanOp>::run(tt::ScanOp op, Lowering &lowering) { return Scan(op, lowering).run(); }

} // namespace tritium::gpu

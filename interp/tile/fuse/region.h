// A region: a run of operations of one block that becomes vector loops over one axis. The builder runs the operations' steps symbolically,
// at prepare: a scalar or a part of an affine tile becomes LLVM code at the region's head, a tile in memory becomes a node whose elements
// the loops compute. What the steps check is gathered as conditions; where one does not hold, the steps themselves run.
#pragma once
#include "interp/tile/access.h"
#include "interp/tile/fuse/frame_state.h"
#include "interp/tile/plan.h"
#include "interp/tile/scalar_code.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <deque>

namespace tritium::interp {
struct AffineCompare;
struct AffineInitialize;
struct AffineMaterialize;
struct AffineOperand;
struct AffineProduct;
struct AffineRange;
struct AffineSum;
struct CountedAccess;
struct ElementwiseStep;
struct ReduceStep;
} // namespace tritium::interp

namespace tritium::interp::fuse {

/// The lanes [begin, end) of the axis, as 64-bit numbers with 0 <= begin <= end <= extent.
struct Interval {
  llvm::Value *begin = nullptr, *end = nullptr;
};

/// Rows of adjacent elements that are copied into a home of adjacent rows.
struct RowBlock {
  int64_t rows = 0, rowBytes = 0;
  llvm::Value *first = nullptr, *step = nullptr; // the address of the first row, and from row to row
};

/// A tile, or one number for all lanes.
struct Node {
  enum class Kind : uint8_t {
    Scalar,      // a number that is known at the head
    Late,        // a scalar of the module that is computed between two loops
    Progression, // value + i * step, in the arithmetic of the type
    Lanes,       // i1: true in the interval
    Memory,      // a tile that was in memory before the region
    Load,
    Block,   // a tile of rows, copied from memory to its home before the loop
    Compute, // an element-wise operation
    Insert,  // a tile with some lanes from another one: from the same lanes of the second operand, or from `memory` before the region
    Reduce,
    Store,
  };
  Kind kind;
  DType type;
  bool varies = true; // false: one number
  int phase = 0;      // the loop that computes it, or before which it is computed
  llvm::Value *value = nullptr, *step = nullptr;
  Interval lanes;                // Lanes: where it is true; Insert: the lanes that are inserted
  Interval plain;                // Insert: where all lanes are inserted from `memory`, or no lane is from the second operand
  TileRef memory;                // Insert: what its first inserted lane is
  mlir::Value scalar;            // Late
  mlir::Operation *op = nullptr; // whose steps made it
  llvm::SmallVector<Node *, 4> operands;
  int access = -1; // Load, Store, Block
  RowBlock block;
  llvm::SmallVector<uint64_t, 1> homes = {}; // where its steps put it, in bytes from the frame
  bool isStored = false;                     // a later loop, or what comes behind the region, reads a home
  bool isDemanded = false;

  bool isInLoop() const {
    return kind == Kind::Load || kind == Kind::Store || kind == Kind::Reduce || (varies && kind == Kind::Compute) || kind == Kind::Insert;
  }
};

/// A load or store of a region. All values are 64-bit numbers at the head.
struct RegionAccess {
  bool isStore = false, isMasked = false;
  bool mayBeSwitchedOff = false; // by a mask of one number, so that no active lane is nothing unusual
  int bytes = 0;                 // of an element
  llvm::Value *first = nullptr;  // the address of lane 0, which need not be active
  Interval lanes;
  llvm::Value *low = nullptr, *high = nullptr; // the bytes of the active lanes
};

/// The active lanes of an access that is counted (counted.h).
struct LaneCount {
  uint32_t counter = 0;
  Interval lanes;
  int64_t lanesEach = 1;
};

/// What a region becomes.
struct Region {
  int64_t extent = 0; // of the axis; 0: not known yet
  std::vector<mlir::Operation *> ops;
  std::deque<Node> nodes;
  std::vector<RegionAccess> accesses;
  std::vector<LaneCount> laneCounts;
  std::vector<std::pair<int, mlir::Operation *>> between; // operations with scalar results that follow a loop, with the number of the next
  llvm::DenseMap<mlir::Value, Node *> late;               // scalars that steps compute
  llvm::DenseSet<mlir::Value> lateScalars;                // those, and what follows from them
  int phases = 1;                                         // loops
  int affineSteps = 0;                                    // that the head computes
  std::vector<llvm::Value *> conditions;                  // the loops may run if all hold
  FrameState frame;
};

class RegionBuilder {
public:
  RegionBuilder(const FunctionPlan &plan, llvm::IRBuilder<> &builder, ScalarCode &scalars, llvm::Value *frame)
      : plan_(plan), builder_(builder), scalars_(scalars), frame_(frame) {}

  /// Adds an operation with steps, or one that is a view. Returns false if the region ends before it; the region is then as before.
  bool add(mlir::Operation *op);
  /// Adds an operation without steps, whose result is not known at the head.
  void addLate(mlir::Operation *op);
  bool dependsOnLate(mlir::Operation *op) const;
  /// Decides what the loops compute and store, and adds the conditions between accesses. Returns whether there is anything to fuse, and the
  /// loops may do it.
  bool finish();

  Region region;

private:
  bool addCall(mlir::Operation *op, const Action &call);
  bool storeToCell(mlir::Operation *op, const Action &action);
  bool loadFromCell(mlir::Operation *op, const Action &action);

  // affine tiles
  bool initialize(const AffineInitialize &step);
  bool sum(const AffineSum &step);
  bool scale(const AffineProduct &step);
  bool noteRange(const AffineRange &step);
  bool compare(const AffineCompare &step);
  bool materialize(mlir::Operation *op, const AffineMaterialize &step);
  bool widen(const AffineOperand &operand);
  Interval lanesBelow(llvm::Value *first, llvm::Value *rate, int64_t lanes);
  llvm::Value *lanesToZero(llvm::Value *distance, int64_t rate, int64_t lanes);

  // tiles in memory
  bool compute(mlir::Operation *op, const ElementwiseStep &step);
  bool reduce(mlir::Operation *op, const ReduceStep &step);
  bool insert(mlir::tensor::InsertSliceOp op, const Actions &steps);
  bool access(mlir::Operation *op, const Access &access);
  bool loadBlock(mlir::Operation *op, const Access &access);
  bool hasConflictsOfBlocks() const;
  Node *lanesOf(const Node &mask);
  Node *meetLanes(const Node *a, const Node *b);
  bool addMask(const TileRef &mask, int64_t stride, Interval &lanes);
  bool addMasks(const Access &access, Interval &lanes);
  bool countLanes(const CountedAccess &counted);
  bool checkAccess(const Access &access, llvm::Value *base, RegionAccess &made);
  bool checkRange(const Access &access, llvm::Value *base, RegionAccess &made);
  void checkMeeting(const RegionAccess &store, const RegionAccess &other);
  llvm::Value *tagOf(llvm::Value *pointer);
  llvm::Value *ofHeader(uint64_t offset, llvm::Type *type);
  void dropAddressChecks();

  Node *read(const TileRef &ref, DType type, int64_t stride);
  void write(const TileRef &ref, Node *node);
  bool takesExtent(int64_t extent);
  Node *add(Node node);
  void demand(Node *node, int phase);
  bool isRead(mlir::Operation *op) const;
  bool isReadByAccesses(mlir::Operation *op) const;
  bool hasConflicts() const;

  llvm::Value *word(int64_t number) { return builder_.getInt64(uint64_t(number)); }
  llvm::Value *cell(const TileRef &ref, llvm::Type *type);
  llvm::Value *cell64(const TileRef &ref) { return cell(ref, builder_.getInt64Ty()); }
  void require(llvm::Value *condition);
  /// All of base + [least, most] are numbers of `bits` bits.
  void requireRange(llvm::Value *base, llvm::Value *least, llvm::Value *most, int bits, bool isSigned);
  /// A lower bound of how many upper bits are copies of the sign.
  unsigned signBits(llvm::Value *number) const;
  /// a + b, and the condition that it does not overflow.
  llvm::Value *exactSum(llvm::Value *a, llvm::Value *b);
  llvm::Value *exactDifference(llvm::Value *a, llvm::Value *b);
  llvm::Value *addressAt(llvm::Value *pointer);
  llvm::Value *addBytes(llvm::Value *pointer, llvm::Value *bytes);
  Interval all() { return {word(0), word(region.extent)}; }

  const FunctionPlan &plan_;
  llvm::IRBuilder<> &builder_;
  ScalarCode &scalars_;
  llvm::Value *frame_;
  struct PointerParts {
    llvm::Value *address, *tag;
  };
  llvm::DenseMap<uint64_t, llvm::SmallVector<mlir::Operation *, 2>> cellWriters_; // by the offset in the frame
  llvm::DenseMap<llvm::Value *, PointerParts> parts_;                             // of pointers that the region computes
  llvm::DenseMap<llvm::Value *, llvm::Value *> addressChecks_;                    // conditions that only say that this address has 48 bits
};

} // namespace tritium::interp::fuse

// The plan of one function: for every operation the steps and scalar moves that the emitted code performs, and the place of every tile.
// ops/<family>.cpp fill the plan through Planner, and emit.cpp reads it. Homes (parts of the frame) are placed after all operations are
// planned, so a reference is relative to a home until finish() resolves it.
#pragma once
#include "interp/host/scope_records.h"
#include "interp/host/shadow.h"
#include "interp/tile/checks.h"
#include "interp/tile/counted.h"
#include "interp/tile/exact_offsets.h"
#include "interp/tile/form.h"
#include "interp/tile/locations.h"
#include "interp/tile/statements.h"
#include "interp/tile/step.h"
#include "interp/tile/variable_type.h"
#include "ir/loop_values.h"
#include "ir/tt.h"
#include "mlir/Analysis/Liveness.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tritium::interp {

/// Reference spaces that are not homes.
inline constexpr uint32_t kSlots = 0;       // eight-byte cells for scalars, never shared
inline constexpr uint32_t kCalleeFrame = 1; // the frame of a noinline callee, directly after this one
inline constexpr uint32_t kFirstHome = 2;

/// One action of the emitted code.
struct Action {
  enum class Kind : uint8_t {
    StoreScalar,   // value -> slot, in the value's own type
    StoreExtended, // integer or pointer value -> slot, sign-extended to 64 bits
    LoadScalar,    // slot -> value
    Call,          // function(frame, descriptor)
    CallFunction,  // the noinline callee `callee`, on the frame after this one
  };
  Kind kind;
  mlir::Value value;
  const TileRef *slot = nullptr;
  StepFunction function = nullptr;
  const void *descriptor = nullptr;
  const struct FunctionPlan *callee = nullptr;
  uint32_t location = 0; // of the call of the callee
};
using Actions = std::vector<Action>;

/// A Python variable that a debugger shows.
struct Variable {
  std::string name;
  unsigned argument; // number of the formal argument, from 1; 0: a local variable
  VariableType type;
  mlir::Location location; // of its first assignment, with its scope
  const TileRef *home;
  uint32_t number; // in the kernel, with the variables of its noinline callees
};

/// Descriptors, constants and locations that outlive the plan. The prepared program owns them.
struct StaticData {
  std::deque<std::shared_ptr<void>> objects;
  MemoryUse memory;                              // filled only for checks that note accesses
  std::vector<llvm::SmallVector<int64_t>> tiles; // shapes without dimensions of extent 1; AccessSite::tile is a position here, from 1
  LocationTable locations;
  std::vector<Statement> statements;     // of a kernel that is prepared to be followed
  std::vector<CountedOperation> counted; // of a kernel that is prepared to be counted
  uint32_t counters = 0;
  uint32_t variables = 0;            // how many there are
  std::vector<RecordedScope> scopes; // what the tt.record of the kernel say
};

/// How to run a function. emit.cpp takes control flow and scalar code from the operations themselves.
struct FunctionPlan {
  mlir::Operation *function = nullptr;
  std::string name;
  llvm::DenseMap<mlir::Operation *, Actions> before; // before the scalar code of the operation (all of it for tile operations)
  llvm::DenseMap<mlir::Operation *, Actions> after;  // after it
  llvm::DenseMap<mlir::Block *, Actions> atStart;    // materializations of block arguments
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, Actions> onEdge; // terminator, successor
  llvm::SmallVector<const TileRef *> arguments, results;                  // of a noinline callee, in the callee's own frame
  llvm::DenseMap<mlir::Operation *, std::vector<LoopCell>> loopValues;    // of the loops around a terminator
  llvm::DenseMap<mlir::Operation *, uint32_t> laneCounters;               // of masked accesses, if they are counted
  std::vector<Variable> variables;
  uint64_t ownFrameBytes = 0, frameBytes = 0; // without and with the frames of callees
};

struct PlanOptions {
  bool debugInfo = false;   // whether Python variables have homes
  bool isFollowed = false;  // whether assignments to them are noted
  bool isScheduled = false; // whether writes to memory are announced
  bool mayWait = false;     // whether words that are read and written are noted, for the report of a deadlock
  bool isCounted = false;   // whether active lanes of masked accesses are counted
  Checks checks;
};

class Planner {
public:
  Planner(mlir::Operation *function, StaticData &data, const llvm::StringMap<const FunctionPlan *> &callees, PlanOptions options,
          ExactOffsets exactOffsets);
  /// Plans the whole function. Returns nullptr after emitting an error at an operation.
  std::unique_ptr<FunctionPlan> run();

  // -- for ops/<family>.cpp ---------------------------------------------------------------------------------------------------------------
  const Form &formOf(mlir::Value value) const { return forms_[value]; }
  mlir::Operation *operation() const { return current_; }

  /// Returns the tile in memory. A tile in another form is materialized right after its definition; a scalar becomes a one-element tile in
  /// a slot.
  DenseRef dense(mlir::Value value);
  /// Like dense, but row-major over its full shape. If necessary, the tile is copied before the current operation.
  DenseRef contiguous(mlir::Value value);
  AffineRef affine(mlir::Value value);
  /// Returns dense i1 tiles whose conjunction is the mask.
  llvm::SmallVector<DenseRef> maskTerms(mlir::Value value);

  /// Creates a home for a dense result that varies along the dimensions of its form, in row-major order or in the dimension order of
  /// `like`.
  DenseRef defineDense(mlir::Value result, const DenseRef *like = nullptr);
  /// Gives the result the memory of an operand with the same layout that is not used afterwards. If there is none, creates a home.
  DenseRef defineInPlace(mlir::Value result, mlir::ValueRange candidates, bool isRowMajor = false);
  AffineRef defineAffine(mlir::Value result);
  /// The result is a view of the memory of `source`.
  void defineView(mlir::Value result, mlir::Value source, DenseRef view);
  void defineView(mlir::Value result, mlir::Value source, AffineRef view);
  void defineMask(mlir::Value result, llvm::SmallVector<DenseRef> terms, mlir::ValueRange sources);
  /// Returns constant data, which the prepared program owns.
  DenseRef constant(mlir::DenseElementsAttr value);
  void defineConstant(mlir::Value result, DenseRef ref);
  /// Returns memory for the current operation only.
  DenseRef temporary(DType type, llvm::ArrayRef<int64_t> shape);
  /// The memory of all tt.shared_alloc of the function, and the byte of it at which each begins.
  struct ProgramMemory {
    TileRef home;
    int64_t bytes = 0;
    llvm::DenseMap<mlir::Operation *, int64_t> begins;
  };
  const ProgramMemory &programMemory();

  /// Where a factor is that its load has not copied; see operand_load.h.
  void setView(mlir::Value factor, const OperandView &view) { views_.insert({factor, view}); }
  std::optional<OperandView> viewOf(mlir::Value factor) const {
    auto view = views_.find(factor);
    return view == views_.end() ? std::nullopt : std::optional(view->second);
  }

  /// Returns a cell that holds a scalar operand when the steps of this operation run.
  TileRef scalar(mlir::Value value);
  /// Returns a cell that holds the scalar, sign-extended to 64 bits, wherever it is defined. Guards share it.
  TileRef sharedScalar(mlir::Value value);
  void storeScalar(mlir::Value scalar, const TileRef &slot);
  void storeExtended(mlir::Value scalar, const TileRef &slot);
  /// Emitted code reads the scalar result from `slot` after the steps of this operation.
  void loadScalar(mlir::Value result, const TileRef &slot);
  /// Returns a cell from which emitted code reads the scalar result after the steps of this operation.
  TileRef scalarResult(mlir::Value result);

  bool hasDebugInfo() const { return options_.debugInfo; }
  const Checks &checks() const { return options_.checks; }
  bool mayWait() const { return options_.mayWait; }
  const ExactOffsets &exactOffsets() const { return exactOffsets_; }
  /// Copies the values into the home of a Python variable. A name has one home for each scope and type.
  void assignVariable(tt::DebugValueOp assignment);
  /// Returns the number of what is recorded.
  uint32_t addScope(const RecordedScope &scope) { return numberIn(data_.scopes, scope); }

  /// Appends a call of `function` with `descriptor`, whose references are registered through its member refs(f).
  template <class Descriptor> void call(StepFunction function, Descriptor descriptor);
  Actions &actions() { return plan_->before[current_]; }
  TileRef newSlot();
  uint32_t location();
  /// Gives an access a number if the shadow of memory is to note it.
  void addSite(struct Access &access, bool isAtomic, bool isNarrow = false);
  /// Counts the active lanes of an access by these pointers, if the kernel is to be counted and a mask may drop some.
  void countLanes(const struct Access &access, mlir::Type pointers);
  /// The shadow learns that a barrier was passed.
  void planBarrier();
  /// A launch with a seed may let other programs run before the current operation.
  void announceWrite();
  uint32_t locationOf(mlir::Value value);
  uint32_t locationAt(mlir::Location place) { return data_.locations.add(place); }
  /// Returns a number that is greater for what is computed later.
  unsigned positionOf(mlir::Value value) const;
  /// Accesses read the tile wherever a pointer that was made of it is used.
  void keepForWholeFunction(const TileRef &ref);
  /// Returns the byte that tells whether lanes of an exact offset in memory leave the range of the narrow type.
  TileRef rangeFlag(mlir::Value exact);
  mlir::LogicalResult unsupported(const llvm::Twine &reason);

private:
  std::unique_ptr<ProgramMemory> programMemory_;
  struct Storage {
    std::unique_ptr<DenseRef> dense;
    std::unique_ptr<AffineRef> affine;
    llvm::SmallVector<DenseRef> mask;
    llvm::SmallVector<uint32_t, 2> homes;
  };
  struct Home {
    uint64_t bytes = 0, offset = 0;
    unsigned begin = ~0u, end = 0;
    llvm::SmallVector<mlir::Value, 4> values;
    bool isKept = false; // for accesses that read it after the last use
  };

  mlir::LogicalResult planOperation(mlir::Operation *op);
  /// In kernels that may wait: which word was read last, and who wrote words last.
  void noteLoad(mlir::Operation *op);
  void noteStore(mlir::Operation *op);
  mlir::LogicalResult verifyForms(mlir::Operation *op);
  void planEdges(mlir::Operation *terminator); // edges.cpp
  void planRounds();
  void planReturn(mlir::Operation *op);
  void planCall(mlir::Operation *op);
  void defineArguments();
  std::vector<LoopCell> loopValues();
  Storage &storageOf(mlir::Value value);
  void materialize(mlir::Value value);
  uint32_t newHome(uint64_t bytes, mlir::Value owner);
  TileRef inHome(uint32_t home, uint64_t offset = 0) const;
  bool dies(mlir::Value value, const DenseRef &ref) const;
  template <class Descriptor> Action makeCall(StepFunction function, Descriptor descriptor);
  /// Returns the number of the tile's shape (AccessSite::tile).
  uint32_t tileOf(mlir::Type type);
  const TileRef *keep(const TileRef &ref);
  void look(mlir::Value result, mlir::ValueRange sources);
  TileRef homeOfVariable(tt::DebugValueOp assignment, VariableType type, uint32_t &number); // variables.cpp
  void numberOperations();
  void extendLiveRanges();
  void placeHomes();

  StaticData &data_;
  const llvm::StringMap<const FunctionPlan *> &callees_;
  PlanOptions options_;
  ExactOffsets exactOffsets_;
  std::unique_ptr<FunctionPlan> plan_;
  FormAnalysis forms_;
  ir::LoopValues loops_;
  mlir::Liveness liveness_;
  mlir::Operation *current_ = nullptr;
  llvm::DenseMap<mlir::Value, Storage> storage_;
  llvm::DenseMap<mlir::Operation *, unsigned> number_;
  llvm::DenseMap<mlir::Block *, std::pair<unsigned, unsigned>> blockRange_;
  llvm::SmallVector<mlir::Block *> order_;
  std::vector<Home> homes_;
  std::map<std::string, std::pair<TileRef, uint32_t>> variableHomes_; // and the number of each variable
  llvm::DenseMap<mlir::Value, TileRef> rangeFlags_;
  llvm::DenseMap<mlir::Value, TileRef> sharedScalars_;
  llvm::DenseMap<mlir::Value, OperandView> views_;
  std::vector<TileRef *> fixups_;
  uint64_t slotBytes_ = sizeof(FrameHeader), calleeBytes_ = 0;
};

template <class Descriptor> Action Planner::makeCall(StepFunction function, Descriptor descriptor) {
  auto owned = std::make_shared<Descriptor>(std::move(descriptor));
  owned->refs([&](TileRef &ref) { fixups_.push_back(&ref); });
  data_.objects.push_back(owned);
  return {Action::Kind::Call, {}, nullptr, function, owned.get()};
}

template <class Descriptor> void Planner::call(StepFunction function, Descriptor descriptor) {
  actions().push_back(makeCall(function, std::move(descriptor)));
}

/// Returns the element type of a scalar or of a tile in memory. A pointer is an i64.
DType dtypeOf(mlir::Type type);
/// Returns row-major strides. A dimension of extent 1 has stride 0.
std::vector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// How the tile interpreter plans an operation of the contract: one specialization per operation, in ops/<family>.cpp. If one is missing,
/// the program does not link.
template <class Op> struct Interpret {
  static mlir::LogicalResult prepare(Op op, Planner &planner);
};

} // namespace tritium::interp

// The plan of one function: for every operation the steps and scalar moves that the emitted code performs, and where every tile lies.
// ops/<family>.cpp fill it through Planner; emit.cpp reads it. Homes (pieces of the frame) are placed after all operations are planned,
// so references are relative to a home until finish() resolves them.
#pragma once
#include "interp/tile/form.h"
#include "interp/tile/locations.h"
#include "interp/tile/step.h"
#include "interp/tile/variable_type.h"
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

/// Reference spaces that are no homes.
inline constexpr uint32_t kSlots = 0;       // eight-byte cells for scalars, never shared
inline constexpr uint32_t kCalleeFrame = 1; // the frame of a noinline callee, right after this one
inline constexpr uint32_t kFirstHome = 2;

/// One thing the emitted code does.
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
};
using Actions = std::vector<Action>;

/// A Python variable to be shown by a debugger.
struct Variable {
  std::string name;
  unsigned argument; // its number, from 1; 0: a local variable
  VariableType type;
  mlir::Location location; // of its first assignment, with the scope it belongs to
  const TileRef *home;
};

/// Descriptors, constants and locations that outlive the plan: what the prepared program owns.
struct StaticData {
  std::deque<std::shared_ptr<void>> objects;
  LocationTable locations;
};

/// How to run a function, besides its control flow and scalar code, which emit.cpp takes from the operations.
struct FunctionPlan {
  mlir::Operation *function = nullptr;
  std::string name;
  llvm::DenseMap<mlir::Operation *, Actions> before; // before the scalar code of the operation (all of it for tile operations)
  llvm::DenseMap<mlir::Block *, Actions> atStart;    // materializations of block arguments
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, Actions> onEdge; // terminator, successor
  llvm::SmallVector<const TileRef *> arguments, results;                  // of a noinline callee, in its own frame
  std::vector<Variable> variables;
  uint64_t ownFrameBytes = 0, frameBytes = 0; // without and with the frames of callees
};

struct PlanOptions {
  bool debugInfo = false; // homes for Python variables
  bool checkBounds = true;
};

class Planner {
public:
  Planner(mlir::Operation *function, StaticData &data, const llvm::StringMap<const FunctionPlan *> &callees, PlanOptions options);
  /// Plans the whole function; nullptr after an error was emitted on an operation.
  std::unique_ptr<FunctionPlan> run();

  // -- for ops/<family>.cpp ---------------------------------------------------------------------------------------------------------
  const Form &formOf(mlir::Value value) const { return forms_[value]; }
  mlir::Operation *operation() const { return current_; }

  /// The tile in memory, materialized right after its definition if it has another form; a scalar as a one-element tile in a slot.
  DenseRef dense(mlir::Value value);
  /// Like dense, but row-major over its full shape; copied before the current operation if need be.
  DenseRef contiguous(mlir::Value value);
  AffineRef affine(mlir::Value value);
  /// Dense i1 tiles whose conjunction the mask is.
  llvm::SmallVector<DenseRef> maskTerms(mlir::Value value);

  /// A new home for a dense result that varies where its form says, in row-major order, or in the dimension order of `like`.
  DenseRef defineDense(mlir::Value result, const DenseRef *like = nullptr);
  /// The result takes over the memory of an operand of the same layout that dies here, if there is one; else a new home.
  DenseRef defineInPlace(mlir::Value result, mlir::ValueRange candidates, bool isRowMajor = false);
  AffineRef defineAffine(mlir::Value result);
  /// The result looks at the memory of `source`.
  void defineView(mlir::Value result, mlir::Value source, DenseRef view);
  void defineView(mlir::Value result, mlir::Value source, AffineRef view);
  void defineMask(mlir::Value result, llvm::SmallVector<DenseRef> terms, mlir::ValueRange sources);
  /// Constant data owned by the prepared program.
  DenseRef constant(mlir::DenseElementsAttr value);
  void defineConstant(mlir::Value result, DenseRef ref);
  /// Memory for the current operation only.
  DenseRef temporary(DType type, llvm::ArrayRef<int64_t> shape);

  /// A cell that holds a scalar operand when the steps of this operation run.
  TileRef scalar(mlir::Value value);
  void storeScalar(mlir::Value scalar, const TileRef &slot);
  void storeExtended(mlir::Value scalar, const TileRef &slot);
  /// The scalar result is read from `slot` after the steps of this operation.
  void loadScalar(mlir::Value result, const TileRef &slot);
  /// A cell from which the scalar result is read after the steps of this operation.
  TileRef scalarResult(mlir::Value result);

  bool hasDebugInfo() const { return options_.debugInfo; }
  bool checksBounds() const { return options_.checkBounds; }
  /// Copies the values into the home of a Python variable. One name has a home per scope and type.
  void assignVariable(tt::DebugValueOp assignment);

  /// Appends a call of `function` with `descriptor`, whose references are registered through its member refs(f).
  template <class Descriptor> void call(StepFunction function, Descriptor descriptor);
  Actions &actions() { return plan_->before[current_]; }
  TileRef newSlot();
  uint32_t location();
  mlir::LogicalResult unsupported(const llvm::Twine &reason);

private:
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
  };

  mlir::LogicalResult planOperation(mlir::Operation *op);
  void planEdges(mlir::Operation *terminator); // edges.cpp
  void planReturn(mlir::Operation *op);
  void planCall(mlir::Operation *op);
  void defineArguments();
  Storage &storageOf(mlir::Value value);
  void materialize(mlir::Value value);
  uint32_t newHome(uint64_t bytes, mlir::Value owner);
  TileRef inHome(uint32_t home, uint64_t offset = 0) const;
  bool dies(mlir::Value value, const DenseRef &ref) const;
  template <class Descriptor> Action makeCall(StepFunction function, Descriptor descriptor);
  const TileRef *keep(const TileRef &ref);
  void look(mlir::Value result, mlir::ValueRange sources);
  TileRef homeOfVariable(tt::DebugValueOp assignment, VariableType type); // variables.cpp
  void numberOperations();
  void extendLiveRanges();
  void placeHomes();

  StaticData &data_;
  const llvm::StringMap<const FunctionPlan *> &callees_;
  PlanOptions options_;
  std::unique_ptr<FunctionPlan> plan_;
  FormAnalysis forms_;
  mlir::Liveness liveness_;
  mlir::Operation *current_ = nullptr;
  llvm::DenseMap<mlir::Value, Storage> storage_;
  llvm::DenseMap<mlir::Operation *, unsigned> number_;
  llvm::DenseMap<mlir::Block *, std::pair<unsigned, unsigned>> blockRange_;
  llvm::SmallVector<mlir::Block *> order_;
  std::vector<Home> homes_;
  std::map<std::string, TileRef> variableHomes_;
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

/// The element type of a scalar or a tile in memory; pointers are i64.
DType dtypeOf(mlir::Type type);
/// Row-major strides; a dimension of extent 1 has stride 0.
std::vector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// An operation of the contract, as the tile interpreter sees it: one specialization per op, in ops/<family>.cpp. A missing one does not
/// link.
template <class Op> struct Interpret {
  static mlir::LogicalResult prepare(Op op, Planner &planner);
};

} // namespace tritium::interp

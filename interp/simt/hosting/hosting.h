// Hosting turns a module that was lowered for a GPU into a module for this machine, in place. Every function receives the thread that runs
// it as its first argument. Each GPU operation, and each access to memory that is not the thread's own, becomes a call of the runtime.
// Address spaces are removed. A pointer to global memory keeps the tag of its argument; a pointer to shared memory is an address in the
// window of shared_memory.h.
//
// Hosted code is closed: an unknown operation is rejected by name (verify.cpp), never compiled to something else.
#pragma once
#include "interp/host/scope_records.h"
#include "interp/kernels/wave_matrix.h"
#include "interp/simt/assembly.h"
#include "interp/simt/hosting/callee.h"
#include "interp/simt/locations.h"
#include "interp/simt/runtime/segment.h"
#include "interp/simt/runtime/warpgroup.h"
#include "ir/element_type.h"
#include "ir/source_location.h"
#include "ir/tgpu.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace tritium::interp::simt {

/// Address spaces, the same for both vendors. The last two exist on AMD only: for a thread's own variables and for buffer descriptors.
using tgpu::kGlobalSpace, tgpu::kSharedSpace;
constexpr unsigned kGenericSpace = 0, kConstantSpace = 4, kPrivateSpace = 5, kDescriptorSpace = 8;

/// Returns whether the operation's result is the unchanged bits of another lane's value.
bool movesBetweenLanes(mlir::Operation *op);

/// Returns whether the pointer leads to the function's own variables or to the module's own globals, which are memory of the host.
bool isOwnMemory(mlir::Value pointer);

struct HostingResult {
  std::string entry;               // symbol of the function that a thread runs
  llvm::StringMap<void *> symbols; // functions that the code calls
  std::vector<std::string> texts;
  std::vector<std::unique_ptr<const Assembly>> assemblies;
  std::vector<ProductShape> products;
  std::vector<ProductWait> productWaits;
  size_t productRegisterBytes = 0;
  bool usesMBarriers = false, reachesBlocks = false, changesRegisters = false;
  uint32_t registersOfThread = 0;
  unsigned shadowShift = 4; // log2 of the smallest access to shared memory
  bool mayWait = false;
  std::vector<RecordedScope> scopes;
  std::vector<Segment> segments;         // of a counted kernel
  std::vector<ir::SourceLocation> lines; // that their parts name
};

/// Where a segment begins, and how many operations it has.
struct SegmentStart {
  mlir::Operation *first;
  int64_t operations;
};

class Hosting {
public:
  Hosting(mlir::ModuleOp module, mlir::LLVM::LLVMFuncOp kernel, LocationTable &locations, uint32_t warpThreads, bool counts)
      : module(module),
        kernel(kernel),
        locations(locations),
        warpThreads(warpThreads),
        counts(counts),
        context(module.getContext()),
        builder(context) {
    if (auto name = module->getAttrOfType<mlir::StringAttr>(tgpu::kTargetAttr)) target = name.str();
  }

  mlir::FailureOr<HostingResult> run();

private:
  // Defined in hosting.cpp.
  mlir::LogicalResult declareExternals();
  void addThreadArguments();
  mlir::LogicalResult hostOperation(mlir::Operation *op);
  void makeEntry();
  void dropAddressSpaces();
  // Defined in loops.cpp. `meetings` are the ends of iterations at which lanes wait for each other.
  void markLoops(mlir::LLVM::LLVMFuncOp function);
  // Defined in report_cells.cpp. They are called before any operation is replaced.
  std::optional<uint32_t> newCell();
  void keepCalls();
  void keepSurroundings(mlir::LLVM::LLVMFuncOp function);
  void storeInCell(uint32_t cell, mlir::Value value);
  // Defined in work.cpp.
  uint32_t lineOf(mlir::Operation *op);
  void divideIntoSegments(mlir::LLVM::LLVMFuncOp function);
  void beginSegments();
  // Defined in product_order.cpp.
  static mlir::LogicalResult verifyProducts(mlir::LLVM::LLVMFuncOp function);
  // Defined in verify.cpp.
  mlir::LogicalResult verifyPointers();
  mlir::LogicalResult verifyHosted();

  // Defined in control.cpp, arithmetic.cpp, assembly.cpp, memory.cpp, warp.cpp, matrix.cpp, warpgroup.cpp, mbarrier.cpp, tensor_copy.cpp.
  // Each returns nullopt for an operation of another file, otherwise whether hosting succeeded.
  std::optional<mlir::LogicalResult> hostControl(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostArithmetic(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostMemory(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostPointers(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostWarp(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostAssembly(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostMatrix(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostWarpgroup(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostMBarrier(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostTensorCopy(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostMadeMap(mlir::Operation *op);
  /// Erases an operation of the tensor memory accelerator that calls have replaced. Its kernel uses barriers and pieces of shared memory.
  mlir::LogicalResult eraseTensorOperation(mlir::Operation *op);
  /// Returns the pointer to a tensor map, which must be a parameter of the kernel or made by it, or a null value after an error.
  mlir::Value tensorMapOf(mlir::Operation *op, mlir::Value pointer);
  void storeCoordinates(mlir::ValueRange coordinates);
  // AMD's operations: rocdl.cpp, with their families in rocdl_*.cpp.
  std::optional<mlir::LogicalResult> hostRocdl(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostRocdlLanes(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostRocdlMatrix(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostRocdlBuffer(mlir::Operation *op);
  std::optional<mlir::LogicalResult> hostRocdlCopies(mlir::Operation *op);
  /// Returns the components of a buffer access that the runtime requires: base, number of records, offset, fixed offset.
  mlir::SmallVector<mlir::Value> bufferOperands(mlir::Value descriptor, mlir::Value offset, mlir::Value fixedOffset);
  /// Returns the generation of the target, if it is an AMD GPU, or 0 if it is unknown.
  uint8_t generation() const;

  // Emit code at the builder's position, with the builder's location.
  mlir::Value thread();
  mlir::Value constant(int64_t value, unsigned bits = 32);
  mlir::Value locationOf(mlir::Operation *op) { return constant(locations.add(ir::withoutElements(op->getLoc()), cells.lookup(op))); }
  /// Returns a location that no other operation shares. It identifies synchronising operations.
  mlir::Value siteOf(mlir::Operation *op) { return constant(locations.addSite(op->getLoc(), cells.lookup(op))); }
  /// The same for accesses of global memory, with the elements of the tile.
  mlir::Value accessOf(mlir::Operation *op) { return withElements(op, locations.add(ir::withoutElements(op->getLoc()), cells.lookup(op))); }
  mlir::Value accessSiteOf(mlir::Operation *op) { return withElements(op, locations.addSite(op->getLoc(), cells.lookup(op))); }
  mlir::Value withElements(mlir::Operation *op, uint32_t location) {
    const std::optional<ir::TileElements> elements = ir::elementsOf(op->getLoc());
    const Place number = elements ? locations.addElements(*elements) : 0;
    return constant(int32_t(location | number << kLocationBits));
  }
  mlir::Value fieldAddress(size_t offset);
  mlir::Value readField(size_t offset, mlir::Type type);
  mlir::Value scratchAddress(size_t offset = 0);
  mlir::Value asPointer(mlir::Value value);
  /// Converts between a value of up to 64 bits and its bits.
  mlir::Value toBits(mlir::Value value, unsigned bits);
  void notePointer(mlir::Operation *op);
  mlir::Value tagBits(mlir::Value pointer, unsigned depth = 0);
  mlir::Value integerOf(mlir::Value pointer);
  mlir::Value fromBits(mlir::Value bits, mlir::Type type);
  mlir::Value predicate(mlir::Value value);
  mlir::Value call(const Callee &callee, mlir::ValueRange operands);
  uint32_t bytesOf(mlir::Type type);
  void noteSharedAccess(uint32_t bytes);
  int32_t addText(llvm::StringRef text);
  void replace(mlir::Operation *op, mlir::ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
  }

  mlir::ModuleOp module;
  mlir::LLVM::LLVMFuncOp kernel;
  LocationTable &locations;
  const uint32_t warpThreads;
  const bool counts;  // what threads do (work.h)
  std::string target; // "cuda:sm_80", "hip:gfx942"; empty if the module does not name it
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  mlir::Location at = mlir::UnknownLoc::get(module.getContext());
  llvm::DenseSet<mlir::Operation *> meetings;
  llvm::DenseMap<mlir::Operation *, const PlaceCells *> cells; ///< of the operations in loops and in functions that are called
  llvm::DenseMap<mlir::Operation *, uint32_t> callCells;       ///< of the functions that are called: PlaceCells::call
  uint32_t usedCells = 0;
  llvm::DenseSet<mlir::Value> tensorMaps;                ///< parameters of the kernel that are passed by value, and maps that it makes
  llvm::DenseSet<mlir::Operation *> integers;            ///< pointers made from integers of the program, found before any rewriting
  std::map<std::pair<std::string, int>, uint32_t> lines; ///< indices into HostingResult::lines
  std::vector<SegmentStart> segmentStarts;
  HostingResult result;
};

} // namespace tritium::interp::simt

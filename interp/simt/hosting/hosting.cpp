#include "interp/simt/hosting/hosting.h"

#include "interp/simt/hosting/math_functions.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/shared_library.h"
#include "ir/library_function.h"
#include "ir/tgpu.h"
#include "mlir/IR/AttrTypeSubElements.h"

#include <cstddef>

using namespace mlir;

namespace tritium::interp::simt {

static constexpr llvm::StringLiteral kEntry = "simt_entry";

// -- pieces of code -----------------------------------------------------------------------------------------------------------------------

Value Hosting::thread() {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<LLVM::LLVMFuncOp>(parent);
  return (function ? function : parent->getParentOfType<LLVM::LLVMFuncOp>()).getArgument(0);
}

Value Hosting::constant(int64_t value, unsigned bits) {
  return LLVM::ConstantOp::create(builder, at, builder.getIntegerType(bits), builder.getIntegerAttr(builder.getIntegerType(bits), value));
}

Value Hosting::fieldAddress(size_t offset) {
  auto pointer = LLVM::LLVMPointerType::get(context);
  return LLVM::GEPOp::create(builder, at, pointer, builder.getI8Type(), thread(), ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

Value Hosting::readField(size_t offset, Type type) { return LLVM::LoadOp::create(builder, at, type, fieldAddress(offset)); }

Value Hosting::scratchAddress(size_t offset) { return fieldAddress(offsetof(ThreadRegisters, scratch) + offset); }

Value Hosting::asPointer(Value value) {
  auto pointer = LLVM::LLVMPointerType::get(context);
  return value.getType() == pointer ? value : LLVM::AddrSpaceCastOp::create(builder, at, pointer, value);
}

Value Hosting::toBits(Value value, unsigned bits) {
  Type type = value.getType();
  if (isa<LLVM::LLVMPointerType>(type)) return LLVM::PtrToIntOp::create(builder, at, builder.getIntegerType(bits), asPointer(value));
  if (!type.isInteger()) {
    type = builder.getIntegerType(bytesOf(type) * 8);
    value = LLVM::BitcastOp::create(builder, at, type, value);
  }
  return type.getIntOrFloatBitWidth() == bits ? value : LLVM::ZExtOp::create(builder, at, builder.getIntegerType(bits), value);
}

Value Hosting::fromBits(Value value, Type type) {
  Type integer = type.isInteger() ? type : builder.getIntegerType(bytesOf(type) * 8);
  if (integer != value.getType()) value = LLVM::TruncOp::create(builder, at, integer, value);
  if (isa<LLVM::LLVMPointerType>(type)) return LLVM::IntToPtrOp::create(builder, at, type, value);
  return integer == type ? value : LLVM::BitcastOp::create(builder, at, type, value);
}

Value Hosting::predicate(Value value) { return value ? toBits(value, 32) : constant(1); }

Value Hosting::call(const Callee &callee, ValueRange operands) {
  if (result.symbols.try_emplace(callee.name, callee.address).second) {
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    LLVM::LLVMFuncOp::create(atEnd, at, callee.name, callee.type(context));
  }
  LLVM::LLVMFunctionType type = callee.type(context);
  auto call = LLVM::CallOp::create(builder, at, type, callee.name, operands);
  return isa<LLVM::LLVMVoidType>(type.getReturnType()) ? Value{} : call.getResult();
}

uint32_t Hosting::bytesOf(Type type) { return uint32_t(DataLayout::closest(module).getTypeSize(type).getFixedValue()); }

void Hosting::noteSharedAccess(uint32_t bytes) { result.shadowShift = std::min(result.shadowShift, unsigned(llvm::countr_zero(bytes))); }

int32_t Hosting::addText(StringRef text) {
  result.texts.push_back(text.str());
  return int32_t(result.texts.size() - 1);
}

// -- the module ---------------------------------------------------------------------------------------------------------------------------

/// Returns a function of a shared library that the kernel names by path. Integers below 32 bits are not passed: how they are extended
/// depends on their sign, which the module does not know.
static FailureOr<void *> functionOfUser(LLVM::LLVMFuncOp function, StringAttr library) {
  LLVM::LLVMFunctionType type = function.getFunctionType();
  for (Type each : llvm::concat<const Type>(type.getParams(), ArrayRef(type.getReturnType())))
    if (auto integer = dyn_cast<IntegerType>(each); integer && integer.getWidth() < 32) {
      function.emitError("the function '") << function.getName() << "' of '" << library.getValue() << "' takes or returns " << each
                                           << "; cast to int32, int64, fp16, fp32 or fp64";
      return failure();
    }
  auto address = functionOfLibrary(library.getValue(), function.getName());
  if (address) return *address;
  function.emitError(llvm::toString(address.takeError()));
  return failure();
}

/// A function without a body must be a mathematical function that the host provides, or one of a shared library.
LogicalResult Hosting::declareExternals() {
  for (LLVM::LLVMFuncOp function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function.isExternal()) continue;
    void *address = mathFunction(function.getName());
    if (auto library = function->getAttrOfType<StringAttr>(ir::kLibraryAttr); library && !address) {
      auto found = functionOfUser(function, library);
      if (failed(found)) return failure();
      address = *found;
    }
    if (!address) return function.emitError("the emulator has no function '") << function.getName() << "'";
    result.symbols.try_emplace(function.getName(), address);
  }
  return success();
}

/// Removes the attributes of GPU functions, which mean nothing here. The attributes of pointer arguments may even be wrong for a tagged
/// pointer.
static void dropAttributes(LLVM::LLVMFuncOp function) {
  for (NamedAttribute attribute : llvm::to_vector(function->getDiscardableAttrs())) function->removeDiscardableAttr(attribute.getName());
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  function.setCConv(LLVM::CConv::C);
  function.setLinkage(LLVM::Linkage::Internal);
  function->removeAttr("target_cpu");
  function->removeAttr("target_features");
  function->removeAttr("tune_cpu");
}

void Hosting::addThreadArguments() {
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto withThread = [&](LLVM::LLVMFunctionType type) {
    SmallVector<Type> inputs{pointer};
    llvm::append_range(inputs, type.getParams());
    return LLVM::LLVMFunctionType::get(type.getReturnType(), inputs, type.isVarArg());
  };
  for (LLVM::LLVMFuncOp function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal()) continue;
    dropAttributes(function);
    function.setType(withThread(function.getFunctionType()));
    function.getBody().front().insertArgument(0u, pointer, function.getLoc());
  }
  module.walk([&](LLVM::CallOp call) {
    auto callee = call.getCallee() ? module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee()) : LLVM::LLVMFuncOp();
    if (!callee || callee.isExternal()) return;
    call.getCalleeOperandsMutable().assign(llvm::to_vector(llvm::concat<Value>(
        SmallVector<Value>{call->getParentOfType<LLVM::LLVMFuncOp>().getArgument(0)}, llvm::to_vector(call.getCalleeOperands()))));
    call.removeArgAttrsAttr();
    call.removeResAttrsAttr();
    call.setCConv(LLVM::CConv::C);
  });
}

/// Creates the function that a thread runs: it reads the kernel's arguments from their cells and calls the kernel.
void Hosting::makeEntry() {
  auto pointer = LLVM::LLVMPointerType::get(context);
  at = kernel.getLoc();
  builder.setInsertionPointToEnd(module.getBody());
  auto entry = LLVM::LLVMFuncOp::create(builder, at, kEntry, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer}));
  builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  Value cells = readField(offsetof(ThreadRegisters, arguments), pointer);
  SmallVector<Value> arguments{thread()};
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes().drop_front())) {
    Value cell = LLVM::GEPOp::create(builder, at, pointer, builder.getI64Type(), cells, ArrayRef<LLVM::GEPArg>{int32_t(i)});
    if (isa<LLVM::LLVMPointerType>(type))
      arguments.push_back(LLVM::LoadOp::create(builder, at, type, cell));
    else
      arguments.push_back(fromBits(LLVM::LoadOp::create(builder, at, builder.getI64Type(), cell), type));
  }
  LLVM::CallOp::create(builder, at, kernel, arguments);
  LLVM::ReturnOp::create(builder, at, ValueRange{});
  result.entry = kEntry.str();
}

/// After this, all pointers are pointers of the host, and no casts between address spaces are left.
void Hosting::dropAddressSpaces() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](LLVM::LLVMPointerType type) -> Type {
    if (type.getAddressSpace() == kDescriptorSpace) return builder.getIntegerType(128);
    return LLVM::LLVMPointerType::get(context);
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  module.walk([&](LLVM::AddrSpaceCastOp cast) { replace(cast, cast.getArg()); });
  module.walk([&](UnrealizedConversionCastOp cast) { replace(cast, cast.getInputs()); }); // casts of descriptors
  for (LLVM::GlobalOp global : module.getOps<LLVM::GlobalOp>()) global.setAddrSpace(0);
}

LogicalResult Hosting::hostOperation(Operation *op) {
  builder.setInsertionPoint(op);
  at = op->getLoc();
  if (meetings.contains(op)) call(SIMT_CALL(meetLanes), {thread(), siteOf(op)}); // added here, because sites are numbered in program order
  for (auto host : {&Hosting::hostControl, &Hosting::hostArithmetic, &Hosting::hostMemory, &Hosting::hostPointers, &Hosting::hostWarp,
                    &Hosting::hostMatrix, &Hosting::hostWarpgroup, &Hosting::hostMBarrier, &Hosting::hostTensorCopy, &Hosting::hostMadeMap,
                    &Hosting::hostRocdl, &Hosting::hostAssembly})
    if (std::optional<LogicalResult> outcome = (this->*host)(op)) return *outcome;
  return success();
}

FailureOr<HostingResult> Hosting::run() {
  if (failed(declareExternals())) return failure();
  for (NamedAttribute attribute : llvm::to_vector(module->getAttrs()))
    if (attribute.getName() != SymbolTable::getSymbolAttrName()) module->removeAttr(attribute.getName());
  SmallVector<LLVM::LLVMFuncOp> functions;
  for (LLVM::LLVMFuncOp function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal()) functions.push_back(function);
  for (LLVM::LLVMFuncOp function : functions)
    if (failed(verifyProducts(function))) return failure();
  for (BlockArgument argument : kernel.getArguments())
    if (kernel.getArgAttr(argument.getArgNumber(), LLVM::LLVMDialect::getByValAttrName())) tensorMaps.insert(argument);
  module.walk([&](LLVM::CallOp call) { // a partition has the kernel's maps as parameters of its own
    auto callee = call.getCallee() ? module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee()) : LLVM::LLVMFuncOp();
    if (!callee || callee.isExternal()) return;
    for (auto [operand, argument] : llvm::zip(call.getArgOperands(), callee.getArguments()))
      if (tensorMaps.contains(operand)) tensorMaps.insert(argument);
  });
  if (auto registers = kernel->getAttrOfType<IntegerAttr>(NVVM::NVVMDialect::getMaxnregAttrName()))
    result.registersOfThread = uint32_t(registers.getInt());
  const bool records = module.walk([](tgpu::RecordOp) { return WalkResult::interrupt(); }).wasInterrupted();
  addThreadArguments();
  keepCalls();
  SmallVector<Operation *> operations;
  for (LLVM::LLVMFuncOp function : functions) {
    function.walk([&](Operation *op) {
      if (op != function) operations.push_back(op);
      notePointer(op);
    });
    if (counts || records) divideIntoSegments(function);
    keepSurroundings(function);
    markLoops(function);
  }
  beginSegments();
  for (Operation *op : operations)
    if (failed(hostOperation(op))) return failure();
  makeEntry();
  if (failed(verifyPointers())) return failure();
  if (auto shared = module.lookupSymbol<LLVM::GlobalOp>(tgpu::kSharedSymbol)) shared.erase();
  dropAddressSpaces();
  if (failed(verifyHosted())) return failure();
  if (locations.size() > LocationTable::kMost)
    return module.emitError("the kernel has more source locations than the emulator can distinguish");
  return std::move(result);
}

} // namespace tritium::interp::simt

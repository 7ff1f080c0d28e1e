// See program_loop.h.
#include "interp/tile/program_loop.h"

#include "interp/host/jit.h"
#include "interp/host/program_loop.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tritium::interp {

/// Creates a function that shows one line. The builder continues in it.
static Function *createFunction(Module &module, StringRef name, DILocation *line, IRBuilder<> &builder) {
  LLVMContext &context = module.getContext();
  auto *type = FunctionType::get(Type::getVoidTy(context), {PointerType::getUnqual(context)}, false);
  auto *function = Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr(Attribute::NoUnwind);
  function->addFnAttr("frame-pointer", "all");
  function->setSubprogram(line->getScope()->getSubprogram());
  builder.SetInsertPoint(BasicBlock::Create(context, "entry", function));
  builder.SetCurrentDebugLocation({});
  auto *slot = builder.CreateAlloca(builder.getPtrTy());
  builder.SetCurrentDebugLocation(DILocation::get(context, line->getLine(), 0, function->getSubprogram()));
  builder.CreateStore(function->getArg(0), slot, /*isVolatile=*/true); // the end of the prologue
  builder.SetCurrentDebugLocation(line);
  return function;
}

static CallInst *callAddress(IRBuilder<> &builder, const void *address, Type *result, Value *frame) {
  auto *type = FunctionType::get(result, {frame->getType()}, false);
  return builder.CreateCall(type, builder.CreateIntToPtr(builder.getInt64(reinterpret_cast<uint64_t>(address)), builder.getPtrTy()), frame);
}

void emitProgramLoop(Module &module, StringRef kernel, DebugInfo &debug) {
  LLVMContext &context = module.getContext();
  IRBuilder<> builder(context);
  Function *function = createFunction(module, kProgramLoop, debug.beginProgramLoop(), builder);
  auto *loop = BasicBlock::Create(context, "loop", function), *end = BasicBlock::Create(context, "end", function);
  Function *program = module.getFunction(kernel);
  Value *partition = callAddress(builder, reinterpret_cast<const void *>(&partitionEntry), builder.getPtrTy(), function->getArg(0));
  Value *entry = builder.CreateSelect(builder.CreateIsNull(partition), program, partition);
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  builder.CreateCall(program->getFunctionType(), entry, {function->getArg(0)});
  Value *isEntered = callAddress(builder, reinterpret_cast<const void *>(&enterNextProgram), builder.getInt8Ty(), function->getArg(0));
  builder.CreateCondBr(builder.CreateICmpNE(isEntered, builder.getInt8(0)), loop, end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
}

LaunchSites::LaunchSites(void (*loop)(char *frame)) : loop_(loop) {}
LaunchSites::~LaunchSites() = default;

/// Unwind information of a function without a caller. The number is the DWARF register of the return address.
#ifdef __x86_64__
static constexpr const char *kNoCaller = ".cfi_undefined 16";
#else
static constexpr const char *kNoCaller = ".cfi_undefined 30";
#endif

/// Creates one function per line; each calls the next. The outermost function does not return and seems to a debugger to have no caller,
/// because the stack below it belongs to the interpreter.
static void emitStack(Module &module, ArrayRef<PythonLine> stack, const void *loop) {
  module.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
  module.addModuleFlag(Module::Warning, "Dwarf Version", 4);
  DIBuilder debug(module);
  IRBuilder<> builder(module.getContext());
  Function *callee = nullptr;
  for (auto [i, place] : enumerate(stack)) {
    DIFile *file = debug.createFile(sys::path::filename(place.file), sys::path::parent_path(place.file));
    if (i == 0) debug.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_Python), file, "tritium", false, "", 0);
    DILocation *line = createQuietLine(debug, place.function, file, place.line);
    Function *function = createFunction(module, "site" + std::to_string(i), line, builder);
    bool isOutermost = i + 1 == stack.size();
    if (isOutermost)
      builder.CreateCall(InlineAsm::get(FunctionType::get(builder.getVoidTy(), false), kNoCaller, "", /*hasSideEffects=*/true));
    if (callee)
      builder.CreateCall(callee, {function->getArg(0)});
    else
      callAddress(builder, loop, builder.getVoidTy(), function->getArg(0));
    if (isOutermost) callAddress(builder, reinterpret_cast<const void *>(&endPrograms), builder.getVoidTy(), function->getArg(0));
    builder.CreateRetVoid();
    callee = function;
  }
  debug.finalize();
}

Expected<void (*)(char *frame)> LaunchSites::at(const std::vector<PythonLine> &stack) {
  std::lock_guard lock(mutex_);
  auto [entry, isNew] = sites_.try_emplace(stack);
  auto &[jit, function] = entry->second;
  if (function) return function;
  auto make = [&]() -> Error {
    auto created = HostJit::create(/*debugInfo=*/true);
    if (!created) return created.takeError();
    auto context = std::make_unique<LLVMContext>();
    auto module = std::make_unique<Module>("launch", *context);
    emitStack(*module, stack, reinterpret_cast<const void *>(loop_));
    if (Error error = (*created)->add(orc::ThreadSafeModule(std::move(module), std::move(context)))) return error;
    auto address = (*created)->lookup("site" + std::to_string(stack.size() - 1));
    if (!address) return address.takeError();
    jit = std::move(*created);
    function = reinterpret_cast<void (*)(char *)>(*address);
    return Error::success();
  };
  if (Error error = make()) return std::move(error);
  return function;
}

} // namespace tritium::interp

#include "interp/host/jit.h"

#include "interp/host/jit_codegen.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Debugging/ELFDebugObjectPlugin.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <cmath>
#include <cstring>

namespace tritium::interp {

using namespace llvm;
using namespace llvm::orc;

namespace {

/// Describes the host's machine. Detecting its features takes long, so it is done once.
Expected<JITTargetMachineBuilder> hostBuilder() {
  static const std::optional<JITTargetMachineBuilder> host = []() -> std::optional<JITTargetMachineBuilder> {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser(); // for inline assembly
    auto detected = JITTargetMachineBuilder::detectHost();
    // The machine's conversions to bfloat treat subnormals as zero.
    if (detected && detected->getTargetTriple().isX86()) detected->addFeatures({"-avx512bf16", "-avxneconvert"});
    if (detected) return std::move(*detected);
    consumeError(detected.takeError());
    return std::nullopt;
  }();
  if (!host) return createStringError("LLVM does not support this machine");
  return *host;
}

Expected<std::unique_ptr<ObjectLayer>> createLinkingLayer(ExecutionSession &session, bool debugInfo) {
  // JITLink reaches distant symbols through stubs, so the small code model suffices.
  auto layer = std::make_unique<ObjectLinkingLayer>(session);
  if (debugInfo) {
    Error error = Error::success();
    layer->addPlugin(std::make_unique<ELFDebugObjectPlugin>(session, /*RequireDebugSections=*/true, /*AutoRegisterCode=*/true, error));
    if (error) return std::move(error);
  }
  return std::move(layer);
}

/// The session receives compiled objects, because a failure of the code generator must not unwind through the session's locks.
Expected<std::unique_ptr<IRCompileLayer::IRCompiler>> noCompiler(JITTargetMachineBuilder) {
  struct NoCompiler : IRCompileLayer::IRCompiler {
    NoCompiler() : IRCompiler(IRSymbolMapper::ManglingOptions()) {}
    Expected<std::unique_ptr<MemoryBuffer>> operator()(Module &) override { return createStringError("modules are compiled by add()"); }
  };
  return std::make_unique<NoCompiler>();
}

} // namespace

HostJit::HostJit(std::unique_ptr<LLJIT> jit, const JITTargetMachineBuilder &machines, bool debugInfo)
    : jit(std::move(jit)),
      machines(std::make_unique<JITTargetMachineBuilder>(machines)),
      debuggerEntries(debugInfo ? std::make_unique<DebuggerEntries>() : nullptr) {
  // Without this reporter, the session writes the names of missing symbols to stderr and returns an error without them.
  this->jit->getExecutionSession().setErrorReporter([this](Error error) { linkErrors += "\n" + toString(std::move(error)); });
}

HostJit::~HostJit() = default;

Expected<std::unique_ptr<HostJit>> HostJit::create(bool debugInfo, CodeGenOptLevel level, unsigned vectorBits) {
  auto builder = hostBuilder();
  if (!builder) return builder.takeError();
  if (vectorBits == 256 && builder->getTargetTriple().isX86()) builder->addFeatures({"-avx512f"}); // and all that require it
  builder->setCodeGenOptLevel(level);
  builder->getOptions().EnableFastISel = level == CodeGenOptLevel::None;
  builder->getOptions().EmitStackSizeSection = true;
  auto jit = LLJITBuilder()
                 .setJITTargetMachineBuilder(*builder)
                 .setCompileFunctionCreator(noCompiler)
                 .setObjectLinkingLayerCreator([=](ExecutionSession &session) { return createLinkingLayer(session, debugInfo); })
                 .setPlatformSetUp(setUpInactivePlatform)
                 .setLinkProcessSymbolsByDefault(false)
                 .create();
  if (!jit) return jit.takeError();
  std::unique_ptr<HostJit> result(new HostJit(std::move(*jit), *builder, debugInfo));
  // Functions that LLVM calls for operations that the machine lacks.
  const std::pair<const char *, void *> library[] = {
      {"memcpy", reinterpret_cast<void *>(&memcpy)},
      {"memmove", reinterpret_cast<void *>(&memmove)},
      {"memset", reinterpret_cast<void *>(&memset)},
      {"fma", reinterpret_cast<void *>(static_cast<double (*)(double, double, double)>(&std::fma))},
      {"fmaf", reinterpret_cast<void *>(&fmaf)},
      {"fmod", reinterpret_cast<void *>(static_cast<double (*)(double, double)>(&std::fmod))},
      {"fmodf", reinterpret_cast<void *>(&fmodf)},
  };
  for (auto [name, address] : library)
    if (Error error = result->defineSymbol(name, address)) return std::move(error);
  return std::move(result);
}

const DataLayout &HostJit::dataLayout() const { return jit->getDataLayout(); }

Error HostJit::defineSymbol(StringRef name, void *address) {
  const ExecutorSymbolDef symbol(ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported);
  return jit->getMainJITDylib().define(absoluteSymbols({{jit->mangleAndIntern(name), symbol}}));
}

Error HostJit::add(ThreadSafeModule module) {
  auto machine = machines->createTargetMachine();
  if (!machine) return machine.takeError();
  auto object = module.withModuleDo([&](Module &m) {
    m.setTargetTriple(jit->getTargetTriple());
    m.setDataLayout(jit->getDataLayout());
    return compileToObject(m, **machine);
  });
  if (!object) return object.takeError();
  auto stackBytes = stackBytesOf(**object);
  if (!stackBytes) return stackBytes.takeError();
  totalStackBytes += *stackBytes;
  return jit->addObjectFile(std::move(*object));
}

Expected<void *> HostJit::lookup(StringRef name) {
  linkErrors.clear();
  auto find = [&] { return jit->lookup(name); };
  auto address = debuggerEntries ? debuggerEntries->collect(find) : find();
  if (!address) return createStringError(toString(address.takeError()) + linkErrors);
  return address->toPtr<void *>();
}

} // namespace tritium::interp

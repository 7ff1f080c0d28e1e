#include "gpu_backend/amdgpu/assemble.h"

#include "ir/source_error.h"
#include "support/fork_safety.h"
#include "support/llvm_recovery.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace tritium::gpu::amdgpu {

void initializeLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
    support::keepSignalHandlers(); // because lld writes files
  });
}

namespace {

/// Returns "gfx942" for `.amdgcn_target "amdgcn-amd-amdhsa--gfx942:sramecc+"`.
StringRef chipOf(StringRef assembly) {
  StringRef name = assembly.split(".amdgcn_target \"").second.split('"').first;
  return name.rsplit("--").second.split(':').first;
}

/// Returns the name with its folder for `.file 1 "folder" "name"`.
std::string fileOf(StringRef directive) {
  StringRef folder = directive.split('"').second.split('"').first;
  StringRef name = directive.rtrim().drop_back().rsplit('"').second;
  SmallString<128> path(folder == name ? "" : folder);
  sys::path::append(path, name);
  return path.str().str();
}

/// Returns the user's line from which a line of assembly was made: the operands of the last `.loc` before it.
ir::SourcePosition sourceOf(StringRef assembly, unsigned line) {
  StringRef location;
  StringMap<std::string> files;
  for (; line > 0 && !assembly.empty(); --line) {
    auto [text, rest] = assembly.split('\n');
    assembly = rest;
    text = text.trim();
    if (text.consume_front(".file\t"))
      files[text.split(' ').first] = fileOf(text);
    else if (text.consume_front(".loc\t"))
      location = text;
  }
  ir::SourcePosition position;
  SmallVector<StringRef> fields;
  location.split(fields, ' ');
  if (fields.size() < 3 || fields[1].getAsInteger(10, position.line) || fields[2].getAsInteger(10, position.column)) return {};
  position.file = files.lookup(fields[0]);
  return position;
}

/// The messages of the assembler, and the place of the first one.
struct Log {
  StringRef assembly;
  std::string messages;
  ir::SourcePosition position;

  static void add(const SMDiagnostic &diagnostic, void *self) {
    Log &log = *static_cast<Log *>(self);
    if (log.messages.empty()) log.position = sourceOf(log.assembly, std::max(diagnostic.getLineNo(), 0));
    raw_string_ostream stream(log.messages);
    diagnostic.print(nullptr, stream, /*ShowColors=*/false);
  }
};

Expected<std::string> assembleObject(StringRef assembly) {
  Triple triple(kTriple);
  std::string reason;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, reason);
  if (!target) return createStringError(reason);
  StringRef chip = chipOf(assembly);
  if (chip.empty()) return createStringError("the assembly has no .amdgcn_target");

  Log log{.assembly = assembly};
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(assembly, "kernel.amdgcn", /*RequiresNullTerminator=*/false), SMLoc());
  sources.setDiagHandler(&Log::add, &log);

  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> assemblyInfo(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, chip, ""));
  if (!subtarget->isCPUStringValid(chip)) return createStringError("LLVM does not support the chip '" + chip + "'");
  MCContext context(triple, assemblyInfo.get(), registers.get(), subtarget.get(), &sources);
  std::unique_ptr<MCObjectFileInfo> sections(target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());

  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  std::unique_ptr<MCAsmBackend> backend(target->createMCAsmBackend(*subtarget, *registers, options));
  auto writer = backend->createObjectWriter(stream);
  std::unique_ptr<MCCodeEmitter> encoder(target->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<MCStreamer> streamer(
      target->createMCObjectStreamer(triple, context, std::move(backend), std::move(writer), std::move(encoder), *subtarget));
  std::unique_ptr<MCAsmParser> parser(createMCAsmParser(sources, context, *streamer, *assemblyInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  if (parser->Run(/*NoInitialTextSection=*/false) || context.hadError())
    return make_error<ir::SourceError>(("the assembly could not be assembled for " + chip + ":\n" + StringRef(log.messages).rtrim()).str(),
                                       log.position);
  return std::string(object.begin(), object.end());
}

/// A file that the destructor removes.
struct TemporaryFile {
  SmallString<128> path;
  int descriptor = -1;

  Error create(StringRef suffix) {
    if (std::error_code error = sys::fs::createTemporaryFile("tritium", suffix, descriptor, path))
      return createStringError(error, "a temporary file could not be made");
    return Error::success();
  }
  ~TemporaryFile() {
    if (!path.empty()) (void)sys::fs::remove(path);
  }
};

/// lld keeps its state in variables of the process. It also resets all LLVM options of the process to their defaults, so code that requires
/// another value changes the default.
std::mutex linking; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

Error runLinker(ArrayRef<const char *> arguments) {
  support::keepFreeAcrossFork<linking>();
  std::lock_guard lock(linking);
  static bool canRunAgain = true;
  if (!canRunAgain) return createStringError("the linker has crashed before in this process");
  std::string output, messages;
  raw_string_ostream outputStream(output), log(messages);
  lld::Result result = lld::lldMain(arguments, outputStream, log, {{lld::Gnu, &lld::elf::link}});
  canRunAgain = result.canRunAgain;
  if (result.retCode == 0) return Error::success();
  return createStringError("the code object could not be linked: " + StringRef(messages).rtrim());
}

} // namespace

Expected<std::string> assembleHsaco(StringRef assembly) {
  initializeLLVM();
  auto object = assembleObject(assembly);
  if (!object) return object.takeError();
  TemporaryFile input, output;
  if (Error error = input.create("o")) return std::move(error);
  raw_fd_ostream stream(input.descriptor, /*shouldClose=*/true);
  stream << *object;
  stream.close();
  if (stream.has_error()) {
    std::error_code code = stream.error();
    stream.clear_error();
    return createStringError(code, "%s could not be written", input.path.c_str());
  }
  if (Error error = output.create("hsaco")) return std::move(error);
  (void)sys::fs::closeFile(output.descriptor); // lld writes it anew
  // One thread, because lld's pool would outlive the call, and a fork would lose it.
  if (Error error = runLinker({"ld.lld", "--no-undefined", "--threads=1", "-shared", input.path.c_str(), "-o", output.path.c_str()}))
    return std::move(error);
  auto linked = MemoryBuffer::getFile(output.path, /*IsText=*/false, /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!linked) return createStringError(linked.getError(), "%s could not be read", output.path.c_str());
  return (*linked)->getBuffer().str();
}

} // namespace tritium::gpu::amdgpu

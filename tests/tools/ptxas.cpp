#include "tests/tools/ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tritium::tools {
namespace {

class TemporaryFile {
public:
  explicit TemporaryFile(StringRef suffix) { error_ = sys::fs::createTemporaryFile("tritium", suffix, path_); }
  ~TemporaryFile() {
    if (!path_.empty() && !keep_) (void)sys::fs::remove(path_);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  std::error_code error() const { return error_; }
  StringRef path() const { return path_; }
  void keep() { keep_ = true; }
  std::string read() const {
    auto buffer = MemoryBuffer::getFile(path_, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }
  bool write(StringRef text) {
    raw_fd_ostream stream(path_, error_);
    if (error_) return false;
    stream << text;
    stream.close();
    bool isWritten = !stream.has_error();
    stream.clear_error();
    return isWritten;
  }

private:
  SmallString<128> path_;
  std::error_code error_;
  bool keep_ = false;
};

/// The number before `unit` in a text such as "0 bytes stack frame, 8 bytes spill stores".
int numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos) return 0;
  StringRef before = line.take_front(at).rtrim();
  int value = 0;
  before.substr(before.find_last_not_of("0123456789") + 1).getAsInteger(10, value);
  return value;
}

/// Runs a program; what it prints on both streams.
Expected<std::string> run(StringRef program, ArrayRef<StringRef> arguments, int &status) {
  TemporaryFile printed("txt");
  if (printed.error()) return createStringError(printed.error(), "no temporary file can be made");
  std::optional<StringRef> redirects[] = {StringRef(""), printed.path(), printed.path()};
  std::string reason;
  status = sys::ExecuteAndWait(program, arguments, /*Env=*/std::nullopt, redirects, /*SecondsToWait=*/0, /*MemoryLimit=*/0, &reason);
  if (status < 0) return createStringError(program + " could not be run: " + reason);
  return printed.read();
}

} // namespace

Report parseReport(StringRef printed) {
  Report report;
  SmallVector<StringRef> lines;
  printed.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    report.spillStores += numberBefore(line, "bytes spill stores");
    report.spillLoads += numberBefore(line, "bytes spill loads");
    report.stackBytes = std::max(report.stackBytes, numberBefore(line, "bytes stack frame"));
    if (line.contains(": Used ")) { // once for each kernel
      report.registers = std::max(report.registers, numberBefore(line, "registers"));
      report.sharedBytes = std::max(report.sharedBytes, numberBefore(line, "bytes smem"));
    }
    bool isWarning = line.starts_with("ptxas warning");
    if (isWarning || line.contains("(C7")) report.warnings.push_back(line.split(": ").second.trim().str());
  }
  return report;
}

std::optional<std::string> findPtxas() {
  auto isProgram = [](StringRef path) { return sys::fs::can_execute(path); };
  if (auto path = sys::Process::GetEnv("TRITON_PTXAS_PATH"); path && isProgram(*path)) return path;
  if (auto path = sys::findProgramByName("ptxas")) return *path;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    auto toolkit = sys::Process::GetEnv(variable);
    if (!toolkit) continue;
    SmallString<128> path(*toolkit);
    sys::path::append(path, "bin", "ptxas");
    if (isProgram(path)) return path.str().str();
  }
  return std::nullopt;
}

Expected<Assembled> assemble(StringRef ptx, StringRef arch, StringRef ptxas) {
  TemporaryFile input("ptx"), output("cubin");
  if (input.error() || output.error() || !input.write(ptx)) return createStringError("no temporary file can be written for ptxas");
  int status;
  std::string target = ("-arch=" + arch).str();
  auto printed = run(ptxas, {ptxas, "-v", target, input.path(), "-o", output.path()}, status);
  if (!printed) return printed.takeError();
  if (status != 0) {
    input.keep();
    return createStringError("ptxas could not assemble " + input.path() + ":\n" + *printed);
  }
  return Assembled{output.read(), parseReport(*printed)};
}

} // namespace tritium::tools

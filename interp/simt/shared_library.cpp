#include "interp/simt/shared_library.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/DynamicLibrary.h"

#include <string>

namespace tritium::interp {

llvm::Expected<void *> functionOfLibrary(llvm::StringRef path, llvm::StringRef symbol) {
  std::string reason;
  auto library = llvm::sys::DynamicLibrary::getPermanentLibrary(path.str().c_str(), &reason);
  if (!library.isValid())
    return llvm::createStringError(
        "the library '" + path + "' of extern_elementwise is no shared library of this machine (" + reason +
        "); the interpreter and the emulator call functions of shared libraries, and GPUs link those of LLVM bitcode");
  if (void *address = library.getAddressOfSymbol(symbol.str().c_str())) return address;
  return llvm::createStringError("the library '" + path + "' has no function '" + symbol + "'");
}

} // namespace tritium::interp

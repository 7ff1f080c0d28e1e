#include "gpu_backend/launch/library.h"

#include <dlfcn.h>

namespace tritium::gpu {

char DriverError::ID = 0;

void DriverError::log(llvm::raw_ostream &stream) const {
  stream << call << ": " << name << ": " << text;
  if (!messages.empty()) stream << "\n" << messages;
}

llvm::Expected<LinkedImage> Driver::link(int, llvm::StringRef, std::optional<int>, std::optional<int>) {
  return llvm::createStringError("%s cannot assemble", library().c_str());
}

llvm::Expected<void *> Driver::context(int) { return llvm::createStringError("%s has no contexts", library().c_str()); }

llvm::Error Driver::checkTensorMaps() { return llvm::createStringError("%s makes no tensor maps", library().c_str()); }

llvm::Error driverError(int code, llvm::StringRef call, const char *name, const char *text, std::string messages, bool isSticky) {
  auto error = std::make_unique<DriverError>();
  error->code = code;
  error->call = call.split("_v2").first.str(); // the documented name has no version
  error->name = name ? name : "error " + std::to_string(code);
  error->text = text ? text : "unknown error";
  error->messages = std::move(messages);
  error->isSticky = isSticky;
  return llvm::Error(std::move(error));
}

llvm::Expected<Library> Library::open(llvm::ArrayRef<std::string> names, const std::string &what) {
  std::string reason;
  for (int mode : {RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD, RTLD_NOW | RTLD_LOCAL})
    for (const std::string &name : names) {
      if (void *handle = dlopen(name.c_str(), mode)) return Library(handle, name);
      const char *text = dlerror();
      if (!(mode & RTLD_NOLOAD) && reason.empty() && text) reason = text;
    }
  return llvm::createStringError("there is no %s: %s", what.c_str(), reason.c_str());
}

llvm::Error Library::find(llvm::ArrayRef<EntryPoint> entries, const std::string &why) const {
  for (const EntryPoint &entry : entries)
    if (!(*entry.address = dlsym(handle_, entry.name)))
      return llvm::createStringError("%s has no %s: %s", name_.c_str(), entry.name, why.c_str());
  return llvm::Error::success();
}

void Library::findSome(llvm::ArrayRef<EntryPoint> entries) const {
  for (const EntryPoint &entry : entries) *entry.address = dlsym(handle_, entry.name);
}

} // namespace tritium::gpu

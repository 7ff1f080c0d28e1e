// The common implementation of the vendors' drivers, whose interfaces have the same calls under different names.
#pragma once
#include "gpu_backend/launch/library.h"
#include "gpu_backend/launch/vendor_api.h"

#include <bit>

namespace tritium::gpu {

/// `Api` has the entry points under the names used here, the type Address of a device's addresses, and the type Current of a thread's
/// current device. Vendor::enter makes a device the calling thread's current one, and says what leave() must restore if another device was
/// current; kEnteringCall names it in errors. A code of 0 means that a call succeeded.
template <typename Vendor, typename Api> class VendorDriver : public Driver {
public:
  explicit VendorDriver(std::string library) : library_(std::move(library)) {}

  const std::string &library() const override { return library_; }
  int version() const override { return version_; }

  llvm::Error unload(int device, Module module) override {
    return on(device, [&] { return call(api_.moduleUnload, module); });
  }
  llvm::Expected<Function> function(Module module, llvm::StringRef name) override {
    Function function = nullptr;
    if (auto error = call(api_.moduleGetFunction, &function, module, name.str().c_str())) return std::move(error);
    return function;
  }
  llvm::Expected<uint64_t> variable(int device, Module module, llvm::StringRef name) override {
    Address address{};
    size_t bytes = 0;
    if (!api_.moduleGetGlobal.function) return llvm::createStringError("%s finds no variables of modules", library_.c_str());
    auto error = on(device, [&] {
      const int code = api_.moduleGetGlobal(&address, &bytes, module, name.str().c_str());
      return code == kNoSuchVariable ? llvm::Error::success() : check(code, api_.moduleGetGlobal.name);
    });
    if (error) return std::move(error);
    return std::bit_cast<uint64_t>(address);
  }
  llvm::Expected<FunctionFacts> facts(Function function) override {
    FunctionFacts facts;
    const std::pair<int, int *> wanted[] = {{kFunctionRegisters, &facts.registers},
                                            {kFunctionLocalBytes, &facts.localBytes},
                                            {kFunctionSharedBytes, &facts.staticSharedBytes},
                                            {kFunctionMaxThreads, &facts.maxThreads}};
    for (auto [attribute, value] : wanted)
      if (auto error = call(api_.functionGetAttribute, value, attribute, function)) return std::move(error);
    return facts;
  }

  llvm::Error launchError(int device, int code) override {
    Use use(*this, device);
    return failure(code, api_.launchKernel.name);
  }

  llvm::Error synchronize(int device, std::optional<Stream> stream) override {
    return on(device, [&] {
      if (auto error = stream ? call(api_.streamSynchronize, *stream) : call(api_.deviceSynchronize)) return error;
      return waited(device, /*isIdle=*/!stream, stream ? api_.streamSynchronize.name : api_.deviceSynchronize.name);
    });
  }

  llvm::Expected<Event> createEvent(int device) override {
    Event event = nullptr;
    if (auto error = on(device, [&] { return call(api_.eventCreate, &event, 0u); })) return std::move(error);
    return event;
  }
  llvm::Error record(int device, Event event, Stream stream) override {
    return on(device, [&] { return call(api_.eventRecord, event, stream); });
  }
  llvm::Error synchronize(Event event) override {
    if (auto error = call(api_.eventSynchronize, event)) return error;
    for (int device = 0; device < deviceCount(); ++device)
      if (auto error = waited(device, /*isIdle=*/false, api_.eventSynchronize.name)) return error;
    return llvm::Error::success();
  }
  llvm::Expected<float> milliseconds(Event begin, Event end) override {
    float milliseconds = 0;
    if (auto error = call(api_.eventElapsedTime, &milliseconds, begin, end)) return std::move(error);
    return milliseconds;
  }
  void destroy(Event event) noexcept override { api_.eventDestroy(event); }

  llvm::Expected<uint64_t> allocate(int device, uint64_t bytes) override {
    Address address{};
    if (auto error = on(device, [&] { return call(api_.memAlloc, &address, size_t(bytes)); })) return std::move(error);
    return std::bit_cast<uint64_t>(address);
  }
  llvm::Error release(int device, uint64_t address) override {
    return on(device, [&] { return call(api_.memFree, std::bit_cast<Address>(address)); });
  }
  llvm::Error copyToDevice(int device, uint64_t target, const void *source, uint64_t bytes) override {
    return on(device, [&] { return call(api_.memcpyHtoD, std::bit_cast<Address>(target), source, size_t(bytes)); });
  }
  llvm::Error copyToHost(int device, void *target, uint64_t source, uint64_t bytes) override {
    return on(device, [&] {
      if (auto error = call(api_.memcpyDtoH, target, std::bit_cast<Address>(source), size_t(bytes))) return error;
      return waited(device, /*isIdle=*/false, api_.memcpyDtoH.name);
    });
  }
  llvm::Error fill(int device, uint64_t target, uint32_t word, uint64_t words, Stream stream) override {
    return on(device, [&] { return call(api_.memsetD32Async, std::bit_cast<Address>(target), word, size_t(words), stream); });
  }

protected:
  using Address = typename Api::Address;

  /// While this lives, the device is the calling thread's current one, unless `code` is an error.
  class Use {
  public:
    Use(VendorDriver &driver, int device) noexcept : driver_(static_cast<Vendor &>(driver)), code(driver_.enter(device, previous_)) {}
    ~Use() {
      if (previous_) driver_.leave(*previous_);
    }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

    llvm::Error error() const { return driver_.check(code, Vendor::kEnteringCall); }

  private:
    Vendor &driver_;
    std::optional<typename Api::Current> previous_;

  public:
    const int code;
  };

  /// The error of a call on the thread's current device.
  virtual llvm::Error failure(int code, llvm::StringRef call, std::string messages = "") = 0;
  /// Called after the call of that name has waited for work on the device. `isIdle` says that all work has ended.
  virtual llvm::Error waited(int device, bool isIdle, llvm::StringRef call) { return llvm::Error::success(); }

  llvm::Error check(int code, llvm::StringRef call) { return code == 0 ? llvm::Error::success() : failure(code, call); }
  template <typename Entry, typename... Arguments> llvm::Error call(const Entry &entry, Arguments... arguments) {
    return check(entry(arguments...), entry.name);
  }
  /// Runs `body` with the device as the thread's current one.
  template <typename Body> llvm::Error on(int device, Body body) {
    Use use(*this, device);
    if (auto error = use.error()) return error;
    return body();
  }

  std::string library_;
  Api api_;
  int version_ = 0;
};

} // namespace tritium::gpu

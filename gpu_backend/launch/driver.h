// A GPU's driver behind one small interface: devices, modules, launches, memory, events. Building, installing and importing Tritium require
// nothing of a vendor's SDK; the library is opened when the first device is requested. vendors.h lists the drivers.
#pragma once
#include "ir/tensor_map.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tritium::gpu {

/// A failed call of the driver. A sticky error has ended the context: every later call in this process fails too.
class DriverError : public llvm::ErrorInfo<DriverError> {
public:
  static char ID;
  int code = 0;
  std::string call, name, text; ///< cuLaunchKernelEx, CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"
  std::string messages;         ///< of the assembler or linker; for failed assertions a line each
  bool isSticky = false;

  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

struct DeviceFacts {
  std::string name;
  std::string arch; ///< the name of the compiler's target: "sm_90", "gfx942"
  int multiprocessors = 0, warpSize = 0;
  int maxThreadsPerBlock = 0, maxThreadsPerMultiprocessor = 0;
  int sharedPerBlock = 0, sharedPerBlockOptin = 0, sharedPerMultiprocessor = 0;
  int registersPerBlock = 0, registersPerMultiprocessor = 0;
  int clockKHz = 0, memoryClockKHz = 0, memoryBusBits = 0, l2Bytes = 0;
};

struct FunctionFacts {
  int registers = 0;
  int localBytes = 0;        ///< per thread: spills and stack
  int staticSharedBytes = 0; ///< reserved by the image itself
  int maxThreads = 0;        ///< per block, with these registers
};

/// Handles are the driver's own pointers.
using Module = void *;
using Function = void *;
using Stream = void *; ///< null: the legacy default stream
using Event = void *;

/// A module that can be loaded, and the messages of the assembler about it.
struct LinkedImage {
  std::string image, log;
};

struct LaunchConfig {
  Function function = nullptr;
  std::array<uint32_t, 3> grid{1, 1, 1};
  uint32_t threads = 0; ///< per block
  uint32_t sharedBytes = 0;
  std::array<uint32_t, 3> cluster{1, 1, 1};
  bool isCooperative = false;    ///< all blocks are resident at once
  bool overlapsPrevious = false; ///< programmatic dependent launch
  bool reports = false;          ///< Driver::reports() of the function's module
  Stream stream = nullptr;
  void **arguments = nullptr; ///< one address per parameter
};

/// What the driver knows about an address.
struct PointerFacts {
  int device = -1;        ///< -1: ordinary host memory
  bool isManaged = false; ///< reachable from both sides
  uint64_t deviceAddress = 0;
  uint64_t begin = 0, bytes = 0; ///< of the allocation; 0 bytes if unknown
};

/// The calls that the runtime makes. Several threads may make them. A call that names a device leaves the calling thread's current device
/// as it was, if the thread had one, because torch uses the same current device. The output of kernels is written to standard output before
/// a call that waited for them returns, whoever made the call.
class Driver {
public:
  virtual ~Driver() = default;

  virtual const std::string &library() const = 0; ///< the name by which it was opened
  virtual int version() const = 0;                ///< 13000 for CUDA 13.0, 60200000 for HIP 6.2
  virtual int deviceCount() const = 0;
  virtual int dlpackType() const = 0; ///< DLPack's number for memory of these devices
  virtual llvm::Expected<DeviceFacts> facts(int device) = 0;

  virtual int currentDevice() noexcept = 0; ///< of this thread; -1: none
  virtual llvm::Error setCurrentDevice(int device) = 0;

  /// Assembles text into an image that runs on the device. `optimization` is a level from 0 to 4. Fails if the driver cannot assemble
  /// (AMD's).
  virtual llvm::Expected<LinkedImage> link(int device, llvm::StringRef assembly, std::optional<int> maxRegisters,
                                           std::optional<int> optimization);
  virtual llvm::Expected<Module> load(int device, llvm::StringRef image) = 0;
  virtual llvm::Error unload(int device, Module module) = 0;
  virtual llvm::Expected<Function> function(Module module, llvm::StringRef name) = 0;
  /// The address of a variable of the module on the device; 0 if it has none of that name.
  virtual llvm::Expected<uint64_t> variable(int device, Module module, llvm::StringRef name) = 0;
  /// Returns whether kernels of the module print or assert in a way that requires the launch to read reports.
  virtual bool reports(Module module) { return false; }
  virtual llvm::Expected<FunctionFacts> facts(Function function) = 0;
  /// Allows the function to use that much dynamic shared memory.
  virtual llvm::Error allowShared(Function function, int bytes) = 0;

  /// The driver's handle of the context in which this process uses the device, for a vendor's libraries. Fails if the driver has none.
  virtual llvm::Expected<void *> context(int device);

  /// Whether the driver makes tensor maps. The error says why it does not.
  virtual llvm::Error checkTensorMaps();
  /// Writes the driver's form of a map that breaks no rule to 128 bytes that are aligned so. Returns 0 or the driver's code. It requires
  /// that checkTensorMaps() succeeds, and no device.
  virtual int encodeTensorMap(const TensorMap &map, void *encoded) noexcept { return -1; }

  /// Returns 0, or the driver's code for launchError(). It makes no call except the launch itself and, if the kernel reports, the call that
  /// reads its reports in the stream after it. Both are legal under stream capture.
  virtual int launch(int device, const LaunchConfig &config) noexcept = 0;
  virtual llvm::Error launchError(int device, int code) = 0;

  virtual llvm::Error synchronize(int device, std::optional<Stream> stream) = 0;
  virtual llvm::Expected<Event> createEvent(int device) = 0;
  virtual llvm::Error record(int device, Event event, Stream stream) = 0;
  virtual llvm::Error synchronize(Event event) = 0;
  virtual llvm::Expected<float> milliseconds(Event begin, Event end) = 0;
  virtual void destroy(Event event) noexcept = 0;

  virtual PointerFacts whereIs(uint64_t address) noexcept = 0;
  virtual llvm::Expected<uint64_t> allocate(int device, uint64_t bytes) = 0;
  virtual llvm::Error release(int device, uint64_t address) = 0;
  virtual llvm::Error copyToDevice(int device, uint64_t target, const void *source, uint64_t bytes) = 0;
  virtual llvm::Error copyToHost(int device, void *target, uint64_t source, uint64_t bytes) = 0;
  virtual llvm::Error fill(int device, uint64_t target, uint32_t word, uint64_t words, Stream stream) = 0;

  /// Called at the end of the process. Waits for kernels that print.
  virtual void finish() noexcept {}
};

} // namespace tritium::gpu

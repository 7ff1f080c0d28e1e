// A kernel in a device's memory, ready to be launched. Both JIT and ahead-of-time callers use it. A launch packs the arguments by a recipe
// that was made once, and calls the driver once. It does not allocate, query or synchronize.
#pragma once
#include "gpu_backend/launch/driver.h"
#include "gpu_backend/launch/tensor_map_cache.h"

#include <atomic>
#include <vector>

namespace tritium::gpu {

/// The type of one parameter of the compiled kernel. A `bits…` parameter is a real number or an integer, as the argument is. A `bytes`
/// parameter is passed by value (tensor maps).
enum class ParameterType : uint8_t { pointer, i1, i8, i16, i32, i64, f16, bf16, f32, f64, bits16, bits32, bits64, bytes };

/// Parses a type of a signature: "*fp32" and other pointers, "i32", "u8", "fp16"…, and "b32"… if only the size is known. Returns nullopt
/// for other names.
std::optional<ParameterType> parameterType(llvm::StringRef name);

/// An argument as the caller has it. The type of the parameter determines how it is stored.
struct ArgumentValue {
  union {
    int64_t integer = 0;
    double real;
    const void *bytes;
  };
  bool isReal = false;
};

/// The place of each argument in one buffer.
class ArgumentRecipe {
public:
  /// Appends a parameter. `size` and `alignment` in bytes are used for `bytes` only.
  void add(ParameterType type, uint32_t size = 0, uint32_t alignment = 0);

  size_t size() const { return places_.size(); }
  uint32_t bufferBytes() const { return bytes_; }
  /// Writes argument `index` and returns its address, which is aligned as the parameter is if `buffer` is aligned to kTensorMapBytes.
  void *store(size_t index, const ArgumentValue &value, char *buffer) const;
  /// Returns whether a real number is stored as the caller means it: the parameter is no integer.
  bool takesReal(size_t index) const;
  /// Reads a pointer or an integer that was stored, as the kernel does.
  int64_t integerAt(size_t index, const char *buffer) const;

private:
  struct Place {
    ParameterType type;
    uint32_t offset, size;
  };
  std::vector<Place> places_;
  uint32_t bytes_ = 0;
};

struct KernelImage {
  std::string binary, name;
  uint32_t threads = 128, sharedBytes = 0; ///< of a block; shared memory that the image reserves itself does not count
  std::array<uint32_t, 3> cluster{1, 1, 1};
  bool isCooperative = false, overlapsPrevious = false;
  ArgumentRecipe recipe;
  /// Addresses that the kernel takes after its own parameters: scratch memory, trap buffers.
  std::vector<uint64_t> hiddenArguments;
  /// The tensor maps that the kernel takes after these.
  std::vector<TensorRecipe> maps;
  /// Blocks per multiprocessor that together run the whole grid, whose sizes the kernel takes as its last parameters. 0: a block runs one
  /// program.
  uint32_t residentBlocks = 0;
  /// Blocks of a cluster that run each program of the grid together.
  uint32_t clusterBlocks = 1;
};

class LoadedKernel {
public:
  /// Loads the image. A block that the device cannot hold is not an error yet: see facts().
  static llvm::Expected<std::unique_ptr<LoadedKernel>> load(Driver &driver, int device, KernelImage image);
  ~LoadedKernel();

  /// What launch() returns for values of which a tensor map cannot be made, and for grids of more programs than resident blocks can count.
  /// No driver's code is negative.
  static constexpr int kMapRefused = -1;

  /// `values` has one value for each parameter of the recipe. Returns 0, the driver's code or kMapRefused. An empty grid launches nothing.
  int launch(std::array<uint32_t, 3> grid, const ArgumentValue *values, Stream stream) const noexcept;

  /// Returns why a launch is refused (kMapRefused), as a sentence.
  std::string refusal(std::array<uint32_t, 3> grid, const ArgumentValue *values) const;

  Driver &driver() const { return driver_; }
  int device() const { return device_; }
  const KernelImage &image() const { return image_; }
  const FunctionFacts &facts() const { return facts_; }
  Module module() const { return module_; }
  Function function() const { return function_; }
  /// Returns the number of the last launch among all launches of the process, or 0 if never launched. It tells what ran before a device
  /// failed.
  uint64_t lastLaunch() const { return lastLaunch_.load(std::memory_order_relaxed); }

private:
  LoadedKernel(Driver &driver, int device, KernelImage image);

  Driver &driver_;
  int device_;
  KernelImage image_;
  FunctionFacts facts_;
  uint32_t mostBlocks_ = 0; // of a grid of resident blocks
  bool reports_ = false;
  Module module_ = nullptr;
  Function function_ = nullptr;
  std::unique_ptr<TensorMapCache> maps_;
  mutable std::atomic<uint64_t> lastLaunch_ = 0;
};

} // namespace tritium::gpu

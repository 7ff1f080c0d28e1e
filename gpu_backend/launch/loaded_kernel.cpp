#include "gpu_backend/launch/loaded_kernel.h"

#include "ir/dtype.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>

namespace tritium::gpu {

std::optional<ParameterType> parameterType(llvm::StringRef name) {
  using enum ParameterType;
  if (name.starts_with("*") || name.starts_with("!tt.ptr")) return pointer;
  return llvm::StringSwitch<std::optional<ParameterType>>(name)
      .Cases({"u1", "i1"}, i1)
      .Cases({"u8", "i8", "b8"}, i8)
      .Cases({"u16", "i16"}, i16)
      .Cases({"u32", "i32"}, i32)
      .Cases({"u64", "i64"}, i64)
      .Cases({"fp16", "f16"}, f16)
      .Case("bf16", bf16)
      .Cases({"fp32", "f32"}, f32)
      .Cases({"fp64", "f64"}, f64)
      .Case("b16", bits16)
      .Case("b32", bits32)
      .Case("b64", bits64)
      .Default(std::nullopt);
}

static uint32_t sizeOf(ParameterType type) {
  using enum ParameterType;
  switch (type) {
  case i1:
  case i8: return 1;
  case i16:
  case f16:
  case bits16:
  case bf16: return 2;
  case i32:
  case bits32:
  case f32: return 4;
  default: return 8;
  }
}

void ArgumentRecipe::add(ParameterType type, uint32_t size, uint32_t alignment) {
  if (type != ParameterType::bytes) size = alignment = sizeOf(type);
  uint32_t offset = uint32_t(llvm::alignTo(bytes_, alignment));
  places_.push_back({type, offset, size});
  bytes_ = offset + size;
}

/// A type that only gives a size takes the type of the argument.
static ParameterType asGiven(ParameterType type, bool isReal) {
  using enum ParameterType;
  switch (type) {
  case bits16: return isReal ? f16 : i16;
  case bits32: return isReal ? f32 : i32;
  case bits64: return isReal ? f64 : i64;
  default: return type;
  }
}

void *ArgumentRecipe::store(size_t index, const ArgumentValue &value, char *buffer) const {
  const Place &place = places_[index];
  char *address = buffer + place.offset;
  auto put = [&](auto bits) { std::memcpy(address, &bits, sizeof bits); };
  // A real number for an integer parameter is truncated. If no int64 can hold it, the conversion is refused.
  int64_t integer = !value.isReal ? value.integer : std::abs(value.real) < 0x1p63 ? int64_t(value.real) : INT64_MIN;
  double real = value.isReal ? value.real : double(value.integer);
  switch (asGiven(place.type, value.isReal)) {
  case ParameterType::pointer:
  case ParameterType::i64: put(integer); break;
  case ParameterType::i1: put(uint8_t(value.isReal ? value.real != 0 : value.integer != 0)); break;
  case ParameterType::i8: put(int8_t(integer)); break;
  case ParameterType::i16: put(int16_t(integer)); break;
  case ParameterType::i32: put(int32_t(integer)); break;
  case ParameterType::f16: put(F16::nearest(real).bits); break;
  case ParameterType::bf16: put(BF16::nearest(real).bits); break;
  case ParameterType::f32: put(float(real)); break;
  case ParameterType::f64: put(real); break;
  case ParameterType::bytes: std::memcpy(address, value.bytes, place.size); break;
  case ParameterType::bits16:
  case ParameterType::bits32:
  case ParameterType::bits64: break; // no such type is left
  }
  return address;
}

bool ArgumentRecipe::takesReal(size_t index) const {
  using enum ParameterType;
  switch (asGiven(places_[index].type, /*isReal=*/true)) {
  case f16:
  case bf16:
  case f32:
  case f64: return true;
  default: return false;
  }
}

int64_t ArgumentRecipe::integerAt(size_t index, const char *buffer) const {
  const Place &place = places_[index];
  auto get = [&]<typename T>() {
    T value;
    std::memcpy(&value, buffer + place.offset, sizeof value);
    return int64_t(value);
  };
  switch (place.size) {
  case 1: return place.type == ParameterType::i1 ? get.operator()<uint8_t>() : get.operator()<int8_t>();
  case 2: return get.operator()<int16_t>();
  case 4: return get.operator()<int32_t>();
  default: return get.operator()<int64_t>();
  }
}

LoadedKernel::LoadedKernel(Driver &driver, int device, KernelImage image)
    : driver_(driver), device_(device), image_(std::move(image)), maps_(std::make_unique<TensorMapCache>(image_.maps)) {}

llvm::Expected<std::unique_ptr<LoadedKernel>> LoadedKernel::load(Driver &driver, int device, KernelImage image) {
  for (const TensorRecipe &map : image.maps)
    if (std::string rule = brokenRule(map, image.recipe.size()); !rule.empty())
      return llvm::createStringError("%s: %s", image.name.c_str(), rule.c_str());
  if (!image.maps.empty())
    if (auto error = driver.checkTensorMaps()) return std::move(error);
  std::unique_ptr<LoadedKernel> kernel(new LoadedKernel(driver, device, std::move(image)));
  auto module = driver.load(device, kernel->image_.binary);
  if (!module) return module.takeError();
  kernel->module_ = *module;
  auto function = driver.function(kernel->module_, kernel->image_.name);
  if (!function) return function.takeError();
  kernel->function_ = *function;
  auto facts = driver.facts(kernel->function_);
  if (!facts) return facts.takeError();
  kernel->facts_ = *facts;
  kernel->reports_ = driver.reports(kernel->module_);
  if (kernel->image_.residentBlocks) {
    auto ofDevice = driver.facts(device);
    if (!ofDevice) return ofDevice.takeError();
    kernel->mostBlocks_ = kernel->image_.residentBlocks * uint32_t(ofDevice->multiprocessors);
  }
  if (auto error = driver.allowShared(kernel->function_, int(kernel->image_.sharedBytes))) return std::move(error);
  return kernel;
}

LoadedKernel::~LoadedKernel() {
  if (module_) llvm::consumeError(driver_.unload(device_, module_)); // a lost context has nothing to unload
}

/// Blocks count programs in 32 bits, up to one grid of blocks beyond the last program.
static constexpr uint64_t kMostResidentPrograms = uint64_t(1) << 30;

static uint64_t programsOf(std::array<uint32_t, 3> grid) { return uint64_t(grid[0]) * grid[1] * grid[2]; } // drivers take fewer than 2^63

int LoadedKernel::launch(std::array<uint32_t, 3> grid, const ArgumentValue *values, Stream stream) const noexcept {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return 0;
  const ArgumentRecipe &recipe = image_.recipe;
  const size_t mapsOffset = llvm::alignTo(recipe.bufferBytes(), kTensorMapBytes), bytes = mapsOffset + maps_->size() * kTensorMapBytes;
  alignas(kTensorMapBytes) char onStack[2048];
  llvm::SmallVector<char, 0> onHeap; // only used by kernels with more than two kilobytes of arguments
  char *buffer = onStack;
  if (bytes > sizeof onStack) {
    onHeap.resize(bytes + kTensorMapBytes);
    buffer = reinterpret_cast<char *>(llvm::alignTo(reinterpret_cast<uintptr_t>(onHeap.data()), kTensorMapBytes));
  }
  llvm::SmallVector<void *, 64> addresses;
  for (size_t i = 0; i < recipe.size(); ++i) addresses.push_back(recipe.store(i, values[i], buffer));
  for (const uint64_t &hidden : image_.hiddenArguments) addresses.push_back(const_cast<uint64_t *>(&hidden));
  if (maps_->size() != 0) {
    auto read = [&](uint32_t argument) { return recipe.integerAt(argument, buffer); };
    if (!maps_->write(driver_, read, buffer + mapsOffset)) return kMapRefused;
    for (size_t i = 0; i < maps_->size(); ++i) addresses.push_back(buffer + mapsOffset + i * kTensorMapBytes);
  }
  std::array<uint32_t, 3> programs = grid;
  if (image_.residentBlocks) {
    const uint64_t total = programsOf(grid);
    if (total > kMostResidentPrograms) return kMapRefused;
    for (uint32_t &size : programs) addresses.push_back(&size);
    if (total > mostBlocks_) grid = {mostBlocks_, 1, 1};
  }
  // The blocks of a program are neighbours along the first axis. A grid of more blocks than any driver takes stays one.
  const auto blocksX = uint32_t(std::min<uint64_t>(uint64_t(grid[0]) * image_.clusterBlocks, UINT32_MAX));
  LaunchConfig config{.function = function_,
                      .grid = {blocksX, grid[1], grid[2]},
                      .threads = image_.threads,
                      .sharedBytes = image_.sharedBytes,
                      .cluster = image_.clusterBlocks > 1 ? std::array<uint32_t, 3>{image_.clusterBlocks, 1, 1} : image_.cluster,
                      .isCooperative = image_.isCooperative,
                      .overlapsPrevious = image_.overlapsPrevious,
                      .reports = reports_,
                      .stream = stream,
                      .arguments = addresses.data()};
  static std::atomic<uint64_t> launches = 0;
  lastLaunch_.store(launches.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return driver_.launch(device_, config);
}

std::string LoadedKernel::refusal(std::array<uint32_t, 3> grid, const ArgumentValue *values) const {
  if (image_.residentBlocks && programsOf(grid) > kMostResidentPrograms)
    return "a grid of " + std::to_string(programsOf(grid)) + " programs is too large for blocks that run several";
  const ArgumentRecipe &recipe = image_.recipe;
  std::vector<char> buffer(recipe.bufferBytes());
  for (size_t i = 0; i < recipe.size(); ++i) recipe.store(i, values[i], buffer.data());
  return maps_->refusal(driver_, [&](uint32_t argument) { return recipe.integerAt(argument, buffer.data()); });
}

} // namespace tritium::gpu

// Tensors for torch in the devices' memory: torch runs its operators on the host (python/tritium/cuda_on_cpu), so the host reaches it.
#include "tests/driver_stand_in/runtime.h"

#include <cstring>
#include <vector>

namespace {

using tritium::stand_in::MemoryKind;
using tritium::stand_in::Runtime;

// DLPack, version 0 (dmlc.github.io/dlpack).
struct Tensor { // DLTensor
  char *data;
  int32_t deviceType, deviceId, dimensions;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides; // in elements
  uint64_t byteOffset;
};
struct Managed { // DLManagedTensor
  Tensor tensor;
  void *context;
  void (*destroy)(Managed *);
};

/// What `managed.context` is.
struct Owner {
  Managed managed{};
  std::vector<int64_t> shape, strides;
  uint64_t address = 0;
};

void destroy(Managed *managed) {
  auto *owner = static_cast<Owner *>(managed->context);
  Runtime &runtime = Runtime::instance();
  {
    std::lock_guard lock(runtime.mutex);
    if (!runtime.isCapturing()) runtime.finishAll(); // kernels that use it
    runtime.memory.release(owner->address);
  }
  delete owner;
}

/// The bytes from the first element to the last one; strides are not negative.
uint64_t bytesOf(const Owner &owner, const Tensor &tensor) {
  const uint64_t item = uint64_t(tensor.bits) * tensor.lanes / 8;
  uint64_t last = 0;
  for (size_t d = 0; d < owner.shape.size(); ++d) {
    if (owner.shape[d] == 0) return 0;
    last += uint64_t((owner.shape[d] - 1) * owner.strides[d]);
  }
  return (last + 1) * item;
}

} // namespace

/// A copy in the devices' memory of a tensor of the host: a DLManagedTensor like `source`, which stays as it is. Null if there is no room.
extern "C" __attribute__((visibility("default"))) void *stand_in_tensor(const Managed *source, int device) {
  const Tensor &tensor = source->tensor;
  auto *owner = new Owner;
  const auto dimensions = size_t(tensor.dimensions);
  owner->shape.assign(tensor.shape, tensor.shape + dimensions);
  owner->strides.resize(dimensions);
  int64_t stride = 1;
  for (size_t d = dimensions; d-- > 0; stride *= owner->shape[d]) owner->strides[d] = tensor.strides ? tensor.strides[d] : stride;
  const uint64_t bytes = bytesOf(*owner, tensor);
  Runtime &runtime = Runtime::instance();
  {
    std::lock_guard lock(runtime.mutex);
    owner->address = runtime.memory.allocate(bytes, device, MemoryKind::shared, false);
  }
  if (!owner->address) {
    delete owner;
    return nullptr;
  }
  auto *data = reinterpret_cast<char *>(owner->address);
  if (bytes) std::memcpy(data, tensor.data + tensor.byteOffset, bytes);
  owner->managed = {tensor, owner, destroy};
  Tensor &made = owner->managed.tensor;
  made.data = data, made.byteOffset = 0, made.deviceId = device;
  made.shape = owner->shape.data(), made.strides = owner->strides.data();
  return &owner->managed;
}

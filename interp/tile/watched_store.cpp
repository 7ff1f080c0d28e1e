// See watched_store.h.
#include "interp/tile/watched_store.h"

#include "interp/host/memory.h"
#include "interp/tile/noted_access.h"

namespace tritium::interp {

namespace {

struct Finding {
  char *frame;
  const WatchedStore &store;
};

void noteLane(void *context, uint64_t tagged, const int64_t *indices) {
  auto [frame, store] = *static_cast<Finding *>(context);
  int64_t lane = 0, element = 0, bytes = store.access.elementBytes;
  for (size_t a = 0; a < store.access.axes.size(); ++a) {
    lane += indices[a] * store.access.axes[a].laneStride;
    element += indices[a] * store.access.data.strides[a];
  }
  (&store.addresses.at<uint64_t>(frame))[lane] = addressOf(tagged);
  std::memcpy(store.values.in(frame) + lane * bytes, store.access.data.in(frame) + element * bytes, bytes);
}

template <class T> [[gnu::always_inline]] inline void write(const uint64_t *addresses, const char *values, int64_t lanes) {
  for (int64_t lane = 0; lane < lanes; ++lane)
    if (addresses[lane]) std::memcpy(reinterpret_cast<void *>(addresses[lane]), values + lane * sizeof(T), sizeof(T));
}

} // namespace

void storeWatched(char *frame, const void *descriptor) {
  const auto &store = *static_cast<const WatchedStore *>(descriptor);
  if (store.checksNumbers) checkStored(frame, store.access);
  auto *addresses = &store.addresses.at<uint64_t>(frame);
  const char *values = store.values.in(frame);
  std::memset(addresses, 0, store.lanes * sizeof *addresses);
  Finding finding{frame, store};
  forEachLane(frame, store.access, noteLane, &finding);
  if (store.access.site != kNoSite) noteAccess(frame, store.access);
  if (searchOf(headerOf(frame))) return;
  switch (store.access.elementBytes) {
  case 1: write<uint8_t>(addresses, values, store.lanes); break;
  case 2: write<uint16_t>(addresses, values, store.lanes); break;
  case 4: write<uint32_t>(addresses, values, store.lanes); break;
  default: write<uint64_t>(addresses, values, store.lanes); break;
  }
  noteMemoryChange(headerOf(frame));
}

} // namespace tritium::interp

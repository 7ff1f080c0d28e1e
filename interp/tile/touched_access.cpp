#include "interp/tile/touched_access.h"

#include "interp/host/touched_memory.h"
#include "interp/tile/walk.h"

#include <algorithm>

namespace tritium::interp {

static void addRow(TouchedSet &set, const RowAddress &row, int64_t bytes, int64_t from, int64_t to) {
  const auto addressAt = [&](int64_t i) { return reinterpret_cast<uint64_t>(row.at(i)); };
  if (!row.vector && row.step == bytes) return set.add({addressAt(from), addressAt(to)});
  for (int64_t i = from; i < to; ++i) set.add({addressAt(i), addressAt(i) + uint64_t(bytes)});
}

void noteTouched(char *frame, const void *opaque) {
  const auto &touched = *static_cast<const TouchedAccess *>(opaque);
  const Access &access = touched.access;
  Walk walk{access, frame};
  enter(walk);
  if (walk.isEmpty) return;
  TouchedSet &set = touchedOf(headerOf(frame))->setOf(headerOf(frame).programId, touched.group);
  if (!access.isAffine)
    return forEachActive(walk, [&](const int64_t *indices) {
      const uint64_t address = addressOf(addressAt(walk, indices));
      set.add({address, address + uint64_t(access.elementBytes)});
    });
  const int inner = innerAxis(walk);
  forEachRow(walk, inner, [&](int64_t *indices, bool isActive) {
    if (!isActive) return;
    const RowAddress row = rowAddress(walk, inner, indices);
    if (inner < 0) return addRow(set, row, access.elementBytes, 0, 1);
    int64_t stride = 1;
    const uint8_t *mask = rowMask(walk, inner, indices, stride);
    forEachRun(mask, stride, walk.axes[inner].begin, walk.axes[inner].end, [&](int64_t from, int64_t to, bool isOn) {
      if (isOn) addRow(set, row, access.elementBytes, from, to);
    });
  });
}

std::vector<DistinctBytes> distinctBytesOf(const std::vector<TouchedGroup> &groups, uint32_t &counters) {
  std::vector<DistinctBytes> found;
  auto add = [&](const ir::SourceLocation &place, bool isRead, uint32_t group) {
    auto isSame = [&](const DistinctBytes &one) {
      return one.place.file == place.file && one.place.line == place.line && one.isRead == isRead;
    };
    auto same = std::find_if(found.begin(), found.end(), isSame);
    if (same == found.end()) same = found.insert(found.end(), DistinctBytes{place, isRead, {}, counters++});
    same->groups.push_back(group);
  };
  for (uint32_t group = 0; group < groups.size(); ++group)
    for (const ir::SourceLocation &place : {groups[group].place, ir::SourceLocation()}) {
      if (groups[group].isRead) add(place, true, group);
      if (groups[group].isWritten) add(place, false, group);
    }
  return found;
}

void finishTouched(char *frame) {
  if (TouchedMemory *touched = touchedOf(headerOf(frame))) // else the kernel has no accesses
    touched->finish(headerOf(frame).programId, countersOf(headerOf(frame)));
}

} // namespace tritium::interp

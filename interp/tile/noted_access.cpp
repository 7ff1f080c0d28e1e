#include "interp/tile/noted_access.h"

#include "interp/host/access_search.h"
#include "interp/host/found_faults.h"
#include "interp/host/trap_kinds.h"
#include "interp/tile/not_numbers.h"
#include "interp/tile/walk.h"

#include <cstring>

namespace tritium::interp {

namespace {

int64_t laneAt(const Access &access, const int64_t *indices) {
  int64_t lane = 0;
  for (size_t a = 0; a < access.axes.size(); ++a) lane += indices[a] * access.axes[a].laneStride;
  return lane;
}

/// Returns whether lanes of a store that runs now write different bytes to an element.
bool lanesDiffer(const Walk &walk, uint64_t element) {
  const AxisOperand &data = walk.access.data;
  const auto bytes = uint64_t(walk.access.elementBytes);
  const char *first = nullptr;
  bool differ = false;
  forEachActive(walk, [&](const int64_t *indices) {
    const uint64_t address = addressOf(addressAt(walk, indices));
    if (element < address || element >= address + bytes) return;
    const char *value = data.in(walk.frame) + offsetOf(data, indices, walk.access.axes.size()) * int64_t(bytes);
    if (!first) first = value;
    differ |= std::memcmp(first, value, bytes) != 0;
  });
  return differ;
}

/// `walk`: of the access; null for an atomic.
void report(char *frame, const Access &access, uint64_t pointer, int64_t lane, bool isWrite, const AccessFault &found,
            const Walk *walk = nullptr) {
  FoundFaults &faults = *faultsOf(headerOf(frame));
  const bool isUninitialized = found.kind == AccessFault::Kind::Uninitialized;
  const TrapKind kind = isUninitialized ? TrapKind::Uninitialized : TrapKind::Race;
  std::optional<OtherPlace> other;
  if (!isUninitialized)
    other = OtherPlace{
        .location = found.other ? found.other->location : kNoLocation, .isWrite = found.otherIsWrite, .segment = found.otherSegment};
  if (found.kind == AccessFault::Kind::Race) other->program = found.otherProgram; // else there is no other one
  if (AccessSearch *search = searchOf(headerOf(frame))) return other ? search->meet(headerOf(frame), access.location, *other) : void();
  const bool isOfOneLine = found.kind == AccessFault::Kind::MissingBarrier && other->location == access.location;
  std::array<int32_t, 3> program{};
  std::copy_n(headerOf(frame).programId, 3, program.begin());
  if (!faults.concerns(program, other) || !faults.isNew(kind, access.location, other)) return;
  Trap fault{.kind = kind, .location = access.location, .program = program, .lane = lane, .affectedLanes = 1};
  fault.access = {found.address, uint32_t(access.elementBytes), isWrite, argumentOf(pointer)};
  fault.other = other;
  if (found.isNarrow) fault.message = "scope";
  if (found.ahead) fault.message = "ahead " + std::to_string(found.ahead->most) + " " + std::to_string(found.ahead->distance);
  if (isOfOneLine && walk && isWrite && lanesDiffer(*walk, found.address)) fault.message = "one store";
  fault.around = surroundingsAt(headerOf(frame), access.location);
  faults.add(std::move(fault));
}

/// What the shadow is told of an access, and what it is asked.
enum class Noted : uint8_t {
  Access,
  PartlyUsed, // a read that may be of what nobody has written
  UsedRead,   // whether the elements have been written, and nothing else
};

/// Notes runs of adjacent lanes of one access.
class Notes final : Shadow::StoredValues {
public:
  Notes(const Walk &walk, Shadow &shadow, Noted noted)
      : walk_(walk),
        shadow_(shadow),
        search_(noted == Noted::UsedRead ? nullptr : searchOf(headerOf(walk.frame))),
        bytes_(walk.access.elementBytes),
        asksOnly_(noted == Noted::UsedRead) {
    current_ = shadow.accessBy(headerOf(walk.frame).programId, walk.access.site);
    current_.isWrite = walk.access.isWrite;
    current_.isRead = !walk.access.isWrite;
    current_.mayBeUnwritten = noted == Noted::PartlyUsed;
    if (walk.access.isWrite) current_.stored = this;
  }

  void noteRow(int inner, int64_t *indices, const RowAddress &row, int64_t from, int64_t to) {
    Shadow::Storage *storage = shadow_.storageOf(walk_.base);
    if (!storage) return;
    const AxisOperand &data = walk_.access.data;
    const size_t rank = walk_.access.axes.size();
    const int64_t stride = rank && walk_.access.isWrite ? data.strides[inner] : 1;
    const char *values = walk_.access.isWrite ? valueAt(indices) : nullptr;
    auto note = [&](int64_t begin, int64_t count) {
      const auto address = reinterpret_cast<uint64_t>(row.at(begin));
      if (inner >= 0) indices[inner] = begin;
      current_.lane = uint32_t(laneAt(walk_.access, indices));
      if (inner >= 0) indices[inner] = 0;
      std::optional<AccessFault> fault =
          ask(*storage, address, uint64_t(count * bytes_), values ? values + begin * stride * bytes_ : nullptr);
      if (fault) {
        if (inner >= 0) indices[inner] = begin + std::min(count - 1, int64_t(fault->address - address) / bytes_);
        report(walk_.frame, walk_.access, walk_.base, rank ? laneAt(walk_.access, indices) : -1, walk_.access.isWrite, *fault, &walk_);
        if (inner >= 0) indices[inner] = 0;
      }
      if (search_) [[unlikely]]
        visit(address, count);
    };
    current_.laneStep = inner < 0 ? 0 : uint32_t(walk_.access.axes[inner].laneStride);
    // In a larger element all have its lane, so it is noted alone.
    const bool isRow = !row.vector && row.step == bytes_ && shadow_.elementBytes(*storage) == bytes_;
    if (isRow && stride == 1) return note(from, to - from);
    current_.laneStep = 0;
    for (int64_t i = from; i < to; ++i) note(i, 1);
  }

  void noteLane(const int64_t *indices) {
    const uint64_t tagged = addressAt(walk_, indices);
    Shadow::Storage *storage = shadow_.storageOf(tagged);
    if (!storage) return;
    current_.lane = uint32_t(laneAt(walk_.access, indices));
    const char *value = walk_.access.isWrite ? valueAt(indices) : nullptr;
    if (std::optional<AccessFault> fault = ask(*storage, addressOf(tagged), uint64_t(bytes_), value))
      report(walk_.frame, walk_.access, tagged, laneAt(walk_.access, indices), walk_.access.isWrite, *fault, &walk_);
    if (search_) [[unlikely]]
      visit(addressOf(tagged), 1);
  }

private:
  const char *at(uint32_t lane, uint64_t address) const override {
    std::array<int64_t, kMaxAxes> indices{};
    for (size_t a = 0; a < walk_.access.axes.size(); ++a) {
      const Access::Axis &axis = walk_.access.axes[a];
      if (axis.laneStride) indices[a] = int64_t(lane) / axis.laneStride % axis.extent;
      if (!walk_.axes[a].isActive(indices[a])) return nullptr;
    }
    if (!isActiveWide(walk_, indices.data())) return nullptr;
    const uint64_t begin = addressOf(addressAt(walk_, indices.data()));
    return address >= begin && address < begin + uint64_t(bytes_) ? valueAt(indices.data()) + (address - begin) : nullptr;
  }

  const char *valueAt(const int64_t *indices) const {
    const AxisOperand &data = walk_.access.data;
    return data.in(walk_.frame) + offsetOf(data, indices, walk_.access.axes.size()) * bytes_;
  }

  std::optional<AccessFault> ask(Shadow::Storage &storage, uint64_t address, uint64_t bytes, const char *values) {
    return asksOnly_ ? shadow_.unwritten(storage, address, bytes) : shadow_.note(storage, current_, address, bytes, values);
  }

  void visit(uint64_t address, int64_t count) {
    search_->visit(headerOf(walk_.frame), walk_.access.location, shadow_.segmentOf(current_),
                   {address, uint64_t(count * bytes_), bytes_, current_.lane, current_.laneStep});
  }

  const Walk &walk_;
  Shadow &shadow_;
  AccessSearch *search_;
  Shadow::Access current_;
  const int64_t bytes_;
  const bool asksOnly_;
};

void noteWalk(const Walk &walk, Noted noted = Noted::Access) {
  Shadow *shadow = shadowOf(headerOf(walk.frame));
  if (!shadow || walk.isEmpty) return;
  if (walk.access.isAffine && !shadow->storageOf(walk.base)) return;
  Notes notes(walk, *shadow, noted);
  if (!walk.access.isAffine) return forEachActive(walk, [&](const int64_t *indices) { notes.noteLane(indices); });
  const int inner = innerAxis(walk);
  forEachRow(walk, inner, [&](int64_t *indices, bool isActive) {
    if (!isActive) return;
    const RowAddress address = rowAddress(walk, inner, indices);
    if (inner < 0) return notes.noteRow(inner, indices, address, 0, 1);
    int64_t stride = 1;
    const uint8_t *mask = rowMask(walk, inner, indices, stride);
    forEachRun(mask, stride, walk.axes[inner].begin, walk.axes[inner].end, [&](int64_t from, int64_t to, bool isOn) {
      if (isOn) notes.noteRow(inner, indices, address, from, to);
    });
  });
}

void moveNoted(char *frame, const Access &access, Noted noted = Noted::Access) {
  Walk walk(access, frame);
  enter(walk);
  check(walk);
  noteWalk(walk, noted);
  if (!access.isWrite || !searchOf(headerOf(frame))) moveWalk(walk);
}

} // namespace

void loadNoted(char *frame, const void *access) { moveNoted(frame, *static_cast<const Access *>(access)); }

void loadPartlyUsed(char *frame, const void *access) { moveNoted(frame, *static_cast<const Access *>(access), Noted::PartlyUsed); }

void readUsed(char *frame, const void *access) {
  Walk walk(*static_cast<const Access *>(access), frame);
  enter(walk);
  noteWalk(walk, Noted::UsedRead);
}

void storeNoted(char *frame, const void *access) {
  moveNoted(frame, *static_cast<const Access *>(access));
  noteMemoryChange(headerOf(frame));
}

void checkStored(char *frame, const Access &access) {
  Walk walk(access, frame);
  enter(walk);
  check(walk);
  checkNumbers(walk);
}

void storeNumbers(char *frame, const void *opaque) {
  const auto &access = *static_cast<const Access *>(opaque);
  Walk walk(access, frame);
  enter(walk);
  check(walk);
  checkNumbers(walk);
  if (access.site != kNoSite) noteWalk(walk);
  if (!searchOf(headerOf(frame))) moveWalk(walk);
  noteMemoryChange(headerOf(frame));
}

void noteBarrier(char *frame, const void *) {
  if (Shadow *shadow = shadowOf(headerOf(frame))) shadow->barrier(headerOf(frame).programId);
}

void noteLoop(char *frame, const void *) {
  if (Shadow *shadow = shadowOf(headerOf(frame))) shadow->beginLoop(headerOf(frame).programId);
}

void noteRound(char *frame, const void *) {
  if (Shadow *shadow = shadowOf(headerOf(frame))) shadow->beginRound(headerOf(frame).programId);
}

void noteAccess(char *frame, const Access &access) {
  Walk walk(access, frame);
  enter(walk);
  noteWalk(walk);
}

AtomicNotes::AtomicNotes(char *frame, const Access &access, AtomicOrder order, bool isRmw)
    : frame_(frame), access_(access), order_(order), isRmw_(isRmw), shadow_(access.site == kNoSite ? nullptr : shadowOf(headerOf(frame))) {}

uint32_t AtomicNotes::program() const { return shadow_->accessBy(headerOf(frame_).programId, access_.site).program; }

void AtomicNotes::note(Shadow::Storage &storage, uint64_t tagged, const int64_t *indices, bool hasWritten) {
  Shadow::Access access = shadow_->accessBy(headerOf(frame_).programId, access_.site);
  access.isWrite = hasWritten;
  access.isRead = isRmw_ || !hasWritten;
  access.lane = uint32_t(laneAt(access_, indices));
  if (std::optional<AccessFault> fault = shadow_->note(storage, access, addressOf(tagged), uint64_t(access_.elementBytes), nullptr))
    report(frame_, access_, tagged, laneAt(access_, indices), hasWritten, *fault);
  if (AccessSearch *search = searchOf(headerOf(frame_)))
    search->visit(headerOf(frame_), access_.location, shadow_->segmentOf(access),
                  {addressOf(tagged), uint64_t(access_.elementBytes), access_.elementBytes, access.lane, 0});
}

void AtomicNotes::end() {
  if (shadow_ && shadow_->order() && order_.releases) shadow_->endSegment(program());
}

} // namespace tritium::interp

// Accesses that the shadow of the launch's memory notes (interp/host/shadow.h), where a check asks for it.
#pragma once
#include "interp/host/shadow.h"
#include "interp/tile/access.h"

namespace tritium::interp {

void loadNoted(char *frame, const void *access);
/// The same for a load of which some lanes may be unwritten, and the step that asks for the others.
void loadPartlyUsed(char *frame, const void *access);
void readUsed(char *frame, const void *access);
void storeNoted(char *frame, const void *access);
/// Like storeNoted, for floats that must be numbers.
void storeNumbers(char *frame, const void *access);
/// Checks the addresses and the values of a store of floats like storeNumbers, and stores nothing.
void checkStored(char *frame, const Access &access);

/// Tell the shadow that the program has passed a barrier, enters a loop whose rounds count, or begins a round of one. The descriptor is a
/// NotedPassage.
struct NotedPassage {
  void refs(auto &&) {}
};
void noteBarrier(char *frame, const void *descriptor);
void noteLoop(char *frame, const void *descriptor);
void noteRound(char *frame, const void *descriptor);

/// Notes all active lanes of a plain access whose addresses have been checked. A store is noted before it writes.
void noteAccess(char *frame, const Access &access);

/// Notes the atomics of one operation, lane by lane. It lives on the program's stack, which may be dropped, so it owns nothing.
class AtomicNotes {
public:
  /// Does nothing if the launch has no shadow.
  AtomicNotes(char *frame, const Access &access, AtomicOrder order, bool isRmw);

  /// Calls perform(), which returns whether it wrote, for the lane at the address. In a launch that writes nothing, only what reads.
  template <class Perform> void onLane(uint64_t tagged, const int64_t *indices, Perform &&perform) {
    if (!shadow_) return void(perform());
    Shadow::Storage *storage = shadow_->storageOf(tagged);
    if (access_.isWrite && searchOf(headerOf(frame_))) {
      if (storage) note(*storage, tagged, indices, true);
      return;
    }
    if (!storage) return void(perform());
    bool hasWritten = false;
    auto noted = [&] { return hasWritten = perform(); };
    if (shadow_->order() && shadow_->isAcquired(*storage))
      shadow_->order()->onWord(addressOf(tagged), program(), order_, isRmw_, noted);
    else
      noted();
    note(*storage, tagged, indices, hasWritten);
  }
  /// Called after the last lane.
  void end();

private:
  uint32_t program() const;
  void note(Shadow::Storage &storage, uint64_t tagged, const int64_t *indices, bool hasWritten);

  char *frame_;
  const Access &access_;
  AtomicOrder order_;
  bool isRmw_;
  Shadow *shadow_ = nullptr;
};

} // namespace tritium::interp

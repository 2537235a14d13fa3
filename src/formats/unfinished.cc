#include "formats/unfinished.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

#include "attnmap/formats/file.h"

namespace attnmap {
namespace {

// What a signal handler may read: no memory that could have been given back.
struct Slot {
  enum State : int { kFree, kTaken, kReady };
  std::atomic<int> state{kFree};
  char path[4096] = {};  // the longest the system takes
};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr size_t kNumSlots = 64;
std::array<Slot, kNumSlots> slots;

}  // namespace

void Unfinished::Remember(const std::string& path) {
  Release();
  if (path.size() >= sizeof(Slot::path)) return;
  for (size_t i = 0; i < slots.size(); ++i) {
    int expected = Slot::kFree;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::kTaken)) continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state = Slot::kReady;
    slot_ = i;
    return;
  }
}

void Unfinished::Release() {
  if (slot_ == kNone) return;
  int expected = Slot::kReady;  // else a handler is at it, and the process ends
  slots[slot_].state.compare_exchange_strong(expected, Slot::kFree);
  slot_ = kNone;
}

void RemoveUnfinished() {
  for (Slot& slot : slots) {
    int expected = Slot::kReady;
    if (!slot.state.compare_exchange_strong(expected, Slot::kTaken)) continue;
    ::unlink(slot.path);
    slot.state = Slot::kFree;
  }
}

}  // namespace attnmap

#ifndef ATTNMAP_CORE_STOP_H_
#define ATTNMAP_CORE_STOP_H_

#include <atomic>

#include "attnmap/core/error.h"

namespace attnmap {

// Throws Interrupted where a stop was asked for. Null: none ever is.
inline void CheckStop(const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace attnmap

#endif  // ATTNMAP_CORE_STOP_H_

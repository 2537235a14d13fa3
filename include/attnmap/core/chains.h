#ifndef ATTNMAP_CORE_CHAINS_H_
#define ATTNMAP_CORE_CHAINS_H_

#include <cstdint>
#include <functional>
#include <span>

#include "attnmap/core/thread_pool.h"

namespace attnmap {

// A chain at work, and the worker that began it, which begins no other until this
// one has come to its end: so what belongs to the worker belongs to the chain.
struct ChainAt {
  int64_t chain;
  int owner;
};

// A step that chains take one after the other. Both functions run on any thread
// of the pool, see what earlier stages of the chain wrote, and must not use the
// pool.
struct ChainStage {
  std::function<void(const ChainAt&)> open;  // once, before the parts; may be empty
  int64_t num_parts = 1;                     // >= 0, may be done at once
  std::function<void(const ChainAt&, int64_t part)> part;
};

// Takes each of the chains through the stages, in order. A thread takes a chain
// and stays with it; who finds none left to begin shares the parts of others, so
// that threads of unequal speed end together. The first exception thrown stops
// the rest and is rethrown here.
void RunChains(int64_t num_chains, std::span<const ChainStage> stages, ThreadPool& pool);

}  // namespace attnmap

#endif  // ATTNMAP_CORE_CHAINS_H_

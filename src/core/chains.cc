#include "attnmap/core/chains.h"

#include <atomic>
#include <thread>
#include <vector>

#include "core/watch.h"

namespace attnmap {
namespace {

// Where a chain is: its stage, and the part of it that is claimed next.
struct Place {
  uint32_t stage;
  uint32_t part;

  static Place Of(uint64_t bits) {
    return {static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits)};
  }
  uint64_t bits() const { return (uint64_t{stage} << 32) | part; }
};
constexpr Place kNothing = {0, 0xFFFFFFFF};

class Chains {
 public:
  Chains(int64_t count, std::span<const ChainStage> stages, int num_threads)
      : stages_(stages), count_(count), running_(static_cast<size_t>(num_threads)) {}

  void Work(int worker) {
    try {
      for (int64_t chain = begun_++; chain < count_ && !failed_; chain = begun_++) {
        Running& own = running_[static_cast<size_t>(worker)];
        own.at = {chain, worker};
        Enter(own, 0);
        // To its end: others take parts of it only when no chain is left to claim,
        // and then this is the last one here.
        while (RunPart(own)) {
        }
      }
      Share(static_cast<size_t>(worker));
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

 private:
  // The chain that a worker began last.
  struct alignas(64) Running {
    std::atomic<uint64_t> next{kNothing.bits()};
    std::atomic<int64_t> left{0};  // parts of the stage that are not done
    ChainAt at{};
  };

  // Helps until everything is done: first where this worker has been, whose
  // data it knows. Every chain has been claimed by now.
  void Share(size_t worker) {
    const auto done = [&] { return finished_ == count_ || failed_; };
    const auto found = [&] {  // and done
      for (size_t i = 0; i < running_.size(); ++i) {
        if (RunPart(running_[(worker + i) % running_.size()])) return true;
      }
      return done();
    };
    while (!done()) {
      if (!Watch(found)) std::this_thread::yield();
    }
  }

  // Opens a stage to everybody; behind the last one is the end.
  void Enter(Running& chain, uint32_t stage) {
    if (stage == stages_.size()) {
      ++finished_;
      return;
    }
    const ChainStage& entered = stages_[stage];
    if (entered.open) entered.open(chain.at);
    if (entered.num_parts == 0) return Enter(chain, stage + 1);
    chain.left = entered.num_parts;
    chain.next = Place{stage, 0}.bits();
  }

  // Runs a part of the chain; false: none is to be had now.
  bool RunPart(Running& chain) {
    uint64_t bits = chain.next;
    Place place{};
    do {
      place = Place::Of(bits);
      if (failed_ || int64_t{place.part} >= stages_[place.stage].num_parts) return false;
    } while (!chain.next.compare_exchange_weak(bits, Place{place.stage, place.part + 1}.bits()));
    stages_[place.stage].part(chain.at, place.part);
    if (--chain.left == 0) Enter(chain, place.stage + 1);
    return true;
  }

  const std::span<const ChainStage> stages_;
  const int64_t count_;
  std::vector<Running> running_;  // a worker each
  std::atomic<int64_t> begun_{0};
  std::atomic<int64_t> finished_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace

void RunChains(int64_t num_chains, std::span<const ChainStage> stages, ThreadPool& pool) {
  if (num_chains <= 0 || stages.empty()) return;
  Chains chains(num_chains, stages, pool.num_threads());
  pool.Run(pool.num_threads(), [&](int64_t, int worker) { chains.Work(worker); });
}

}  // namespace attnmap

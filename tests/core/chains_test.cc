#include "attnmap/core/chains.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace attnmap {
namespace {

using Counts = std::vector<std::atomic<int>>;

size_t Index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

TEST_CASE("Every part of every stage of every chain is done once, stage after stage") {
  constexpr int64_t kStages = 5;
  constexpr int64_t kParts = 7;
  for (const int threads : {1, 2, 3, 8}) {
    for (const int64_t chains : {1, 2, 3, 20}) {
      CAPTURE(threads, chains);
      ThreadPool pool(threads);
      Counts parts(Index(chains * kStages * kParts));
      Counts opened(Index(chains * kStages));
      Counts done(Index(chains));  // parts, of all stages
      std::atomic<bool> wrong = false;
      std::vector<ChainStage> stages;
      for (int64_t stage = 0; stage < kStages; ++stage) {
        const auto open = [&, stage](const ChainAt& at) {
          ++opened[Index(at.chain * kStages + stage)];
          if (done[Index(at.chain)] != stage * kParts) wrong = true;
        };
        const auto part = [&, stage](const ChainAt& at, int64_t i) {
          ++parts[Index((at.chain * kStages + stage) * kParts + i)];
          if (opened[Index(at.chain * kStages + stage)] != 1) wrong = true;
          if (done[Index(at.chain)]++ < stage * kParts) wrong = true;
        };
        stages.push_back({open, kParts, part});
      }
      RunChains(chains, stages, pool);
      CHECK_FALSE(wrong);
      for (const auto& count : parts) REQUIRE(count == 1);
      for (const auto& count : opened) REQUIRE(count == 1);
    }
  }
}

TEST_CASE("What belongs to a chain's owner is used by no other chain at the time") {
  ThreadPool pool(4);
  std::vector<std::atomic<int64_t>> used(4);  // by which chain, + 1
  std::atomic<bool> shared = false;
  const auto open = [&](const ChainAt& at) { used[Index(at.owner)] = at.chain + 1; };
  const auto part = [&](const ChainAt& at, int64_t) {
    std::this_thread::yield();
    if (used[Index(at.owner)] != at.chain + 1) shared = true;
  };
  const std::vector<ChainStage> stages = {{open, 3, part}, {nullptr, 5, part}};
  for (int turn = 0; turn < 50; ++turn) RunChains(9, stages, pool);
  CHECK_FALSE(shared);
}

TEST_CASE("Threads without a chain of their own help with another's parts") {
  constexpr int64_t kParts = 4;
  ThreadPool pool(2);
  std::atomic<int> at_once = 0;
  std::atomic<bool> together = false;
  // Waits for company, long enough for any machine, before it gives up.
  const auto part = [&](const ChainAt&, int64_t) {
    ++at_once;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!together && std::chrono::steady_clock::now() < end) {
      if (at_once == 2) together = true;
      std::this_thread::yield();
    }
    --at_once;
  };
  RunChains(1, std::vector<ChainStage>{{nullptr, kParts, part}}, pool);
  CHECK(together);
}

TEST_CASE("An exception of a part or an opening comes out and stops the rest") {
  for (const int threads : {1, 4}) {
    for (const bool opening : {false, true}) {
      ThreadPool pool(threads);
      std::atomic<int> done = 0;
      const auto fail = [](const ChainAt& at) {
        if (at.chain == 2) throw std::runtime_error("chain 2");
      };
      std::vector<ChainStage> stages(2);
      stages[0].part = [&](const ChainAt&, int64_t) { ++done; };
      if (opening) stages[1].open = fail;
      stages[1].part = [&](const ChainAt& at, int64_t) {
        if (!opening) fail(at);
      };
      try {
        RunChains(1000000, stages, pool);
        FAIL("nothing was thrown");
      } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()) == "chain 2");
      }
      CHECK(done < 1000000);
    }
  }
}

TEST_CASE("No chains, or no stages, are nothing to do") {
  ThreadPool pool(2);
  const auto fail = [](const ChainAt&, int64_t) { FAIL("there was nothing to do"); };
  RunChains(0, std::vector<ChainStage>{{nullptr, 1, fail}}, pool);
  RunChains(3, {}, pool);
  std::atomic<int> opened = 0;
  const auto open = [&](const ChainAt&) { ++opened; };
  RunChains(3, std::vector<ChainStage>{{open, 0, fail}, {open, 0, fail}}, pool);
  CHECK(opened == 6);
}

}  // namespace attnmap

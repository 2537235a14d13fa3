#include "attnmap/core/thread_pool.h"

#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace attnmap {

TEST_CASE("Each item is done once, by a worker of the pool") {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    CHECK(pool.num_threads() == threads);
    std::vector<std::atomic<int>> done(1000);
    std::atomic<bool> stranger = false;
    pool.Run(1000, [&](int64_t item, int worker) {
      ++done[static_cast<size_t>(item)];
      if (worker < 0 || worker >= threads) stranger = true;
    });
    CHECK_FALSE(stranger);
    for (const auto& count : done) REQUIRE(count == 1);
  }
}

TEST_CASE("One worker does one item at a time") {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> busy(4);
  std::atomic<bool> twice = false;
  pool.Run(400, [&](int64_t, int worker) {
    if (++busy[static_cast<size_t>(worker)] != 1) twice = true;
    std::this_thread::yield();
    --busy[static_cast<size_t>(worker)];
  });
  CHECK_FALSE(twice);
}

TEST_CASE("A pool of one does the work in order on the caller's thread") {
  ThreadPool pool(1);
  std::vector<int64_t> order;
  std::set<std::thread::id> threads;
  pool.Run(10, [&](int64_t item, int worker) {
    CHECK(worker == 0);
    order.push_back(item);
    threads.insert(std::this_thread::get_id());
  });
  CHECK(order == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(threads == std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST_CASE("A pool can be used again and again, with nothing to do in between") {
  ThreadPool pool(3);
  std::atomic<int64_t> sum = 0;
  for (int turn = 0; turn < 500; ++turn) {
    pool.Run(turn % 4, [&](int64_t item, int) { sum += item + 1; });
  }
  CHECK(sum == 125 * (0 + 1 + 3 + 6));
  pool.Run(0, [](int64_t, int) { FAIL("there was nothing to do"); });
  pool.Run(-3, [](int64_t, int) { FAIL("there was nothing to do"); });
}

TEST_CASE("An exception comes out where the work was handed in, and stops the rest") {
  for (int threads : {1, 4}) {
    ThreadPool pool(threads);
    std::atomic<int> done = 0;
    try {
      pool.Run(1000000, [&](int64_t item, int) {
        ++done;
        if (item == 3) throw std::runtime_error("item 3");
      });
      FAIL("nothing was thrown");
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()) == "item 3");
    }
    CHECK(done < 1000000);
    // The pool is as good as new.
    std::atomic<int> after = 0;
    pool.Run(100, [&](int64_t, int) { ++after; });
    CHECK(after == 100);
  }
}

TEST_CASE("Of several exceptions one comes out") {
  ThreadPool pool(4);
  for (int turn = 0; turn < 50; ++turn) {
    CHECK_THROWS_AS(pool.Run(8, [](int64_t, int) { throw std::logic_error("each"); }),
                    std::logic_error);
  }
}

TEST_CASE("A pool that never ran stops without fuss") {
  const ThreadPool pool(3);
  CHECK(ThreadPool::DefaultThreads() >= 1);
}

}  // namespace attnmap

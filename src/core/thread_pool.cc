#include "attnmap/core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/watch.h"

namespace attnmap {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable start;
  std::condition_variable done;
  // Written under the mutex, looked at without it too.
  std::atomic<uint64_t> generation{0};
  std::atomic<int> running{0};
  std::atomic<bool> stopping{false};
  const std::function<void(int64_t, int)>* work = nullptr;
  int64_t num_items = 0;
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::vector<std::thread> threads;

  void Drain(int worker) {
    for (;;) {
      const int64_t item = next.fetch_add(1, std::memory_order_relaxed);
      if (item >= num_items) return;
      try {
        (*work)(item, worker);
      } catch (...) {
        next.store(num_items, std::memory_order_relaxed);
        const std::lock_guard<std::mutex> lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  }

  void Loop(int worker) {
    uint64_t seen = 0;
    for (;;) {
      const auto called = [&] { return stopping || generation != seen; };
      if (!Watch(called)) {
        std::unique_lock<std::mutex> lock(mutex);
        start.wait(lock, called);
      }
      if (stopping) return;
      seen = generation;
      Drain(worker);
      const std::lock_guard<std::mutex> lock(mutex);
      if (--running == 0) done.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int num_threads) : state_(std::make_unique<State>()) {
  state_->threads.reserve(static_cast<size_t>(std::max(num_threads - 1, 0)));
  for (int worker = 1; worker < num_threads; ++worker) {
    try {
      state_->threads.emplace_back([state = state_.get(), worker] { state->Loop(worker); });
    } catch (const std::system_error&) {
      return;  // the system grants no more: the work gets done with fewer
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
  }
  state_->start.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

int ThreadPool::num_threads() const { return static_cast<int>(state_->threads.size()) + 1; }

void ThreadPool::Run(int64_t num_items, const std::function<void(int64_t item, int worker)>& work) {
  State& state = *state_;
  if (state.threads.empty() || num_items <= 1) {
    for (int64_t item = 0; item < num_items; ++item) work(item, 0);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.work = &work;
    state.num_items = num_items;
    state.next.store(0, std::memory_order_relaxed);
    state.failure = nullptr;
    state.running = static_cast<int>(state.threads.size());
    ++state.generation;
  }
  state.start.notify_all();
  state.Drain(0);
  const auto finished = [&] { return state.running == 0; };
  Watch(finished);
  std::unique_lock<std::mutex> lock(state.mutex);
  state.done.wait(lock, finished);
  state.work = nullptr;
  if (state.failure) std::rethrow_exception(state.failure);
}

int ThreadPool::DefaultThreads() {
  const unsigned count = std::thread::hardware_concurrency();
  return count == 0 ? 1 : static_cast<int>(count);
}

}  // namespace attnmap

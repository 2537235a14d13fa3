#ifndef ATTNMAP_CORE_THREAD_POOL_H_
#define ATTNMAP_CORE_THREAD_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>

namespace attnmap {

// A fixed team of threads; the caller is one of them. One level only: work
// handed out here must not call Run on the same pool.
class ThreadPool {
 public:
  // num_threads >= 1 in all, the caller included; 1 starts no thread. Where the
  // system refuses to start as many, there are fewer.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;

  // Calls work(item, worker) once for each item in [0, num_items), worker in
  // [0, num_threads), items handed out in ascending order. Returns when all
  // are done. The first exception thrown stops the handing out and is
  // rethrown here.
  void Run(int64_t num_items, const std::function<void(int64_t item, int worker)>& work);

  // What the machine offers, at least 1.
  static int DefaultThreads();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnmap

#endif  // ATTNMAP_CORE_THREAD_POOL_H_

#ifndef ATTNMAP_BENCH_RIVALS_H_
#define ATTNMAP_BENCH_RIVALS_H_

// Matrix products of other libraries, to be measured beside ours: oneDNN where
// its headers are there, OpenBLAS where it can be loaded.

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attnmap/analysis/outliers.h"

#if __has_include(<oneapi/dnnl/dnnl.hpp>)
#include <oneapi/dnnl/dnnl.hpp>
#define ATTNMAP_BENCH_ONEDNN 1
#endif

namespace attnmap::bench {

// y (rows, cols) = x (rows, depth) . w^T, w (cols, depth).
struct Product {
  int64_t rows, depth, cols;
  double operations() const { return 2.0 * rows * depth * cols; }
};

// A way to do it, ready to be called.
struct Contender {
  std::string name;
  std::function<void()> run;
};

// Time is that of the calling thread's processor instead of the clock's: for one
// thread on a machine that others use too.
inline bool processor_time = false;

inline double Seconds() {
  if (processor_time) {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Turns taken one after the other, so that all meet the same machine; the best
// time of each.
inline std::vector<double> BestSeconds(const std::vector<Contender>& contenders, int turns) {
  std::vector<double> best(contenders.size(), 1e30);
  for (int turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      const double start = Seconds();
      contenders[i].run();
      best[i] = std::min(best[i], Seconds() - start);
    }
  }
  return best;
}

// Both libraries run on OpenMP's or their own threads.
inline void SetRivalThreads(int threads) {
  using Set = void (*)(int);
  if (auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(threads);
}

#ifdef ATTNMAP_BENCH_ONEDNN
// What oneDNN's primitives are made of here.
class OneDnn {
 public:
  using Desc = dnnl::memory::desc;
  using Tag = dnnl::memory::format_tag;

  // With weights packed as the primitive likes best.
  Contender MatMul(const Product& p, float* x, float* w, float* bias, float* y, bool gelu) {
    const Desc xd = Make({p.rows, p.depth}, Tag::ab);
    const Desc wd = Make({p.depth, p.cols}, Tag::any);
    const Desc bd = Make({1, p.cols}, Tag::ab);
    const Desc yd = Make({p.rows, p.cols}, Tag::ab);
    const dnnl::matmul::primitive_desc pd({xd, wd, bd, yd}, Attributes(gelu), engine_);
    return Ready("oneDNN matmul", dnnl::matmul(pd), pd.weights_desc(),
                 Make({p.depth, p.cols}, Tag::ba), x, w, bias, y, {xd, bd, yd});
  }

  // The same product as a convolution of 1 x 1.
  Contender Convolution(const Product& p, float* x, float* w, float* bias, float* y, bool gelu) {
    const Desc xd = Make({1, p.depth, 1, p.rows}, Tag::nhwc);
    const Desc wd = Make({p.cols, p.depth, 1, 1}, Tag::any);
    const Desc bd = Make({p.cols}, Tag::a);
    const Desc yd = Make({1, p.cols, 1, p.rows}, Tag::nhwc);
    const dnnl::convolution_forward::primitive_desc pd({dnnl::prop_kind::forward_inference,
                                                        dnnl::algorithm::convolution_direct,
                                                        xd,
                                                        wd,
                                                        bd,
                                                        yd,
                                                        {1, 1},
                                                        {0, 0},
                                                        {0, 0}},
                                                       Attributes(gelu), engine_);
    return Ready("oneDNN 1x1", dnnl::convolution_forward(pd), pd.weights_desc(),
                 Make({p.cols, p.depth, 1, 1}, Tag::oihw), x, w, bias, y, {xd, bd, yd});
  }

  static Contender Sgemm(const Product& p, float* x, float* w, float* y) {
    return {"oneDNN sgemm", [=] {
              dnnl_sgemm('N', 'T', p.rows, p.cols, p.depth, 1.0F, x, p.depth, w, p.depth, 0.0F, y,
                         p.cols);
            }};
  }

 private:
  struct Descs {
    Desc x, bias, y;
  };

  static Desc Make(const dnnl::memory::dims& dims, Tag tag) {
    return Desc(dims, dnnl::memory::data_type::f32, tag);
  }
  static dnnl::primitive_attr Attributes(bool gelu) {
    dnnl::post_ops post;
    if (gelu) post.append_eltwise(1.0F, dnnl::algorithm::eltwise_gelu_erf, 0.0F, 0.0F);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post);
    return attributes;
  }
  Contender Ready(const std::string& name, const dnnl::primitive& primitive, const Desc& packed,
                  const Desc& plain, float* x, float* w, float* bias, float* y,
                  const Descs& descs) {
    dnnl::memory from(plain, engine_, w);
    dnnl::memory weights(packed, engine_);
    dnnl::reorder(from, weights).execute(stream_, from, weights);
    stream_.wait();
    const std::unordered_map<int, dnnl::memory> arguments = {
        {DNNL_ARG_SRC, dnnl::memory(descs.x, engine_, x)},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_BIAS, dnnl::memory(descs.bias, engine_, bias)},
        {DNNL_ARG_DST, dnnl::memory(descs.y, engine_, y)}};
    return {name, [this, primitive, arguments] {
              primitive.execute(stream_, arguments);
              stream_.wait();
            }};
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
};
#endif

// OpenBLAS's sgemm; no run function where it is not installed. Its own settings
// in the environment are put aside, they can halve its speed.
inline Contender OpenBlas(const Product& p, float* x, float* w, float* y, int threads) {
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  using SetThreads = void (*)(int);
  static void* const library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) return {"OpenBLAS", {}};
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  const auto set = reinterpret_cast<SetThreads>(dlsym(library, "openblas_set_num_threads"));
  if (sgemm == nullptr || set == nullptr) return {"OpenBLAS", {}};
  set(threads);
  const auto rows = static_cast<int>(p.rows);
  const auto depth = static_cast<int>(p.depth);
  const auto cols = static_cast<int>(p.cols);
  constexpr int kRowMajor = 101;
  constexpr int kPlain = 111;
  constexpr int kTransposed = 112;
  return {"OpenBLAS", [=] {
            sgemm(kRowMajor, kPlain, kTransposed, rows, cols, depth, 1.0F, x, depth, w, depth, 0.0F,
                  y, cols);
          }};
}

}  // namespace attnmap::bench

#endif  // ATTNMAP_BENCH_RIVALS_H_

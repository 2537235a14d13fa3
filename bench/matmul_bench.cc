// Matrix products at the shapes of Vision Transformers, ours beside oneDNN's and
// OpenBLAS's in the same run: GFLOP/s, the best of several turns.
//
//   matmul_bench [--threads N | --cpu]     (--cpu: one thread, by processor time)

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "attnmap/core/thread_pool.h"
#include "attnmap/ops/instruction_set.h"
#include "attnmap/ops/linear.h"
#include "rivals.h"

namespace {

using attnmap::Matrix;
using attnmap::ThreadPool;
using attnmap::bench::Contender;
using attnmap::bench::Product;
namespace ops = attnmap::ops;

// Operands of one product.
struct Operands {
  Matrix x, weight, y, residual;
  std::vector<float> bias;

  explicit Operands(const Product& p)
      : x(p.rows, p.depth), weight(p.cols, p.depth), y(p.rows, p.cols), residual(p.rows, p.cols) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
    for (float& v : x.values()) v = uniform(random);
    for (float& v : weight.values()) v = uniform(random);
    bias.assign(static_cast<size_t>(p.cols), 0.1F);
  }
};

// Rows in equal shares, as the encoder divides them.
void RunOurs(ThreadPool& pool, Operands& o, ops::PanelView weight, bool gelu, bool residual) {
  const int64_t threads = pool.num_threads();
  const int64_t items = threads * ((o.x.rows() + 120 * threads - 1) / (120 * threads));
  const int64_t step = (o.x.rows() + items - 1) / items;
  pool.Run((o.x.rows() + step - 1) / step, [&](int64_t item, int) {
    const int64_t begin = item * step;
    const int64_t rows = std::min(step, o.x.rows() - begin);
    ops::Epilogue epilogue;
    if (gelu) epilogue.activation = ops::Activation::kGelu;
    attnmap::MutableMatrixView to = o.y.view();
    if (residual) {
      to = o.residual.view();
      epilogue.residual = {to.row(begin), rows, to.cols, to.stride};
    }
    ops::Linear({o.x.view().row(begin), rows, o.x.cols(), o.x.cols()}, weight, o.bias.data(),
                epilogue, {to.row(begin), rows, to.cols, to.stride});
  });
}

void RunShape(const Product& p, int threads) {
  Operands o(p);
  ThreadPool pool(threads);
  const ops::PackedMatrix packed(o.weight.view());
  std::vector<Contender> contenders = {
      {"ours", [&] { RunOurs(pool, o, packed.view(), false, false); }},
      {"+gelu", [&] { RunOurs(pool, o, packed.view(), true, false); }},
      {"+residual", [&] { RunOurs(pool, o, packed.view(), false, true); }},
      {"packing", [&] { ops::PackedMatrix again(o.weight.view()); }},
  };
#ifdef ATTNMAP_BENCH_ONEDNN
  attnmap::bench::OneDnn onednn;
  float* const x = o.x.data();
  float* const w = o.weight.data();
  float* const y = o.y.data();
  contenders.push_back(onednn.MatMul(p, x, w, o.bias.data(), y, false));
  contenders.push_back(onednn.MatMul(p, x, w, o.bias.data(), y, true));
  contenders.back().name = "+gelu";
  contenders.push_back(onednn.Convolution(p, x, w, o.bias.data(), y, false));
  contenders.push_back(onednn.Convolution(p, x, w, o.bias.data(), y, true));
  contenders.back().name = "+gelu";
  contenders.push_back(attnmap::bench::OneDnn::Sgemm(p, x, w, y));
#endif
  Contender blas = attnmap::bench::OpenBlas(p, o.x.data(), o.weight.data(), o.y.data(), threads);
  if (blas.run) contenders.push_back(std::move(blas));

  const int turns = std::clamp(static_cast<int>(2e10 / p.operations()), 5, 60);
  const std::vector<double> best = attnmap::bench::BestSeconds(contenders, turns);
  std::printf("%5ld x %4ld . %4ld:", static_cast<long>(p.rows), static_cast<long>(p.depth),
              static_cast<long>(p.cols));
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i].name == "packing") {
      std::printf(" packing %.2f ns", best[i] / static_cast<double>(p.depth * p.cols) * 1e9);
    } else {
      std::printf(" %s %.0f", contenders[i].name.c_str(), p.operations() / best[i] / 1e9);
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 1;
  if (argc == 3 && std::string(argv[1]) == "--threads") threads = std::max(std::atoi(argv[2]), 1);
  attnmap::bench::processor_time = argc == 2 && std::string(argv[1]) == "--cpu";
  attnmap::bench::SetRivalThreads(threads);
  std::printf("%d thread(s), %s, GFLOP/s; packing: time a weight\n", threads,
              ops::InstructionSetInUse().c_str());
  for (int64_t rows : {197, 3601}) {
    for (int64_t width : {768, 384, 192}) {
      RunShape({rows, width, 3 * width}, threads);
      RunShape({rows, width, width}, threads);
      RunShape({rows, width, 4 * width}, threads);
      RunShape({rows, 4 * width, width}, threads);
    }
  }
}

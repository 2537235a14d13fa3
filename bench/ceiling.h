#ifndef ATTNMAP_BENCH_CEILING_H_
#define ATTNMAP_BENCH_CEILING_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "attnmap/model/vit_config.h"
#include "rivals.h"

namespace attnmap::bench {

// The share of the ceiling aimed at for a model of `attnmap bench`, one image,
// warm; nothing for others. Through `batch`, decoding and writing included, it
// may be `less` by so much.
struct ModelAim {
  std::string_view model;
  double share;
  double less;
};
inline constexpr ModelAim kModelAims[] = {{"vit-ti16", 0.60, 0.05},
                                          {"vit-s16", 0.78, 0.05},
                                          {"vit-b16", 0.85, 0.05},
                                          {"vit-s8-480", 0.75, 0.15},
                                          {"vit-s8-1024", 0.70, 0.15}};
inline std::optional<ModelAim> AimOf(std::string_view model) {
  for (const ModelAim& aim : kModelAims) {
    if (aim.model == model) return aim;
  }
  return std::nullopt;
}

// The ceiling: the best rate of oneDNN's packed products over a model's shapes.
class Ceiling {
 public:
  Ceiling([[maybe_unused]] const VitConfig& config, [[maybe_unused]] int64_t num_tokens) {
#ifdef ATTNMAP_BENCH_ONEDNN
    const int64_t d = config.embed_dim;
    const int64_t rows = std::min<int64_t>(num_tokens, 3601);
    for (const auto& [depth, cols] : {std::pair{d, 3 * d}, {d, d}, {d, 4 * d}, {4 * d, d}}) {
      auto operands = std::make_unique<Operands>(Product{rows, depth, cols});
      Operands& o = *operands;
      ways_.push_back(
          onednn_.MatMul(o.product, o.x.data(), o.w.data(), o.bias.data(), o.y.data(), false));
      ways_.push_back(
          onednn_.Convolution(o.product, o.x.data(), o.w.data(), o.bias.data(), o.y.data(), false));
      operands_.push_back(std::move(operands));
    }
    seconds_.resize(ways_.size());
#endif
  }

  void Turn() {
    for (size_t i = 0; i < ways_.size(); ++i) {
      ways_[i].run();  // the caches are this product's
      const double start = Seconds();
      ways_[i].run();
      seconds_[i].push_back(Seconds() - start);
    }
  }
  // GFLOP/s, the best shape and way by its median; 0: oneDNN is not here.
  double Rate() const {
    double best = 0;
    for (size_t i = 0; i < ways_.size(); ++i) {
      best = std::max(best, operands_[i / 2]->product.operations() / Median(seconds_[i]) / 1e9);
    }
    return best;
  }

 private:
  struct Operands {
    explicit Operands(const Product& p)
        : product(p),
          x(static_cast<size_t>(p.rows * p.depth), 0.5F),
          w(static_cast<size_t>(p.cols * p.depth), 0.5F),
          y(static_cast<size_t>(p.rows * p.cols)),
          bias(static_cast<size_t>(p.cols)) {}
    Product product;
    std::vector<float> x, w, y, bias;
  };
#ifdef ATTNMAP_BENCH_ONEDNN
  OneDnn onednn_;
#endif
  std::vector<std::unique_ptr<Operands>> operands_;
  std::vector<Contender> ways_;
  std::vector<std::vector<double>> seconds_;
};

}  // namespace attnmap::bench

#endif  // ATTNMAP_BENCH_CEILING_H_

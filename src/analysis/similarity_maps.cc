// Similarity maps: the cosine of every patch's features to a token's (as Amir
// et al. 2021, "Deep ViT features as dense visual descriptors", compare them).

#include <cmath>
#include <map>

#include "analysis/dot.h"
#include "analysis/map_sink.h"
#include "attnmap/core/error.h"

namespace attnmap {
namespace {

using Kind = ResolvedQuery::Kind;

// Features of tokens, in parts (of a head each) that belong together.
class TokenFeatures {
 public:
  // tensor: (tokens, width) or (heads, tokens, head_dim).
  explicit TokenFeatures(const Tensor& tensor)
      : tensor_(tensor),
        parts_(tensor.shape.size() == 3 ? tensor.shape[0] : 1),
        tokens_(tensor.shape[tensor.shape.size() - 2]),
        width_(tensor.shape.back()) {
    for (int64_t token = 0; token < tokens_; ++token) {
      norms_.push_back(std::sqrt(Product(token, token)));
    }
  }

  int64_t tokens() const { return tokens_; }

  // 0 where one of the two is all zero: there is no angle.
  double Cosine(int64_t a, int64_t b) const {
    const double norms = norms_[static_cast<size_t>(a)] * norms_[static_cast<size_t>(b)];
    return norms > 0 ? Product(a, b) / norms : 0;
  }

 private:
  double Product(int64_t a, int64_t b) const {
    double sum = 0;
    for (int64_t part = 0; part < parts_; ++part) {
      const float* of_part = tensor_.values.data() + part * tokens_ * width_;
      sum += Dot(of_part + a * width_, of_part + b * width_, width_);
    }
    return sum;
  }

  const Tensor& tensor_;
  int64_t parts_;
  int64_t tokens_;
  int64_t width_;
  std::vector<double> norms_;  // by token
};

class SimilaritySink : public MapSink {
 public:
  explicit SimilaritySink(const MapRequest& request) : request_(request) {
    const Kind kind = request.query.kind;
    if (kind != Kind::kToken && kind != Kind::kAll) {
      throw Error("similarity compares with one token, not with " + request.query.label +
                  ": use --query ROW,COL or px:X,Y");
    }
    const double n = request.tokens.num_tokens(request.grid);
    if (kind == Kind::kAll) {
      CheckMemory(request, "similarity to every token",
                  2.0 * sizeof(float) * n * n * static_cast<double>(request.layers.size()));
    }
    for (int layer : request.layers) features_[layer] = {};
  }

  LayerWants Wants(int layer) const override {
    LayerWants wants;
    if (!features_.contains(layer)) return wants;
    wants.key = request_.options.features == Features::kKeys;
    wants.hidden = !wants.key;
    return wants;
  }
  void OnMatrix(int layer, LayerMatrix, Tensor tensor) override {
    features_.at(layer) = std::move(tensor);
  }

  std::vector<PatchMap> Maps(ThreadPool& pool) override {
    std::vector<PatchMap> maps;
    for (const auto& entry : features_) {
      const int layer = entry.first;
      const TokenFeatures features(entry.second);
      const bool all = request_.query.kind == Kind::kAll;
      const int64_t count = all ? features.tokens() : 1;
      const size_t begin = maps.size();
      maps.resize(begin + static_cast<size_t>(count));
      pool.Run(count, [&](int64_t i, int) {
        const int token = all ? static_cast<int>(i) : request_.query.token;
        maps[begin + static_cast<size_t>(i)] = MapOf(layer, token, features);
      });
    }
    return maps;
  }

 private:
  PatchMap MapOf(int layer, int token, const TokenFeatures& features) const {
    PatchMap map;
    map.grid = request_.grid;
    map.layer = layer;
    map.query =
        request_.query.kind == Kind::kAll ? TokenLabel(request_, token) : request_.query.label;
    for (int i = 0; i < request_.grid.num_patches(); ++i) {
      map.values.push_back(
          static_cast<float>(features.Cosine(token, request_.tokens.PatchToken(i))));
    }
    return map;
  }

  MapRequest request_;
  std::map<int, Tensor> features_;  // by layer
};

}  // namespace

std::unique_ptr<MapSink> MakeSimilaritySink(const MapRequest& request) {
  return std::make_unique<SimilaritySink>(request);
}

}  // namespace attnmap

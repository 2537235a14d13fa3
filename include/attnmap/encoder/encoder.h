#ifndef ATTNMAP_ENCODER_ENCODER_H_
#define ATTNMAP_ENCODER_ENCODER_H_

#include <atomic>
#include <memory>
#include <optional>

#include "attnmap/core/capture.h"
#include "attnmap/core/model_input.h"
#include "attnmap/core/thread_pool.h"
#include "attnmap/encoder/stage_times.h"
#include "attnmap/model/vit_model.h"

namespace attnmap {

// What the layers' matrix products multiply; sums are float32 in any case, and
// so are attention, norms and activations.
enum class Precision { kFloat32, kBfloat16 };

// Whether this machine is faster with it than without.
bool RunsWell(Precision precision);

struct EncodeSettings {
  // Factor on the scores before softmax; nothing: 1 / sqrt(head_dim).
  std::optional<float> score_scale;
  // Looked at between tiles: true ends the run with Interrupted. Null: never.
  const std::atomic<bool>* stop = nullptr;
  // What each stage takes is added here. Null: not measured.
  StageTimes* times = nullptr;
};

// The factor that comes to, as the encoder multiplies with it.
float ScoreScale(const VitConfig& config, const EncodeSettings& settings);

// A model made ready to run, shared read-only by all threads. Keeps the
// model's tensors alive.
class PreparedModel {
 public:
  // `reuse`: many images will come, so packing weights pays.
  explicit PreparedModel(VitModel model, bool reuse = false,
                         Precision precision = Precision::kFloat32);
  ~PreparedModel();
  PreparedModel(PreparedModel&&) noexcept;
  PreparedModel& operator=(PreparedModel&&) noexcept;

  const VitModel& model() const;

  // Runs the encoder on one image as far as the sink asks, and no further.
  // Spreads one image over the pool's threads; for many images give each
  // thread a pool of one. Same result to the bit for any number of threads.
  // Throws Error where the grid and the positions do not fit.
  void Encode(const ModelInput& input, AttentionSink& sink, ThreadPool& pool,
              const EncodeSettings& settings = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attnmap

#endif  // ATTNMAP_ENCODER_ENCODER_H_

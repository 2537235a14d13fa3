#ifndef ATTNMAP_ENCODER_STAGE_TIMES_H_
#define ATTNMAP_ENCODER_STAGE_TIMES_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attnmap {

// What the time of a run goes to.
enum class EncoderStage : uint8_t {
  kEmbedding,    // patches to tokens
  kProjections,  // norm1, queries, keys and values, laid out for attention
  kAttention,    // scores, softmax, A.V
  kOutput,       // output projection and residual
  kMlp,          // norm2 and both layers with their activation
};
inline constexpr std::array<std::string_view, 5> kEncoderStageNames = {
    "embedding", "projections", "attention", "output projection", "mlp"};

// Nanoseconds of all threads together, added up over runs.
struct StageTimes {
  std::array<std::atomic<int64_t>, kEncoderStageNames.size()> nanoseconds{};
};

// Adds its own life to a stage; times null: does nothing.
class StageTimer {
 public:
  StageTimer(StageTimes* times, EncoderStage stage)
      : times_(times), stage_(static_cast<size_t>(stage)) {
    if (times_ != nullptr) start_ = std::chrono::steady_clock::now();
  }
  ~StageTimer() {
    if (times_ == nullptr) return;
    const auto took = std::chrono::steady_clock::now() - start_;
    times_->nanoseconds[stage_] +=
        std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  StageTimes* times_;
  size_t stage_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace attnmap

#endif  // ATTNMAP_ENCODER_STAGE_TIMES_H_

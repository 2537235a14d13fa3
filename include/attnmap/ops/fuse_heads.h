#ifndef ATTNMAP_OPS_FUSE_HEADS_H_
#define ATTNMAP_OPS_FUSE_HEADS_H_

#include <cstdint>

#include "attnmap/core/capture.h"

namespace attnmap::ops {

// Takes one more head's weights into the fused row. `fused` begins as the first
// head's. Both: (count).
inline void FuseInto(HeadFusion fusion, const float* head, int64_t count, float* fused) {
  switch (fusion) {
    case HeadFusion::kMean:
      for (int64_t j = 0; j < count; ++j) fused[j] += head[j];
      return;
    case HeadFusion::kMax:
      for (int64_t j = 0; j < count; ++j) fused[j] = fused[j] < head[j] ? head[j] : fused[j];
      return;
    case HeadFusion::kMin:
      for (int64_t j = 0; j < count; ++j) fused[j] = head[j] < fused[j] ? head[j] : fused[j];
      return;
  }
}

// Once every head has been taken in.
inline void FinishFusing(HeadFusion fusion, int num_heads, int64_t count, float* fused) {
  if (fusion != HeadFusion::kMean) return;
  const float share = 1.0F / static_cast<float>(num_heads);
  for (int64_t j = 0; j < count; ++j) fused[j] *= share;
}

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_FUSE_HEADS_H_

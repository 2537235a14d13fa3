#ifndef ATTNMAP_MODEL_LIMITS_H_
#define ATTNMAP_MODEL_LIMITS_H_

namespace attnmap {

// No published model comes near these; they keep products of sizes from a file
// far below any overflow.
inline constexpr int kMaxPatchSize = 1024;
inline constexpr int kMaxDim = 65536;
inline constexpr int kMaxMlpDim = 4 * kMaxDim;
inline constexpr int kMaxLayers = 512;
inline constexpr int kMaxHeads = 4096;
inline constexpr int kMaxRegisters = 4096;
inline constexpr int kMaxClasses = 1 << 20;
inline constexpr int kMaxImageSide = 65536;

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_LIMITS_H_

#ifndef ATTNMAP_PIPELINE_PEAK_MEMORY_H_
#define ATTNMAP_PIPELINE_PEAK_MEMORY_H_

namespace attnmap {

// The most memory this process has held at once, in megabytes of 2^20 bytes,
// mapped files that were read included.
double PeakMegabytes();
// Begins anew, from what is held now. Does nothing where the system has no way.
void ForgetPeakMemory();

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_PEAK_MEMORY_H_

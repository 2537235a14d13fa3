#ifndef ATTNMAP_ENCODER_WORKSPACE_H_
#define ATTNMAP_ENCODER_WORKSPACE_H_

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/ops/aligned_buffer.h"

namespace attnmap::encoder {

// What one worker, or the chain of rows it owns, computes in; grows to what is
// needed and stays.
struct WorkerScratch {
  MatrixView input;            // what the stage at work multiplies
  ops::AlignedBuffer words;    // the same as pairs of bfloat16
  ops::AlignedBuffer normed;   // a block of rows after layer norm, or patches
  ops::AlignedBuffer wide;     // a block of rows of queries, keys, values or the MLP
  ops::AlignedBuffer scores;   // of a tile of query rows, a block of keys
  ops::AlignedBuffer context;  // of a tile of query rows, one head
  ops::AlignedBuffer kept;     // whole rows that a sink asked for
  ops::AlignedBuffer fused;    // the same, fused over heads
  ops::AlignedBuffer bias;     // relative position bias of a tile
};

// The matrices of one run.
struct Workspace {
  ops::AlignedBuffer tokens;   // (tokens, D)
  ops::AlignedBuffer next;     // (tokens, width), where a block's result replaces its input
  ops::AlignedBuffer query;    // (queries, heads * head_dim)
  ops::AlignedBuffer keys;     // a head after the other: panels of (head_dim, tokens)
  ops::AlignedBuffer values;   // a head after the other: panels of (tokens, value_dim)
  ops::AlignedBuffer context;  // (queries, heads * value_dim)
  ops::AlignedBuffer weights;  // panels of one layer, where they are not kept packed
  std::vector<WorkerScratch> workers;
};

// Workspaces not in use, so that a later run allocates nothing.
class WorkspacePool {
 public:
  // Gives the workspace back at the end of its life.
  class Lease {
   public:
    Lease(WorkspacePool& pool, std::unique_ptr<Workspace> workspace)
        : pool_(pool), workspace_(std::move(workspace)) {}
    ~Lease() { pool_.Return(std::move(workspace_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Workspace& operator*() { return *workspace_; }

   private:
    WorkspacePool& pool_;
    std::unique_ptr<Workspace> workspace_;
  };

  Lease Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return {*this, std::make_unique<Workspace>()};
    std::unique_ptr<Workspace> workspace = std::move(free_.back());
    free_.pop_back();
    return {*this, std::move(workspace)};
  }

 private:
  void Return(std::unique_ptr<Workspace> workspace) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(workspace));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_WORKSPACE_H_

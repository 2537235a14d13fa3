#include "encoder/attention.h"

#include <algorithm>
#include <array>
#include <limits>

#include "attnmap/core/stop.h"
#include "attnmap/ops/fuse_heads.h"
#include "attnmap/ops/linear.h"
#include "attnmap/ops/softmax.h"

namespace attnmap::encoder {
namespace {

// Rows of a tile and keys of a block: a block of scores and the keys and values
// it meets stay in the second-level cache. Fixed, so that a sum's order does
// not depend on the number of threads.
constexpr int64_t kTileRows = 48;
constexpr int64_t kFusedTileRows = 24;  // all heads of a tile are one item
constexpr int64_t kKeyBlock = 512;

// What is wanted of a query row.
enum Wanted : uint8_t { kWeights = 1, kScores = 2, kFused = 4 };

struct Tile {
  int64_t begin;  // rows of `query`
  int64_t end;
  bool context;  // A.V is wanted, of all its rows
  int64_t rows() const { return end - begin; }
};

// Everything the items of one layer share.
struct Job {
  const Attention& attention;
  std::vector<uint8_t> wanted;         // a query row each
  std::vector<uint8_t> head_selected;  // attention_heads
  std::vector<Tile> tiles;
  bool fused = false;

  int64_t room() const { return ops::PanelPadded(attention.num_tokens); }
};

void Mark(const QueryRows& rows, Wanted bit, std::span<const int> queries,
          std::vector<uint8_t>& wanted) {
  for (size_t i = 0; i < queries.size(); ++i) {
    if (rows.all || std::binary_search(rows.tokens.begin(), rows.tokens.end(), queries[i])) {
      wanted[i] |= bit;
    }
  }
}

// Tiles of at most `most` rows, so many that their items go evenly among the
// threads where they are few.
void AddTiles(int64_t begin, int64_t end, bool context, int num_threads, Job& job) {
  if (begin == end) return;
  const int64_t most = job.fused ? kFusedTileRows : kTileRows;
  const int64_t items_per_tile = job.fused ? 1 : job.attention.num_heads;
  int64_t parts = (end - begin + most - 1) / most;
  while (parts * items_per_tile % num_threads != 0) ++parts;
  const int64_t rows = (end - begin + parts - 1) / parts;
  for (int64_t row = begin; row < end; row += rows) {
    job.tiles.push_back({row, std::min(row + rows, end), context});
  }
}

Job MakeJob(const Attention& attention, int num_threads) {
  Job job{.attention = attention, .wanted = {}, .head_selected = {}, .tiles = {}};
  const LayerWants& wants = *attention.wants;
  job.fused = !wants.fused.empty();
  job.wanted.assign(attention.queries.size(), 0);
  Mark(wants.attention, kWeights, attention.queries, job.wanted);
  Mark(wants.scores, kScores, attention.queries, job.wanted);
  Mark(wants.fused, kFused, attention.queries, job.wanted);
  const bool every_head = wants.attention_heads.empty();
  job.head_selected.assign(static_cast<size_t>(attention.num_heads), every_head ? 1 : 0);
  for (int head : wants.attention_heads) job.head_selected[static_cast<size_t>(head)] = 1;
  const auto count = static_cast<int64_t>(attention.queries.size());
  AddTiles(0, attention.context_rows, true, num_threads, job);
  AddTiles(attention.context_rows, count, false, num_threads, job);
  return job;
}

// One tile at work, in the scratch of one worker.
class TileRun {
 public:
  TileRun(const Job& job, const Tile& tile, WorkerScratch& scratch)
      : job_(job), a_(job.attention), tile_(tile), scratch_(scratch) {
    for (int64_t row = tile.begin; row < tile.end; ++row) {
      if (job.wanted[static_cast<size_t>(row)] == 0) continue;
      kept_rows_.push_back(row - tile.begin);
      kept_tokens_.push_back(a_.queries[static_cast<size_t>(row)]);
    }
  }

  void RunHead(int head);
  // The fused rows, once every head has run.
  void FinishFused();

 private:
  MutableMatrixView Kept() {
    const auto rows = static_cast<int64_t>(kept_rows_.size());
    return {scratch_.kept.Reserve(rows * job_.room()), rows, a_.num_tokens, job_.room()};
  }
  MutableMatrixView Fused() {
    const auto rows = static_cast<int64_t>(kept_rows_.size());
    return {scratch_.fused.Reserve(rows * job_.room()), rows, a_.num_tokens, job_.room()};
  }
  MatrixView Queries(int head) const {
    return {a_.query.row(tile_.begin) + head * a_.head_dim, tile_.rows(), a_.head_dim,
            a_.query.stride};
  }
  uint8_t WantedOf(size_t kept) const {
    return job_.wanted[static_cast<size_t>(tile_.begin + kept_rows_[kept])];
  }

  MatrixView Bias(int head);
  void ScoreKept(int head);
  void Attend(int head, bool keep);
  void KeepScores(MatrixView block, int64_t first_key);
  void Emit(int head, bool selected);
  void EmitRows(Wanted bit, int head, MatrixView rows);
  void Fuse(int head);

  const Job& job_;
  const Attention& a_;
  const Tile& tile_;
  WorkerScratch& scratch_;
  std::vector<int64_t> kept_rows_;  // rows of the tile that the sink wants
  std::vector<int> kept_tokens_;
  MatrixView bias_;  // of the head at work, (tile rows, tokens)
};

void TileRun::RunHead(int head) {
  const bool selected = job_.head_selected[static_cast<size_t>(head)] != 0;
  const bool keep = !kept_rows_.empty() && (selected || job_.fused);
  if (!keep && !tile_.context) return;
  bias_ = Bias(head);
  if (tile_.context) {
    Attend(head, keep);
  } else {
    ScoreKept(head);
  }
  if (keep) Emit(head, selected);
}

MatrixView TileRun::Bias(int head) {
  if (a_.bias == nullptr) return {};
  float* data = scratch_.bias.Reserve(tile_.rows() * job_.room());
  for (int64_t i = 0; i < tile_.rows(); ++i) {
    const int token = a_.queries[static_cast<size_t>(tile_.begin + i)];
    a_.bias->Row(head, token, {data + i * job_.room(), static_cast<size_t>(a_.num_tokens)});
  }
  return {data, tile_.rows(), a_.num_tokens, job_.room()};
}

// Without A.V every row of the tile is one that the sink wants.
void TileRun::ScoreKept(int head) {
  ops::Multiply(Queries(head), a_.keys[static_cast<size_t>(head)], false, Kept());
}

// A.V over blocks of keys, the softmax running along.
void TileRun::Attend(int head, bool keep) {
  const int64_t rows = tile_.rows();
  const int64_t value_room = ops::PanelPadded(a_.value_dim);
  float* scores = scratch_.scores.Reserve(rows * kKeyBlock);
  const MutableMatrixView sum = {scratch_.context.Reserve(rows * value_room), rows, a_.value_dim,
                                 value_room};
  std::array<ops::RunningSoftmax, kTileRows> running{};
  std::array<float, kTileRows> rescale{};
  const auto count = static_cast<size_t>(rows);
  const ops::PanelView keys = a_.keys[static_cast<size_t>(head)];
  const ops::PanelView values = a_.values[static_cast<size_t>(head)];
  for (int64_t first = 0; first < a_.num_tokens; first += kKeyBlock) {
    const int64_t num_keys = std::min(kKeyBlock, a_.num_tokens - first);
    const MutableMatrixView block = {scores, rows, num_keys, kKeyBlock};
    ops::Multiply(Queries(head), keys.Cols(first, num_keys), false, block);
    if (keep) KeepScores(block, first);
    MatrixView bias = bias_;
    if (bias.data != nullptr) bias.data += first;
    ops::SoftmaxBlock(block, a_.scale, bias, {running.data(), count}, {rescale.data(), count});
    if (first > 0) ops::ScaleRows({rescale.data(), count}, sum);
    ops::Multiply(block, values.Depth(first, num_keys), first > 0, sum);
  }
  for (size_t i = 0; i < count; ++i) rescale[i] = 1.0F / running[i].sum;
  ops::ScaleRows({rescale.data(), count}, sum);
  for (int64_t i = 0; i < rows; ++i) {
    std::copy_n(sum.row(i), a_.value_dim, a_.context.row(tile_.begin + i) + head * a_.value_dim);
  }
}

void TileRun::KeepScores(MatrixView block, int64_t first_key) {
  const MutableMatrixView kept = Kept();
  for (size_t i = 0; i < kept_rows_.size(); ++i) {
    std::copy_n(block.row(kept_rows_[i]), block.cols,
                kept.row(static_cast<int64_t>(i)) + first_key);
  }
}

// Kept scores to the sink, then turned into weights. The weights do not come
// from the running softmax, so that they are the same whether A.V is computed
// or not.
void TileRun::Emit(int head, bool selected) {
  const MutableMatrixView kept = Kept();
  if (selected) EmitRows(kScores, head, kept);
  for (size_t i = 0; i < kept_rows_.size(); ++i) {
    MatrixView bias = {};
    if (bias_.data != nullptr) bias = {bias_.row(kept_rows_[i]), 1, bias_.cols, bias_.stride};
    ops::SoftmaxRows({kept.row(static_cast<int64_t>(i)), 1, kept.cols, kept.stride}, a_.scale,
                     bias);
  }
  if (selected) EmitRows(kWeights, head, kept);
  if (job_.fused) Fuse(head);
}

// Runs of neighbouring rows that want `bit`.
void TileRun::EmitRows(Wanted bit, int head, MatrixView rows) {
  const size_t count = kept_rows_.size();
  for (size_t begin = 0; begin < count;) {
    if ((WantedOf(begin) & bit) == 0) {
      ++begin;
      continue;
    }
    size_t end = begin + 1;
    while (end < count && (WantedOf(end) & bit) != 0) ++end;
    const AttentionTile tile = {
        .layer = a_.layer,
        .head = head,
        .queries = std::span<const int>(kept_tokens_).subspan(begin, end - begin),
        .rows = {rows.row(static_cast<int64_t>(begin)), static_cast<int64_t>(end - begin),
                 rows.cols, rows.stride}};
    if (bit == kScores) {
      a_.sink->OnScores(tile);
    } else if (bit == kWeights) {
      a_.sink->OnAttention(tile);
    } else {
      a_.sink->OnFused(tile);
    }
    begin = end;
  }
}

void TileRun::Fuse(int head) {
  const MutableMatrixView kept = Kept();
  const MutableMatrixView fused = Fused();
  for (int64_t i = 0; i < kept.rows; ++i) {
    if (head == 0) {
      std::copy_n(kept.row(i), kept.cols, fused.row(i));
    } else {
      ops::FuseInto(a_.wants->fusion, kept.row(i), kept.cols, fused.row(i));
    }
  }
}

void TileRun::FinishFused() {
  if (kept_rows_.empty()) return;
  const MutableMatrixView fused = Fused();
  for (int64_t i = 0; i < fused.rows; ++i) {
    ops::FinishFusing(a_.wants->fusion, a_.num_heads, fused.cols, fused.row(i));
  }
  EmitRows(kFused, -1, fused);
}

}  // namespace

void RunAttention(const Attention& attention, ThreadPool& pool,
                  std::vector<WorkerScratch>& workers) {
  const Job job = MakeJob(attention, pool.num_threads());
  const auto num_tiles = static_cast<int64_t>(job.tiles.size());
  // Head by head, so that a head's keys and values stay near while its tiles
  // run; fused over heads, tile by tile.
  const int64_t num_items = job.fused ? num_tiles : num_tiles * attention.num_heads;
  pool.Run(num_items, [&](int64_t item, int worker) {
    CheckStop(attention.stop);
    const StageTimer timer(attention.times, EncoderStage::kAttention);
    TileRun run(job, job.tiles[static_cast<size_t>(item % num_tiles)],
                workers[static_cast<size_t>(worker)]);
    if (!job.fused) return run.RunHead(static_cast<int>(item / num_tiles));
    for (int head = 0; head < attention.num_heads; ++head) run.RunHead(head);
    run.FinishFused();
  });
}

}  // namespace attnmap::encoder

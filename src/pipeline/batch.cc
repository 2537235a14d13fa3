#include "attnmap/pipeline/batch.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;

// The record of a batch: a line an image, flushed as it is written.
class Manifest {
 public:
  explicit Manifest(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "ae")) {
    if (!file_) throw Error("cannot write " + path + ": " + std::generic_category().message(errno));
  }
  void Append(const std::string& line) {
    const std::string text = line + "\n";
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
        std::fflush(file_.get()) != 0) {
      throw Error("cannot write " + path_ + ": " + std::generic_category().message(errno));
    }
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

void MakeFolder(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error("cannot make the folder " + folder.string() + ": " + error.message());
}

// One run over all items. Threads work on images; with fewer images than
// threads they work on the tiles of one image after the other instead.
class Batch {
 public:
  Batch(const std::vector<BatchItem>& items, const BatchOptions& options, PreparedModel model,
        const std::function<void(const BatchProgress&)>& report)
      : items_(items),
        options_(options),
        report_(report),
        settings_(SettingsJson(options.job)),
        model_(std::move(model)),
        manifest_((fs::path(options.output_dir) / "manifest.jsonl").string()) {}

  BatchSummary Run() {
    const int threads = NumThreads(options_.job.selection);
    const bool across = static_cast<int64_t>(items_.size()) >= threads;
    ThreadPool images(across ? threads : 1);
    tiles_ = std::make_unique<ThreadPool>(across ? 1 : threads);
    across_ = across;
    job_ = options_.job;
    if (options_.shared_scale && job_.format.picture) FindSharedRange(images);
    images.Run(static_cast<int64_t>(items_.size()),
               [&](int64_t i, int) { DoItem(static_cast<size_t>(i)); });
    return summary_;
  }

 private:
  bool Stopped() const {
    return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
  }

  // Runs one piece of work with the pool that belongs to it.
  template <typename Work>
  void WithPool(const Work& work) {
    if (!across_) return work(*tiles_);
    ThreadPool single(1);
    work(single);
  }

  // All maps first, for the range they share; pictures are read again later.
  void FindSharedRange(ThreadPool& images) {
    std::vector<std::optional<ValueRange>> ranges(items_.size());
    images.Run(static_cast<int64_t>(items_.size()), [&](int64_t index, int) {
      const auto i = static_cast<size_t>(index);
      if (Stopped() || !items_[i].error.empty()) return;
      try {
        WithPool([&](ThreadPool& pool) {
          const LoadedInput input = LoadInput(items_[i].image, job_.input, model_.model());
          const ComputedMaps computed = ComputeMaps(model_, input, job_, pool, options_.stop);
          ranges[i] = ComputeRange(computed.maps, job_.picture.normalize);
        });
      } catch (const Error&) {
        // Said when its turn to be drawn comes.
      }
    });
    std::optional<ValueRange> all;
    for (const auto& range : ranges) {
      if (!range) continue;
      if (!all) all = range;
      all->low = std::min(all->low, range->low);
      all->high = std::max(all->high, range->high);
    }
    job_.picture.range = all;
  }

  void DoItem(size_t index) {
    const BatchItem& item = items_[index];
    if (Stopped()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      summary_.interrupted = true;
      return;
    }
    MapResult result;
    result.image = item.image;
    result.output = item.output;
    std::optional<std::string> error;
    try {
      if (!item.error.empty()) throw Error("'" + item.image + "': " + item.error);
      MakeFolder(fs::path(item.output).parent_path());
      WithPool([&](ThreadPool& pool) {
        result =
            RunOne(model_, OnePicture{item.image, item.output}, job_, pool, options_.stop).result;
      });
    } catch (const Interrupted&) {
      const std::lock_guard<std::mutex> lock(mutex_);
      summary_.interrupted = true;
      return;
    } catch (const Error& failure) {
      error = failure.what();
    } catch (const std::bad_alloc&) {
      error = "'" + item.image + "': not enough memory";
    }
    Finish(item, result, error);
  }

  void Finish(const BatchItem& item, const MapResult& result,
              const std::optional<std::string>& error) {
    const std::string& model = options_.model.path;
    const std::string line = RecordJson(result, model, settings_, error, false);
    const std::string record = RecordJson(result, model, settings_, error, true);
    const std::lock_guard<std::mutex> lock(mutex_);
    ++(error ? summary_.failed : summary_.ok);
    manifest_.Append(line);
    if (report_) {
      report_({summary_.ok + summary_.failed, items_.size(), &item, error.value_or(""), record});
    }
  }

  const std::vector<BatchItem>& items_;
  const BatchOptions& options_;
  const std::function<void(const BatchProgress&)>& report_;
  std::string settings_;
  PreparedModel model_;
  Manifest manifest_;
  MapJob job_;
  std::unique_ptr<ThreadPool> tiles_;
  bool across_ = true;
  std::mutex mutex_;
  BatchSummary summary_;
};

}  // namespace

BatchSummary RunBatch(const std::vector<BatchItem>& items, const BatchOptions& options,
                      const std::function<void(const BatchProgress&)>& report) {
  // Before there is a folder: it may be refused.
  PreparedModel model = PrepareModel(options.model, options.job.selection, items.size() > 1);
  MakeFolder(options.output_dir);
  return Batch(items, options, std::move(model), report).Run();
}

}  // namespace attnmap

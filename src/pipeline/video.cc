#include "attnmap/pipeline/video.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "attnmap/core/error.h"
#include "attnmap/core/number_text.h"
#include "attnmap/formats/file.h"
#include "attnmap/image/video.h"
#include "pipeline/map_store.h"

namespace attnmap {
namespace {

// A film that says nothing about its speed, or something no film has.
constexpr double kUsualFramesPerSecond = 25;
constexpr double kMostFramesPerSecond = 1000;

// What a film says of its length is often off by a few frames.
bool ClearlyFewer(int64_t found, int64_t claimed) {
  constexpr double kSlack = 0.02;
  constexpr double kSlackFrames = 3;
  return static_cast<double>(claimed - found) >
         std::max(kSlackFrames, kSlack * static_cast<double>(claimed));
}

// A pipe would be emptied by the first look at it, and films are read twice.
void CheckIsFile(const std::string& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  using Kind = std::filesystem::file_type;
  if (kind == Kind::fifo || kind == Kind::socket || kind == Kind::character ||
      kind == Kind::block) {
    throw Error("cannot read " + path + ": a film has to be a file, not a pipe or a device");
  }
}

// One run over a film.
class Film {
 public:
  Film(const VideoOptions& options, const std::function<void(const VideoProgress&)>& report)
      : options_(options), report_(report), job_(options.job) {}

  VideoResult Run() {
    const auto start = std::chrono::steady_clock::now();
    // The film before the model: it is the quicker to be found missing.
    auto film = OpenFilm();
    const PreparedModel model = PrepareModel(options_.model, job_.selection, true);
    model_ = &model;
    ThreadPool pool(NumThreads(job_.selection));
    pool_ = &pool;
    // Maps of pca have colours of their own and no scale to find.
    const bool known = job_.picture.normalize.kind == Normalize::Kind::kRange ||
                       job_.selection.method == Method::kPca;
    std::optional<MapStore> store;
    if (!known) {
      progress_.num_passes = 2;
      store.emplace();
      FindMaps(*film, *store);
      film = OpenFilm();
      progress_ = {2, 2, 0, result_.num_frames};
    }
    Draw(*film, store ? &*store : nullptr);
    result_.result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  std::unique_ptr<FilmReader> OpenFilm() {
    // A missing file, or one that must not be read, is said as everywhere.
    CheckIsFile(options_.input);
    static_cast<void>(MappedFile::Open(options_.input));
    const DecodeOptions& decode = job_.input.decode;
    auto film = std::make_unique<FilmReader>(options_.input, decode.apply_exif,
                                             options_.video_module, decode.max_pixels);
    progress_.total = film->info().num_frames;
    return film;
  }

  void Report() {
    ++progress_.done;
    if (report_) report_(progress_);
  }

  // The next frame as the model sees it; nothing at the end.
  std::optional<LoadedInput> NextFrame(FilmReader& film) {
    CheckStop(options_.stop);
    std::optional<Image> frame = film.Next();
    if (!frame) return std::nullopt;
    if (progress_.done == 0) {
      first_size_ = frame->size();
    } else if (frame->size() != first_size_) {
      throw Error("the film '" + options_.input + "' changes its size at frame " +
                  std::to_string(progress_.done) + " (counted from 0)");
    }
    return LoadImage(std::move(*frame), options_.input, job_.input, model_->model());
  }

  ComputedMaps Maps(const LoadedInput& input) {
    ComputedMaps computed = ComputeMaps(*model_, input, job_, *pool_);
    MapResult& whole = result_.result;
    if (progress_.done == 0) {
      whole = computed.result;
      whole.image = options_.input;
      whole.output = options_.output;
      whole.map_notes.clear();
    }
    if (whole.outliers && progress_.done > 0) {
      whole.outliers->count.Add(computed.result.outliers->count);
    }
    whole.min = std::min(whole.min, computed.result.min);
    whole.max = std::max(whole.max, computed.result.max);
    whole.constant = whole.min == whole.max;
    return computed;
  }

  // The first of two passes.
  void FindMaps(FilmReader& film, MapStore& store) {
    std::optional<ValueRange> all;
    while (const auto input = NextFrame(film)) {
      const ComputedMaps computed = Maps(*input);
      store.Append(computed.maps);
      const ValueRange own = ComputeRange(computed.maps, job_.picture.normalize);
      if (!all) all = own;
      all->low = std::min(all->low, own.low);
      all->high = std::max(all->high, own.high);
      Report();
    }
    CheckFrames(film.info());
    job_.picture.range = all;
  }

  void CheckFrames(const FilmInfo& info) {
    result_.num_frames = progress_.done;
    if (auto& tally = result_.result.outliers) AddPlaces(Counted(progress_.done, "frame"), *tally);
    if (progress_.done == 0) {
      throw Error("the film '" + options_.input + "' has no frame that can be read");
    }
    if (info.num_frames && ClearlyFewer(progress_.done, *info.num_frames)) {
      result_.claimed = info.num_frames;
    }
  }

  // Draws and writes frame by frame; `store`: the maps, else they are computed now.
  void Draw(FilmReader& film, MapStore* store) {
    NamedTemporary temporary(options_.output);
    std::unique_ptr<FilmWriter> writer;
    while (store == nullptr || progress_.done < result_.num_frames) {
      const auto input = NextFrame(film);
      if (!input) break;
      ComputedMaps computed = store != nullptr ? ComputedMaps{store->Next(), {}} : Maps(*input);
      const Image picture = RenderMaps(*input, computed.maps, job_).image;
      if (writer == nullptr) writer = StartFilm(film.info(), picture.size(), temporary.path());
      writer->Write(picture);
      Report();
    }
    if (store == nullptr) CheckFrames(film.info());
    if (progress_.done < result_.num_frames) {
      throw Error("the film '" + options_.input + "' had " + std::to_string(result_.num_frames) +
                  " frames when it was first read, and " + std::to_string(progress_.done) +
                  " when it was read again");
    }
    CheckStop(options_.stop);
    result_.codec = writer->codec();
    writer->Finish();
    CheckWritten(temporary.path());
    temporary.Commit();
  }

  // The library that writes films does not tell of a full disk, and what a film
  // says of its length was written before the end: frames are counted.
  void CheckWritten(const std::string& path) const {
    int64_t found = 0;
    try {
      FilmReader film(path, true, options_.video_module, std::numeric_limits<int64_t>::max());
      for (; film.Next(); ++found) CheckStop(options_.stop);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      // It cannot even be opened.
    }
    if (ClearlyFewer(found, progress_.done) || found == 0) {
      throw Error("cannot write " + options_.output +
                  ": what was written is no whole film; the disk may be full");
    }
  }

  std::unique_ptr<FilmWriter> StartFilm(const FilmInfo& info, RowsCols size,
                                        const std::string& path) {
    double rate = info.frames_per_second;
    if (!(rate > 0 && rate <= kMostFramesPerSecond)) {
      rate = kUsualFramesPerSecond;
      result_.result.notes.emplace_back(
          "the film does not say how fast it runs: 25 frames a second");
    }
    result_.frames_per_second = rate;
    auto writer = std::make_unique<FilmWriter>(path, size, rate, options_.video_module);
    result_.size = writer->size();
    return writer;
  }

  const VideoOptions& options_;
  const std::function<void(const VideoProgress&)>& report_;
  MapJob job_;
  const PreparedModel* model_ = nullptr;
  ThreadPool* pool_ = nullptr;
  RowsCols first_size_;
  VideoProgress progress_;
  VideoResult result_;
};

}  // namespace

void CheckVideo(const VideoOptions& options) {
  CheckJob(options.job);
  CheckOnePicture(options.job);
  if (options.input == "-" || options.output == "-") {
    throw UsageError("video reads and writes films as files, not as standard input or output");
  }
  if (!FilmWriter::Knows(options.output)) {
    throw UsageError("video writes " + FilmWriter::Endings() + ", told by the ending, not '" +
                     options.output + "'");
  }
}

VideoResult RunVideo(const VideoOptions& options,
                     const std::function<void(const VideoProgress&)>& report) {
  return Film(options, report).Run();
}

std::string VideoRecord(const VideoResult& result, const VideoOptions& options) {
  nlohmann::ordered_json record = nlohmann::ordered_json::parse(
      RecordJson(result.result, options.model.path, SettingsJson(options.job), std::nullopt, true));
  if (result.claimed) {  // what could be read was written all the same
    record["status"] = "failed";
    record["error"] = VideoLine(result, options);
  }
  record["frames"] = result.num_frames;
  record["frames_per_second"] = result.frames_per_second;
  record["size"] = {result.size.rows, result.size.cols};
  record["codec"] = result.codec;
  return record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string VideoLine(const VideoResult& result, const VideoOptions& options) {
  std::string line;
  if (result.claimed) {
    line = "the film '" + options.input + "' breaks off: " + std::to_string(result.num_frames) +
           " of " + std::to_string(*result.claimed) + " frames could be read; ";
  }
  // Three decimals at most: 29.97.
  const double rate = std::round(result.frames_per_second * 1000) / 1000;
  std::string rate_text = Fixed(rate, 3);
  rate_text.erase(rate_text.find_last_not_of('0') + 1);
  if (rate_text.back() == '.') rate_text.pop_back();
  return line + "wrote " + options.output + ": " + Counted(result.num_frames, "frame") + " of " +
         std::to_string(result.size.cols) + " x " + std::to_string(result.size.rows) + " at " +
         rate_text + " a second, " + result.codec + ", without sound; " +
         WhatWasDone(result.result, options.job);
}

}  // namespace attnmap

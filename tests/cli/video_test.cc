#include "attnmap/image/video.h"

#include <sys/stat.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "attnmap/core/error.h"
#include "attnmap/image/encode.h"
#include "attnmap/pipeline/video.h"
#include "cli/support.h"
#include "support/catch.h"

using namespace attnmap::test;
using attnmap::FilmReader;
using attnmap::FilmWriter;
using attnmap::Image;
using attnmap::RowsCols;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

constexpr RowsCols kSize{48, 64};

std::string Module() { return std::string(ATTNMAP_BINARY_DIR) + "/attnmap-video.so"; }

// Without the film module there is nothing to test but that it is missed.
bool HasModule() {
  if (std::filesystem::exists(Module())) return true;
#ifdef ATTNMAP_WITH_VIDEO
  FAIL("the film module was not built");
#endif
  WARN("skipped: the film module is missing");
  return false;
}

// A disc that moves over a slope of colours, and grows brighter.
Image Frame(int number, RowsCols size = kSize) {
  Image image(size.rows, size.cols);
  for (int y = 0; y < size.rows; ++y) {
    for (int x = 0; x < size.cols; ++x) {
      uint8_t* pixel = image.row(y) + static_cast<size_t>(x) * 3;
      const bool disc = std::hypot(x - 3 * number - 8, y - 24) < 9;
      pixel[0] = static_cast<uint8_t>(disc ? 120 + 8 * number : 2 * x);
      pixel[1] = static_cast<uint8_t>(disc ? 200 : 3 * y);
      pixel[2] = static_cast<uint8_t>(disc ? 20 : 100);
    }
  }
  return image;
}

std::string MakeFilm(const std::filesystem::path& path, int num_frames, double rate = 12.5) {
  FilmWriter film(path.string(), kSize, rate, Module());
  for (int i = 0; i < num_frames; ++i) film.Write(Frame(i % 16));
  film.Finish();
  return path.string();
}

std::string Encoded(const Image& image, attnmap::PictureFormat format) {
  const auto bytes = attnmap::EncodeImage(image, format);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The same corner of two photos, a frame each: maps, features and outliers differ.
std::string MakeFilmOfPhotos(const std::filesystem::path& path) {
  constexpr RowsCols kCorner{240, 320};
  FilmWriter film(path.string(), kCorner, 5, Module());
  for (const char* name : {"astronaut.png", "rocket.jpg"}) {
    const Image photo = ReadPicture(Photo(name));
    Image frame(kCorner.rows, kCorner.cols);
    for (int y = 0; y < frame.rows; ++y) {
      std::copy_n(photo.row(y), static_cast<size_t>(frame.cols) * 3, frame.row(y));
    }
    film.Write(frame);
  }
  film.Finish();
  return path.string();
}

std::vector<Image> Frames(const std::filesystem::path& path) {
  FilmReader film(path.string(), true, Module());
  std::vector<Image> frames;
  while (auto frame = film.Next()) frames.push_back(std::move(*frame));
  return frames;
}

RunResult Video(const TempFolder& folder, std::vector<std::string> args) {
  args.insert(args.begin(), "video");
  return Run(args, {.folder = folder.path()});
}

}  // namespace

TEST_CASE("video: every frame is what run makes of it, on one scale for the whole film") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilm(folder / "in.avi", 16);
  const RunResult result = Video(folder, {"in.avi", "out.avi", "--json"});
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  REQUIRE(result.ErrorLines().size() == 1);
  for (const char* part : {"wrote out.avi: 16 frames of 64 x 48 at 12.5 a second", "Motion JPEG",
                           "without sound", "layer 3 of 4", "values"}) {
    INFO("should hold: " << part);
    CHECK(result.err.find(part) != std::string::npos);
  }
  CHECK(folder.List() == std::vector<std::string>{"in.avi", "out.avi"});
  const json record = json::parse(result.out);
  const std::string range = "range:" + record["min"].dump() + "," + record["max"].dump();

  const std::vector<Image> in = Frames(folder / "in.avi");
  const std::vector<Image> out = Frames(folder / "out.avi");
  REQUIRE(in.size() == 16);
  REQUIRE(out.size() == 16);
  CHECK(FilmReader((folder / "out.avi").string(), true, Module()).info().frames_per_second ==
        Approx(12.5));
  double least = 1;
  double most = 0;
  for (size_t i : {size_t{0}, size_t{7}, size_t{15}}) {
    folder.Write("frame.png", Encoded(in[i], attnmap::PictureFormat::kPng));
    const RunResult run = Run({"run", "frame.png", "-o", "one.png", "--normalize", range, "--json"},
                              {.folder = folder.path()});
    REQUIRE(run.status == 0);
    CAPTURE(i);
    CHECK(MeanDifference(out[i], ReadPicture(folder / "one.png")) < 4);
    const json one = json::parse(run.out);
    least = std::min(least, one["min"].get<double>());
    most = std::max(most, one["max"].get<double>());
    CHECK(one["min"] >= record["min"]);
    CHECK(one["max"] <= record["max"]);
  }

  // With the range given, in one pass, the same film.
  REQUIRE(Video(folder, {"in.avi", "again.avi", "--normalize", range}).status == 0);
  const std::vector<Image> again = Frames(folder / "again.avi");
  REQUIRE(again.size() == 16);
  for (size_t i = 0; i < 16; ++i) CHECK(MeanDifference(again[i], out[i]) < 0.5);
}

TEST_CASE("video: --method pca colours every frame by its own features") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilmOfPhotos(folder / "in.avi");
  REQUIRE(Video(folder, {"in.avi", "out.avi", "--method", "pca"}).status == 0);
  const std::vector<Image> in = Frames(folder / "in.avi");
  const std::vector<Image> out = Frames(folder / "out.avi");
  REQUIRE(out.size() == 2);
  for (size_t i : {size_t{0}, size_t{1}}) {
    CAPTURE(i);
    folder.Write("frame.png", Encoded(in[i], attnmap::PictureFormat::kPng));
    REQUIRE(Run({"run", "frame.png", "-o", "one.png", "--method", "pca"}, {.folder = folder.path()})
                .status == 0);
    CHECK(MeanDifference(out[i], ReadPicture(folder / "one.png")) < 4);
  }
}

TEST_CASE("video: patches excluded in one frame are seen in the others") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilmOfPhotos(folder / "in.avi");
  std::vector<std::string> args = {"in.avi",   "twice.avi", "--outliers", "exclude",
                                   "--layout", "heatmap",   "--json"};
  const RunResult twice = Video(folder, args);
  REQUIRE(twice.status == 0);
  // With the range given nothing is kept between two passes: the same film.
  const json record = json::parse(twice.out);
  CHECK(twice.err.find(" patches of 2 frames excluded") != std::string::npos);
  args[1] = "once.avi";
  args.insert(args.end(),
              {"--normalize", "range:" + record["min"].dump() + "," + record["max"].dump()});
  REQUIRE(Video(folder, args).status == 0);
  const std::vector<Image> a = Frames(folder / "twice.avi");
  const std::vector<Image> b = Frames(folder / "once.avi");
  REQUIRE(a.size() == 2);
  REQUIRE(b.size() == 2);
  for (size_t i : {size_t{0}, size_t{1}}) CHECK(MeanDifference(a[i], b[i]) < 0.5);
  args[1] = "kept.avi";
  args[3] = "keep";
  REQUIRE(Video(folder, args).status == 0);
  CHECK(MeanDifference(Frames(folder / "kept.avi").at(1), b[1]) > 1);  // it has some
}

TEST_CASE("video: the help's examples run on a film of that name") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilm(folder / "walk.mp4", 2);
  const std::string help = Run({"video", "--help"}).out;
  CHECK(help.find("walk.mp4 stands for a film of yours") != std::string::npos);
  std::istringstream lines(help.substr(help.find("Examples:\n")));
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> args;
    for (std::string word; words >> word;) args.push_back(word);
    if (args.size() < 2 || args[0] != "attnmap") continue;
    args.erase(args.begin());
    CAPTURE(line);
    CHECK(Run(args, {.folder = folder.path()}).status == 0);
    ++count;
  }
  CHECK(count == 2);
}

TEST_CASE("video: several maps where the layout shows fewer") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilm(folder / "in.avi", 2);
  // Only the model says how many layers these are.
  const std::vector<std::string> last = {"in.avi", "out.avi", "--layer", "2:"};
  for (const auto& [layout, part] :
       {std::pair{"heads", "heads of one layer, 2 were chosen"}, {"overlay", "shows one map, 2"}}) {
    std::vector<std::string> args = last;
    args.insert(args.end(), {"--layout", layout});
    CheckFailure(Video(folder, args), 1, {part});
  }
  CHECK(folder.List() == std::vector<std::string>{"in.avi"});
  REQUIRE(Video(folder, {"in.avi", "out.avi", "--layer", "3:", "--layout", "heads"}).status == 0);
}

TEST_CASE("video: a film that is shorter the second time is an error") {
  if (!HasModule()) return;
  const TempFolder folder;
  const std::string film = MakeFilm(folder / "in.avi", 6);
  MakeFilm(folder / "short.avi", 4);
  attnmap::VideoOptions options;
  options.input = film;
  options.output = (folder / "out.avi").string();
  options.model.path = kDemoModel;
  options.video_module = Module();
  const auto swap = [&](const attnmap::VideoProgress& step) {
    if (step.pass == 1 && step.done == 6) std::filesystem::rename(folder / "short.avi", film);
  };
  CHECK_THROWS_WITH(attnmap::RunVideo(options, swap),
                    Contains("6 frames when it was first read, and 4 when it was read again"));
  CHECK(folder.List() == std::vector<std::string>{"in.avi"});
}

TEST_CASE("video: a pipe is refused without being read") {
  const TempFolder folder;
  REQUIRE(mkfifo((folder / "pipe.avi").c_str(), 0600) == 0);
  // Nobody writes to it: to open it would be to wait for ever.
  const RunResult result =
      Run({"video", "pipe.avi", "out.avi"}, {.folder = folder.path(), .timeout_seconds = 60});
  CheckFailure(result, 1, {"cannot read pipe.avi", "not a pipe"});
}

TEST_CASE("video: --max-pixels holds for films") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilm(folder / "in.avi", 2);
  CheckFailure(Video(folder, {"in.avi", "out.avi", "--max-pixels", "3071"}), 1,
               {"in.avi", "64 x 48 pixels", "limit of 3071"});
  CHECK(folder.List() == std::vector<std::string>{"in.avi"});
  CHECK(Video(folder, {"in.avi", "out.avi", "--max-pixels", "3072"}).status == 0);
}

TEST_CASE("video: layouts and containers; odd sides are made even") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilm(folder / "in.avi", 4);
  for (const std::string name : {"o.mp4", "o.mkv", "o.avi"}) {
    CAPTURE(name);
    const RunResult result =
        Video(folder, {"in.avi", name, "--layout", "side-by-side", "--output-size", "75x151"});
    CAPTURE(result.err);
    REQUIRE(result.status == 0);
    CHECK(result.ErrorLines().size() == 1);
    const std::vector<Image> frames = Frames(folder / name);
    REQUIRE(frames.size() == 4);
    CHECK(frames[0].size() == RowsCols{76, 152});
    CHECK(result.err.find("4 frames of 152 x 76 at") != std::string::npos);
  }
}

// A pixel of a picture turned clockwise by so many quarters, from the stored one.
const uint8_t* Turned(const Image& stored, int quarters, int y, int x) {
  const RowsCols from[] = {{y, x},
                           {stored.rows - 1 - x, y},
                           {stored.rows - 1 - y, stored.cols - 1 - x},
                           {x, stored.cols - 1 - y}};
  const RowsCols at = from[quarters];
  return stored.row(at.rows) + static_cast<size_t>(at.cols) * 3;
}

TEST_CASE("video: a film from a phone stands upright, however it was held") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilm(folder / "in.mp4", 3);
  std::string bytes = ReadText(folder / "in.mp4");
  const size_t box = bytes.find("tkhd");
  REQUIRE(box != std::string::npos);
  // The track's matrix (a, b, u, c, d, as 16.16) stands 40 bytes behind the name
  // of its box; ISO/IEC 14496-12: (x, y) goes to (a x + c y, b x + d y), y down.
  const std::string one("\0\1\0\0", 4), minus("\xFF\xFF\0\0", 4), none(4, '\0');
  const std::string turns[] = {one + none + none + none + one, none + one + none + minus + none,
                               minus + none + none + none + minus,
                               none + minus + none + one + none};
  for (int quarters = 0; quarters < 4; ++quarters) {
    CAPTURE(quarters);
    const std::string& turn = turns[quarters];
    bytes.replace(box + 4 + 40, turn.size(), turn);
    folder.Write("phone.mp4", bytes);
    FilmReader film((folder / "phone.mp4").string(), false, Module());
    const std::optional<Image> stored = film.Next();
    REQUIRE(stored);
    CHECK(stored->size() == kSize);
    const Image upright = Frames(folder / "phone.mp4").at(0);
    REQUIRE(upright.size() == (quarters % 2 == 0 ? kSize : RowsCols{kSize.cols, kSize.rows}));
    int wrong = 0;
    for (int y = 0; y < upright.rows; ++y) {
      for (int x = 0; x < upright.cols; ++x) {
        const uint8_t* pixel = upright.row(y) + static_cast<size_t>(x) * 3;
        wrong += std::equal(pixel, pixel + 3, Turned(*stored, quarters, y, x)) ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
    REQUIRE(Video(folder, {"phone.mp4", "upright.avi"}).status == 0);
    CHECK(Frames(folder / "upright.avi").at(0).size() == upright.size());
    REQUIRE(Video(folder, {"phone.mp4", "stored.avi", "--no-exif"}).status == 0);
    CHECK(Frames(folder / "stored.avi").at(0).size() == kSize);
  }
}

TEST_CASE("video: what is no film, has no frame or breaks off is said in one line") {
  if (!HasModule()) return;
  const TempFolder folder;
  folder.Write("text.mp4", "no film at all");
  folder.Write("empty.avi", "");
  MakeFilm(folder / "none.avi", 0);
  const auto before = folder.List();
  CheckFailure(Video(folder, {"missing.avi", "out.avi"}), 1, {"missing.avi"});
  CheckFailure(Video(folder, {"text.mp4", "out.avi"}), 1, {"text.mp4"});
  CheckFailure(Video(folder, {"empty.avi", "out.avi"}), 1, {"empty.avi"});
  CheckFailure(Video(folder, {"none.avi", "out.avi"}), 1, {"none.avi"});
  CHECK(folder.List() == before);

  MakeFilm(folder / "whole.avi", 40);
  const std::string bytes = ReadText(folder / "whole.avi");
  folder.Write("half.avi", bytes.substr(0, bytes.size() / 2));
  const RunResult half = Video(folder, {"half.avi", "out.avi"});
  CheckFailure(half, 1, {"half.avi", "breaks off", "of 40 frames"});
  const size_t frames = Frames(folder / "out.avi").size();
  CHECK(frames >= 10);
  CHECK(frames < 30);
  // The record says what the exit status says.
  const RunResult told = Video(folder, {"half.avi", "out.avi", "--json"});
  CHECK(told.status == 1);
  const json record = json::parse(told.out);
  CHECK(record["status"] == "failed");
  CHECK("attnmap: " + record["error"].get<std::string>() == told.ErrorLines().at(0));
  CHECK(record["output"] == "out.avi");
  CHECK(record["frames"] == frames);
  CHECK(record["size"] == json({48, 64}));
  CHECK(record["max"] > 0);
}

TEST_CASE("video: a film that cannot be written to its end is an error and is not there") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilm(folder / "in.avi", 60);
  // A limit on the size of files stands in for a full disk; the signal it sends is ignored.
  const auto shell = folder.Write("run", "#!/bin/sh\ntrap '' XFSZ\nulimit -f 8\nexec \"$@\"\n");
  std::filesystem::permissions(shell, std::filesystem::perms::owner_all);
  const auto before = folder.List();
  for (const std::string name : {"out.avi", "out.mp4", "out.mkv"}) {
    CAPTURE(name);
    CheckFailure(Run({std::string(ATTNMAP_BINARY_DIR) + "/attnmap", "video", "in.avi", name,
                      "--normalize", "range:0,0.02", "--output-size", "480x640", "-q"},
                     {.folder = folder.path(), .program = shell}),
                 1, {"cannot write " + name});
    CHECK(folder.List() == before);
  }
}

TEST_CASE("video: an interrupt leaves nothing half-written and ends with 130") {
  if (!HasModule()) return;
  const TempFolder folder;
  MakeFilm(folder / "long.avi", 3000);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--normalize", "range:0,1"}}) {
    std::vector<std::string> args = {"video", "long.avi", "out.mp4"};
    args.insert(args.end(), more.begin(), more.end());
    const RunResult result =
        Run(args, {.folder = folder.path(), .interrupt_after_milliseconds = 1500});
    CAPTURE(result.err);
    CHECK(result.status == 130);
    CHECK(result.ErrorLines().back() == "attnmap: interrupted");
    CHECK(folder.List() == std::vector<std::string>{"long.avi"});
  }
}

TEST_CASE("video: without the film module a sentence says what is missing") {
  const TempFolder folder;
  // A program that was copied away from its modules.
  std::filesystem::copy_file(std::filesystem::path(ATTNMAP_BINARY_DIR) / "attnmap",
                             folder / "attnmap");
  folder.Write("in.avi", "anything");
  const RunResult result = Run({"video", "in.avi", "out.avi", "-m", kDemoModel},
                               {.folder = folder.path(), .program = folder / "attnmap"});
  CheckFailure(result, 1, {"attnmap-video.so", "not installed"});
}

#ifndef ATTNMAP_TESTS_CLI_SUPPORT_H_
#define ATTNMAP_TESTS_CLI_SUPPORT_H_

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attnmap/core/image.h"
#include "support/picture_files.h"
#include "support/temporary.h"

namespace attnmap::test {

// A folder that goes away, with all that is in it, at the end of the test.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
  // The names of what is in it, folders too, relative and sorted.
  std::vector<std::string> List() const;
  // Writes a file, and the folders on the way to it. Returns its path.
  std::filesystem::path Write(const std::filesystem::path& name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

// Every member has an initialiser, so that designated ones may leave out any.
struct RunOptions {
  std::string input = {};                       // standard input, closed after it
  std::map<std::string, std::string> env = {};  // added to (or replacing) the little that is set
  std::filesystem::path folder = {};            // to run in; empty: the test's own
  std::filesystem::path program = {};           // empty: the program that was built
  int timeout_seconds = 300;                    // then it is killed and the test fails
  int interrupt_after_milliseconds = 0;         // send SIGINT then; 0: never
  std::string out_path = {};  // standard output goes there ("/dev/full"); else into the result
};

struct RunResult {
  int status = -1;  // exit status; 128 + N where signal N ended it
  std::string out;
  std::string err;

  // Lines of standard error, without those that tell of progress: how many there
  // are depends on the machine's speed.
  std::vector<std::string> ErrorLines() const;
};

// The program that was built.
std::filesystem::path Program();

// Runs the program as a script would: no terminal, no HOME, only PATH and
// LC_ALL=C.UTF-8 (and what the sanitizers read) in its environment.
RunResult Run(const std::vector<std::string>& args, const RunOptions& options = {});

// The same in a test's folder.
RunResult RunIn(const TempFolder& folder, std::vector<std::string> args,
                std::map<std::string, std::string> env = {});

// Fails the test unless the run ended with `status`, nothing on standard
// output, and exactly one line "attnmap: ..." on standard error that holds each of `parts`.
void CheckFailure(const RunResult& result, int status, const std::vector<std::string>& parts);

// The decoded pixels of a picture the program wrote.
Image ReadPicture(const std::filesystem::path& path);

// The picture the program made, against tests/data/cli/NAME, which was looked at and kept.
void CheckGolden(const std::filesystem::path& made, const std::string& name);

// The records of --json and of a manifest: one a line.
std::vector<nlohmann::json> JsonLines(const std::string& text);

// data/images/NAME of the source tree, and the models of data/models.
std::filesystem::path Photo(const std::string& name);
inline const std::string kDemoModel = ATTNMAP_SOURCE_DIR "/data/models/demo-vit.json";
inline const std::string kOneLayerModel = ATTNMAP_SOURCE_DIR "/data/models/one-layer.json";

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_CLI_SUPPORT_H_

#include "cli/support.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "attnmap/image/decode.h"
#include "support/catch.h"

namespace attnmap::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void CloseRead() { Close(read_end); }
  void CloseWrite() { Close(write_end); }

 private:
  static void Close(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

std::map<std::string, std::string> Environment(const RunOptions& options) {
  std::map<std::string, std::string> env = {{"LC_ALL", "C.UTF-8"}};
  for (const char* name :
       {"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) env[name] = value;
  }
  for (const auto& [name, value] : options.env) env[name] = value;
  return env;
}

// Everything the child needs, made before the fork.
struct Command {
  std::vector<std::string> args;
  std::vector<std::string> env;
  std::vector<char*> arg_pointers;
  std::vector<char*> env_pointers;

  Command(const std::vector<std::string>& given, const RunOptions& options) {
    args.push_back((options.program.empty() ? Program() : options.program).string());
    args.insert(args.end(), given.begin(), given.end());
    for (const auto& [name, value] : Environment(options)) env.push_back(name + "=" + value);
    for (std::string& arg : args) arg_pointers.push_back(arg.data());
    for (std::string& variable : env) env_pointers.push_back(variable.data());
    arg_pointers.push_back(nullptr);
    env_pointers.push_back(nullptr);
  }
};

[[noreturn]] void BecomeProgram(const Command& command, const RunOptions& options, const Pipe& in,
                                const Pipe& out, const Pipe& err) {
  dup2(in.read_end, STDIN_FILENO);
  if (options.out_path.empty()) {
    dup2(out.write_end, STDOUT_FILENO);
  } else {
    dup2(open(options.out_path.c_str(), O_WRONLY), STDOUT_FILENO);
  }
  dup2(err.write_end, STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  if (options.folder.empty() || chdir(options.folder.c_str()) == 0) {
    execve(command.arg_pointers[0], command.arg_pointers.data(), command.env_pointers.data());
  }
  _exit(127);
}

// Feeds standard input and gathers both outputs until the program closes them.
class Conversation {
 public:
  Conversation(pid_t child, const RunOptions& options, Pipe& in, Pipe& out, Pipe& err)
      : child_(child), options_(options), in_(in), out_(out), err_(err) {
    in.CloseRead();
    out.CloseWrite();
    err.CloseWrite();
    fcntl(in.write_end, F_SETFL, O_NONBLOCK);
    if (options.input.empty()) in.CloseWrite();
  }

  void Hold(RunResult& result) {
    while (out_.read_end >= 0 || err_.read_end >= 0) {
      std::array<pollfd, 3> fds = {pollfd{in_.write_end, POLLOUT, 0},
                                   pollfd{out_.read_end, POLLIN, 0},
                                   pollfd{err_.read_end, POLLIN, 0}};
      poll(fds.data(), fds.size(), 20);
      if (fds[0].revents != 0) Feed();
      if (fds[1].revents != 0) Gather(out_, result.out);
      if (fds[2].revents != 0) Gather(err_, result.err);
      LookAtClock();
    }
  }

  bool timed_out() const { return timed_out_; }

 private:
  void Feed() {
    const ssize_t count =
        write(in_.write_end, options_.input.data() + fed_, options_.input.size() - fed_);
    if (count > 0) fed_ += static_cast<size_t>(count);
    const bool refused = count < 0 && errno != EAGAIN && errno != EINTR;
    if (refused || fed_ == options_.input.size()) in_.CloseWrite();
  }

  static void Gather(Pipe& from, std::string& into) {
    std::array<char, 65536> buffer{};
    const ssize_t count = read(from.read_end, buffer.data(), buffer.size());
    if (count > 0) into.append(buffer.data(), static_cast<size_t>(count));
    if (count == 0) from.CloseRead();
  }

  void LookAtClock() {
    const auto passed = Clock::now() - start_;
    const std::chrono::milliseconds interrupt(options_.interrupt_after_milliseconds);
    if (interrupt.count() > 0 && !interrupted_ && passed >= interrupt) {
      interrupted_ = true;
      kill(child_, SIGINT);
    }
    if (!timed_out_ && passed >= std::chrono::seconds(options_.timeout_seconds)) {
      timed_out_ = true;
      kill(child_, SIGKILL);
    }
  }

  pid_t child_;
  const RunOptions& options_;
  Pipe& in_;
  Pipe& out_;
  Pipe& err_;
  size_t fed_ = 0;
  Clock::time_point start_ = Clock::now();
  bool interrupted_ = false;
  bool timed_out_ = false;
};

std::string Joined(const std::vector<std::string>& args) {
  std::string line = "attnmap";
  for (const std::string& arg : args) line += " '" + arg + "'";
  return line;
}

}  // namespace

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "attnmap-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::vector<std::string> TempFolder::List() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    names.push_back(entry.path().lexically_relative(path_).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path TempFolder::Write(const fs::path& name, std::string_view bytes) const {
  const fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
  return path;
}

std::vector<std::string> RunResult::ErrorLines() const {
  std::vector<std::string> lines;
  std::istringstream in(err);
  for (std::string line; std::getline(in, line);) {
    if (!line.ends_with(" s left")) lines.push_back(line);
  }
  return lines;
}

fs::path Program() { return fs::path(ATTNMAP_BINARY_DIR) / "attnmap"; }

RunResult Run(const std::vector<std::string>& args, const RunOptions& options) {
  const Command command(args, options);
  Pipe in;
  Pipe out;
  Pipe err;
  signal(SIGPIPE, SIG_IGN);  // a program may end without reading its input
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) BecomeProgram(command, options, in, out, err);

  RunResult result;
  Conversation conversation(child, options, in, out, err);
  conversation.Hold(result);
  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (conversation.timed_out()) FAIL("took too long: " << Joined(args));
  UNSCOPED_INFO(Joined(args) << "\nstatus " << result.status << ", standard error: " << result.err);
  return result;
}

void CheckFailure(const RunResult& result, int status, const std::vector<std::string>& parts) {
  CHECK(result.status == status);
  CHECK(result.out.empty());
  const std::vector<std::string> lines = result.ErrorLines();
  CHECK(lines.size() == 1);
  CHECK(result.err.rfind("attnmap: ", 0) == 0);
  CHECK((!result.err.empty() && result.err.back() == '\n'));
  for (const std::string& part : parts) {
    INFO("standard error: " << result.err << "expected in it: " << part);
    CHECK(result.err.find(part) != std::string::npos);
  }
}

Image ReadPicture(const fs::path& path) {
  const std::string bytes = ReadText(path);
  DecodeOptions options;
  options.codec_module = std::string(ATTNMAP_BINARY_DIR) + "/attnmap-codecs.so";
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
  return DecodeImage({begin, bytes.size()}, options).image;
}

void CheckGolden(const fs::path& made, const std::string& name) {
  CAPTURE(name);
  const Image picture = ReadPicture(made);
  const Image kept = ReadPicture(fs::path(ATTNMAP_TEST_DATA) / "cli" / name);
  REQUIRE(picture.size() == kept.size());
  // Some levels of rounding are left to processors that multiply in another order.
  CHECK(LargestDifference(picture, kept) <= 2);
}

std::vector<nlohmann::json> JsonLines(const std::string& text) {
  std::vector<nlohmann::json> records;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) records.push_back(nlohmann::json::parse(line));
  return records;
}

RunResult RunIn(const TempFolder& folder, std::vector<std::string> args,
                std::map<std::string, std::string> env) {
  return Run(args, {.env = std::move(env), .folder = folder.path()});
}

fs::path Photo(const std::string& name) {
  return fs::path(ATTNMAP_SOURCE_DIR) / "data" / "images" / name;
}

}  // namespace attnmap::test

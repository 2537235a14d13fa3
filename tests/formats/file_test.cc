#include "attnmap/formats/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "attnmap/core/error.h"
#include "support/catch.h"
#include "support/temporary.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

std::string Text(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

TEST_CASE("a file is mapped for as long as someone holds it") {
  const test::TemporaryFolder folder;
  const std::string path = folder.Write("a b \xc3\xa9.txt", "hello");
  auto file = MappedFile::Open(path);
  CHECK(file->path() == path);
  const auto bytes = file->bytes();
  const auto held = file;
  file.reset();
  fs::remove(path);
  CHECK(Text(bytes) == "hello");
  held->Forget(0, bytes.size());
  CHECK(Text(bytes) == "hello");
}

TEST_CASE("pages that were forgotten can be looked at again") {
  const test::TemporaryFolder folder;
  const auto file = MappedFile::Open(folder.Write("big", std::string(100000, 'x')));
  CHECK(file->bytes()[50000] == 'x');
  file->Forget(0, 100000);
  file->Forget(10, 20);
  file->Forget(99999, 100000);
  CHECK(Text(file->bytes()) == std::string(100000, 'x'));
}

TEST_CASE("an empty file has no bytes") {
  const test::TemporaryFolder folder;
  CHECK(MappedFile::Open(folder.Write("empty", ""))->bytes().empty());
  CHECK(ReadFile(folder / "empty").empty());
}

TEST_CASE("files of /proc say they are empty and are read all the same") {
  CHECK(!MappedFile::Open("/proc/self/status")->bytes().empty());
}

TEST_CASE("a pipe is read to its end") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const std::string text(300000, 'p');
  std::thread writer([&] {
    const int fd = ::open(path.c_str(), O_WRONLY);
    for (size_t at = 0; at < text.size();) {
      at += static_cast<size_t>(::write(fd, text.data() + at, text.size() - at));
    }
    ::close(fd);
  });
  const auto file = MappedFile::Open(path);
  writer.join();
  CHECK(Text(file->bytes()) == text);
}

TEST_CASE("what cannot be read is refused with its path and the reason") {
  const test::TemporaryFolder folder;
  CHECK_THROWS_WITH(MappedFile::Open(folder / "none"),
                    Contains(folder / "none") && Contains("No such file"));
  CHECK_THROWS_WITH(MappedFile::Open(folder.path().string()), Contains("it is a folder"));
  CHECK_THROWS_WITH(ReadFile("/dev/zero"), Contains("/dev/zero") && Contains("it is a device"));
  CHECK_THROWS_WITH(MappedFile::Open(""), Contains("No such file"));
}

TEST_CASE("a file longer than the limit is refused, one that just fits is read") {
  const test::TemporaryFolder folder;
  const std::string path = folder.Write("ten", "0123456789");
  CHECK(ReadFile(path, 10).size() == 10);
  CHECK_THROWS_WITH(ReadFile(path, 9), Contains("longer than 9 bytes"));
  CHECK_THROWS_WITH(ReadFile("/proc/self/status", 20), Contains("longer than 20 bytes"));
}

TEST_CASE("a file is written whole, or not at all") {
  const test::TemporaryFolder folder;
  WriteFileAtomically(folder / "out", std::vector<uint8_t>{'n', 'e', 'w'});
  CHECK(test::ReadText(folder / "out") == "new");
  {
    AtomicFile file(folder / "out");
    file.Write("half");
    CHECK(test::ReadText(folder / "out") == "new");
  }
  CHECK(test::ReadText(folder / "out") == "new");
  CHECK(folder.List() == "out");
  AtomicFile file(folder / "out");
  file.Write("one ");
  file.Write("two");
  file.Commit();
  CHECK(test::ReadText(folder / "out") == "one two");
  CHECK(folder.List() == "out");
}

TEST_CASE("writing keeps an existing file's permissions and follows links") {
  const test::TemporaryFolder folder;
  const std::string path = folder.Write("real", "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", folder / "link");
  WriteFileAtomically(folder / "link", std::vector<uint8_t>{'x'});
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(test::ReadText(path) == "x");
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  fs::create_symlink("nowhere yet", folder / "dangling");
  WriteFileAtomically(folder / "dangling", std::vector<uint8_t>{'y'});
  CHECK(test::ReadText(folder / "nowhere yet") == "y");
}

TEST_CASE("what is no ordinary file is written to, not replaced") {
  WriteFileAtomically("/dev/null", std::vector<uint8_t>{1, 2, 3});
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a name as long as names can be is written") {
  const test::TemporaryFolder folder;
  const std::string name(255, 'n');
  WriteFileAtomically(folder / name, std::vector<uint8_t>{'z'});
  CHECK(test::ReadText(folder / name) == "z");
}

TEST_CASE("what cannot be written is refused with its path and the reason, nothing is left") {
  const test::TemporaryFolder folder;
  const std::vector<uint8_t> bytes = {1};
  CHECK_THROWS_WITH(WriteFileAtomically(folder / "no/out", bytes),
                    Contains(folder / "no/out") && Contains("No such file"));
  CHECK_THROWS_WITH(WriteFileAtomically(folder.path().string(), bytes), Contains("Is a directory"));
  CHECK_THROWS_WITH(WriteFileAtomically("/dev/full", bytes),
                    Contains("/dev/full") && Contains("No space left"));
  CHECK(folder.List().empty());
}

TEST_CASE("a name without a folder is written into the present one") {
  const test::TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  WriteFileAtomically("plain", std::vector<uint8_t>{'p'});
  fs::current_path(before);
  CHECK(test::ReadText(folder / "plain") == "p");
}

TEST_CASE("a named temporary lies beside its target with its ending, and becomes it or goes away") {
  const test::TemporaryFolder folder;
  const std::string target = folder.Write("film.avi", "old");
  {
    const NamedTemporary temporary(target);
    CHECK(fs::path(temporary.path()).extension() == ".avi");
    CHECK(fs::path(temporary.path()).parent_path() == fs::path(target).parent_path());
    CHECK(fs::exists(temporary.path()));
  }
  CHECK(Text(ReadFile(target)) == "old");
  CHECK(std::distance(fs::directory_iterator(fs::path(target).parent_path()), {}) == 1);
  NamedTemporary temporary(target);
  folder.Write(fs::path(temporary.path()).filename().string(), "new");
  temporary.Commit();
  CHECK(Text(ReadFile(target)) == "new");
  CHECK(std::distance(fs::directory_iterator(fs::path(target).parent_path()), {}) == 1);
  {  // What a signal handler does before it ends the process.
    const NamedTemporary abandoned(target);
    RemoveUnfinished();
    CHECK_FALSE(fs::exists(abandoned.path()));
    CHECK(Text(ReadFile(target)) == "new");
  }
  RemoveUnfinished();
  CHECK(Text(ReadFile(target)) == "new");
  CHECK_THROWS_WITH(NamedTemporary(folder / "no/such/film.avi"), Contains("no/such/film.avi"));
  CHECK_THROWS_WITH(NamedTemporary(fs::path(target).parent_path().string()),
                    Contains("no ordinary file"));
}

}  // namespace
}  // namespace attnmap

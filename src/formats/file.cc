#include "attnmap/formats/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "attnmap/core/error.h"
#include "formats/unfinished.h"

namespace attnmap {
namespace {

constexpr int64_t kPipeLimit = int64_t{16} << 30;

[[noreturn]] void Fail(const std::string& what, const std::string& path, int error) {
  throw Error("cannot " + what + " " + path + ": " +
              std::error_code(error, std::generic_category()).message());
}

// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Opened {
  int fd;
  struct stat info;
};

Opened OpenForReading(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) Fail("open", path, errno);
  Opened opened{fd, {}};
  if (::fstat(fd, &opened.info) != 0) {
    const int error = errno;
    ::close(fd);
    Fail("open", path, error);
  }
  const auto mode = opened.info.st_mode;
  if (S_ISDIR(mode) || S_ISBLK(mode) || (S_ISCHR(mode) && ::isatty(fd) == 0)) {
    ::close(fd);
    throw Error("cannot read " + path + ": it is a " + (S_ISDIR(mode) ? "folder" : "device"));
  }
  return opened;
}

std::vector<uint8_t> ReadAll(int fd, const std::string& name, int64_t expected, int64_t limit) {
  const auto too_long = [&] {
    return Error("cannot read " + name + ": it is longer than " + std::to_string(limit) + " bytes");
  };
  if (expected > limit) throw too_long();
  std::vector<uint8_t> bytes(static_cast<size_t>(expected));
  size_t used = 0;
  while (true) {
    if (used == bytes.size()) {
      // One byte first: most files end where they said they would.
      uint8_t next = 0;
      const ssize_t got = ::read(fd, &next, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) Fail("read", name, errno);
      if (got == 0) return bytes;
      if (static_cast<int64_t>(used) >= limit) throw too_long();
      bytes.resize(std::min(static_cast<size_t>(limit), std::max<size_t>(2 * used, 65536)));
      bytes[used++] = next;
      continue;
    }
    const ssize_t got = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Fail("read", name, errno);
    used += static_cast<size_t>(got);
    if (got == 0) {
      bytes.resize(used);
      return bytes;
    }
  }
}

class OwnedFile : public MappedFile {
 public:
  OwnedFile(std::vector<uint8_t> bytes, std::string name) : owned_(std::move(bytes)) {
    bytes_ = owned_;
    path_ = std::move(name);
  }

 private:
  std::vector<uint8_t> owned_;
};

class Mapping : public MappedFile {
 public:
  Mapping(void* address, size_t size, std::string path) : address_(address) {
    bytes_ = {static_cast<const uint8_t*>(address), size};
    path_ = std::move(path);
  }
  ~Mapping() override { ::munmap(address_, bytes_.size()); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  void Forget(size_t begin, size_t end) const override {
    static const auto kPage = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    begin = (begin + kPage - 1) / kPage * kPage;
    end = end / kPage * kPage;
    // A hint: where it is not taken, the pages just stay.
    if (begin < end) ::madvise(static_cast<uint8_t*>(address_) + begin, end - begin, MADV_DONTNEED);
  }

 private:
  void* address_;
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::Open(const std::string& path) {
  const Opened opened = OpenForReading(path);
  const Descriptor file(opened.fd);
  const int64_t size = S_ISREG(opened.info.st_mode) ? int64_t{opened.info.st_size} : 0;
  if (size > 0) {
    void* address =
        ::mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (address != MAP_FAILED) {
      return std::make_shared<Mapping>(address, static_cast<size_t>(size), path);
    }
  }
  // Files of /proc say they are empty; reading finds out.
  return FromBytes(ReadAll(file.get(), path, size, std::max(size, kPipeLimit)), path);
}

std::shared_ptr<const MappedFile> MappedFile::FromBytes(std::vector<uint8_t> bytes,
                                                        std::string name) {
  return std::make_shared<OwnedFile>(std::move(bytes), std::move(name));
}

std::vector<uint8_t> ReadFile(const std::string& path, int64_t limit) {
  if (path == "-") return ReadAll(STDIN_FILENO, "standard input", 0, limit);
  const Opened opened = OpenForReading(path);
  const Descriptor file(opened.fd);
  return ReadAll(file.get(), path, S_ISREG(opened.info.st_mode) ? opened.info.st_size : 0, limit);
}

namespace {

// What a link leads to in the end, there or not.
std::filesystem::path BehindLinks(std::filesystem::path path) {
  constexpr int kMaxLinks = 40;  // as many as the system follows
  std::error_code error;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(path, error); ++i) {
    const auto next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;
  }
  return path;
}

// A short name: the target's own may be as long as names can be.
std::string FreshName(const std::filesystem::path& folder, const std::string& ending) {
  static std::atomic<unsigned> counter{0};
  return (folder / (".attnmap-" + std::to_string(::getpid()) + "-" +
                    std::to_string(counter.fetch_add(1)) + ending))
      .string();
}

// A new file, open for writing, and its name; below 0 where there can be none (errno).
int CreateFresh(const std::filesystem::path& folder, const std::string& ending, std::string& name,
                std::unique_ptr<Unfinished>& unfinished) {
  for (;;) {
    name = FreshName(folder, ending);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor >= 0) {
      unfinished = std::make_unique<Unfinished>();
      unfinished->Remember(name);
    }
    return descriptor;
  }
}

}  // namespace

void WriteFileAtomically(const std::string& path, std::span<const uint8_t> bytes) {
  AtomicFile file(path);
  file.Write(bytes);
  file.Commit();
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  target_ = BehindLinks(path_).string();
  struct stat info {};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) Fail("write", path_, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) Fail("write", path_, errno);
    return;
  }
  const auto folder = std::filesystem::path(target_).parent_path();
  // Without a name until it is whole, where the file system can: a process
  // that is killed leaves nothing.
  const std::string here = folder.empty() ? "." : folder.string();
  descriptor_ = ::open(here.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  nameless_ = descriptor_ >= 0;
  if (nameless_) {
    temporary_ = FreshName(folder, ".tmp");
  } else {
    descriptor_ = CreateFresh(folder, ".tmp", temporary_, unfinished_);
  }
  if (descriptor_ < 0) Fail("write", path_, errno);
  // Best effort: some file systems know no permissions.
  if (exists) static_cast<void>(::fchmod(descriptor_, info.st_mode & 07777));
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty() && !nameless_) ::unlink(temporary_.c_str());
}

void AtomicFile::Write(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) Fail("write", path_, errno);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
}

void AtomicFile::Write(std::string_view text) {
  Write(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

void AtomicFile::Commit() {
  if (nameless_) {
    unfinished_ = std::make_unique<Unfinished>();
    unfinished_->Remember(temporary_);
    const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
    const auto link = [&] {
      return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW);
    };
    while (link() != 0) {
      if (errno != EEXIST) Fail("write", path_, errno);
      temporary_ = FreshName(std::filesystem::path(target_).parent_path(), ".tmp");
      unfinished_->Remember(temporary_);
    }
    nameless_ = false;
  }
  const int fd = std::exchange(descriptor_, -1);
  if (::close(fd) != 0) Fail("write", path_, errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) Fail("write", path_, errno);
  temporary_.clear();
  unfinished_.reset();
}

NamedTemporary::NamedTemporary(std::string target) : name_(std::move(target)) {
  target_ = BehindLinks(name_).string();
  struct stat info {};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    throw Error("cannot write " + name_ + ": it is no ordinary file");
  }
  const std::filesystem::path path(target_);
  const int descriptor =
      CreateFresh(path.parent_path(), path.extension().string(), path_, unfinished_);
  if (descriptor < 0) Fail("write", name_, errno);
  if (exists) static_cast<void>(::fchmod(descriptor, info.st_mode & 07777));
  ::close(descriptor);
}

NamedTemporary::~NamedTemporary() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

void NamedTemporary::Commit() {
  if (::rename(path_.c_str(), target_.c_str()) != 0) Fail("write", name_, errno);
  path_.clear();
  unfinished_.reset();
}

}  // namespace attnmap

#ifndef ATTNMAP_IMAGE_CODECS_QUIET_H_
#define ATTNMAP_IMAGE_CODECS_QUIET_H_

namespace attnmap {

// While one lives, what this thread writes to std::cerr is lost: imdecode
// prints there, whatever the log level, before it returns an empty picture.
// Other threads' output passes.
class Quiet {
 public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_CODECS_QUIET_H_

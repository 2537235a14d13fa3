#ifndef ATTNMAP_CORE_ERROR_H_
#define ATTNMAP_CORE_ERROR_H_

#include <stdexcept>
#include <string>

namespace attnmap {

// Everything the library throws on purpose. The message is one line without a
// final full stop or newline: what, where, what was expected, what was found.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A mistake in the request itself, known before any file is opened (exit 2).
class UsageError : public Error {
 public:
  using Error::Error;
};

// The user asked to stop (exit 130).
class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
};

}  // namespace attnmap

#endif  // ATTNMAP_CORE_ERROR_H_

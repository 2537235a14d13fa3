#include "image/codecs/quiet.h"

#include <iostream>
#include <mutex>
#include <streambuf>

namespace attnmap {
namespace {

thread_local bool muted = false;

// Stands before std::cerr's own buffer and drops what muted threads write.
class Gate : public std::streambuf {
 public:
  std::streambuf* behind = nullptr;

 protected:
  int_type overflow(int_type c) override {
    if (muted) return traits_type::not_eof(c);
    return traits_type::eq_int_type(c, traits_type::eof())
               ? traits_type::not_eof(c)
               : behind->sputc(traits_type::to_char_type(c));
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    return muted ? size : behind->sputn(text, size);
  }
  int sync() override { return muted ? 0 : behind->pubsync(); }
};

// Never destroyed: another thread may still be writing through it at exit.
Gate& TheGate() {
  static Gate* gate = new Gate;
  return *gate;
}

std::mutex mutex;
int users = 0;

// std::cerr's error state is left alone, which rdbuf() of the stream would clear.
void Swap(std::streambuf* to) {
  const auto state = std::cerr.rdstate();
  std::cerr.rdbuf(to);
  std::cerr.clear(state);
}

}  // namespace

Quiet::Quiet() {
  const std::lock_guard lock(mutex);
  if (users++ == 0 && std::cerr.rdbuf() != nullptr) {
    TheGate().behind = std::cerr.rdbuf();
    Swap(&TheGate());
  }
  muted = true;
}

Quiet::~Quiet() {
  muted = false;
  const std::lock_guard lock(mutex);
  if (--users == 0 && std::cerr.rdbuf() == &TheGate()) Swap(TheGate().behind);
}

}  // namespace attnmap

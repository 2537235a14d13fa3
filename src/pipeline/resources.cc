#include "attnmap/pipeline/resources.h"

#include <filesystem>
#include <initializer_list>
#include <system_error>

namespace attnmap {
namespace {

namespace fs = std::filesystem;

std::string FirstExisting(const fs::path& folder, std::initializer_list<const char*> candidates) {
  for (const char* candidate : candidates) {
    const fs::path path = folder / candidate;
    std::error_code error;
    if (fs::exists(path, error)) return path.lexically_normal().string();
  }
  return {};
}

}  // namespace

Resources FindResources() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = program.parent_path();
  Resources found;
  found.demo_model = FirstExisting(
      folder, {"share/attnmap/models/demo-vit.json", "../share/attnmap/models/demo-vit.json"});
  found.font = FirstExisting(
      folder, {"share/attnmap/fonts/DejaVuSans.ttf", "../share/attnmap/fonts/DejaVuSans.ttf"});
  found.codec_module =
      FirstExisting(folder, {"attnmap-codecs.so", "../" ATTNMAP_MODULE_DIR "/attnmap-codecs.so",
                             "../lib/attnmap/attnmap-codecs.so"});
  found.video_module =
      FirstExisting(folder, {"attnmap-video.so", "../" ATTNMAP_MODULE_DIR "/attnmap-video.so",
                             "../lib/attnmap/attnmap-video.so"});
  return found;
}

}  // namespace attnmap

#include "attnmap/pipeline/resources.h"

#include <filesystem>
#include <initializer_list>
#include <string>
#include <system_error>

namespace attnmap {
namespace {

namespace fs = std::filesystem;

std::string FirstExisting(const fs::path& folder, std::initializer_list<std::string> candidates) {
  for (const std::string& candidate : candidates) {
    const fs::path path = folder / candidate;
    std::error_code error;
    if (fs::exists(path, error)) return path.lexically_normal().string();
  }
  return {};
}

std::string ModuleIn(const fs::path& folder, const std::string& name) {
  return FirstExisting(folder,
                       {name, "../" ATTNMAP_MODULE_DIR "/" + name, "../lib/attnmap/" + name});
}

// Where Debian and others keep fonts with many scripts, Chinese, Japanese and
// Korean above all. Looking costs a few system calls; asking fontconfig would
// cost a library and reading its cache.
constexpr const char* kFallbackFonts[] = {
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/usr/share/fonts/truetype/arphic/uming.ttc",
    "/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf",
    "/usr/share/fonts/truetype/nanum/NanumGothic.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansDevanagari-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansBengali-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansTamil-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansThai-Regular.ttf",
    "/usr/share/fonts/truetype/freefont/FreeSans.ttf",
    "/usr/share/fonts/truetype/unifont/unifont.ttf",
    "/usr/share/fonts/opentype/unifont/unifont.otf",
};

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
  found.codec_module = ModuleIn(folder, "attnmap-codecs.so");
  found.video_module = ModuleIn(folder, "attnmap-video.so");
  found.pdf_module = ModuleIn(folder, "attnmap-pdf.so");
  for (const char* path : kFallbackFonts) {
    if (fs::exists(path, error)) found.fallback_fonts.emplace_back(path);
  }
  return found;
}

}  // namespace attnmap

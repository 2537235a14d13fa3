#include "model/family.h"

#include "model/tower_reader.h"

namespace attnmap {

bool Checkpoint::BlockHas(Aliases names) const {
  return tower.num_layers > 0 && reader.Has(WithPrefix(BlockPrefix(tower.block, 0), names));
}

bool Checkpoint::ArchitectureHas(std::string_view part) const {
  return config.architecture.find(part) != std::string::npos;
}

bool Checkpoint::TagHas(std::string_view part) const {
  return config.tag.find(part) != std::string::npos;
}

bool Checkpoint::FileStartsWith(std::string_view part) const {
  const std::string& path = reader.path();
  return std::string_view(path).substr(path.find_last_of("/\\") + 1).starts_with(part);
}

int Checkpoint::PatchSize() const {
  const TensorInfo* info = reader.Info(WithSuffix(tower.layout->patch, "weight"));
  if (info == nullptr || info->shape.size() != 4) return 0;
  return static_cast<int>(info->shape[3]);
}

std::string_view NameOf(Library library) {
  switch (library) {
    case Library::kTimm:
      return "timm";
    case Library::kOfficial:
      return "the authors' code";
    case Library::kTransformers:
      return "transformers";
    case Library::kOpenClip:
      return "open_clip";
    case Library::kTorchvision:
      return "torchvision";
    case Library::kGoogle:
      return "Google";
  }
  return "";
}

}  // namespace attnmap

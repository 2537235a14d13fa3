#include "model/form.h"

#include <charconv>
#include <cmath>

#include "attnmap/core/error.h"
#include "model/names.h"

namespace attnmap {

int64_t PatchValues(const VitConfig& config) {
  return int64_t{3} * config.patch_size * config.patch_size;
}

RowsCols ImageGrid(const VitConfig& config) {
  return {config.image_size->rows / config.patch_size, config.image_size->cols / config.patch_size};
}

int SquareSide(int64_t n) {
  if (n < 1 || n > int64_t{1} << 40) return 0;
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(n))));
  return side * side == n ? static_cast<int>(side) : 0;
}

int NumCoveredPrefixTokens(const VitConfig& config) {
  switch (config.position_cover) {
    case PositionCover::kNone:
    case PositionCover::kPatches:
      return 0;
    case PositionCover::kPrefixNoRegisters:
      return config.tokens.num_prefix_tokens() - config.tokens.num_register_tokens;
    case PositionCover::kAll:
      return config.tokens.num_prefix_tokens();
  }
  return 0;
}

void ApplyOptions(const LoadModelOptions& options, VitModel& model) {
  VitConfig& config = model.config;
  if (options.num_heads != 0) {
    const int queries = config.num_heads * config.head_dim;
    const int values = config.num_heads * config.value_dim;
    if (options.num_heads < 0 || queries % options.num_heads != 0 ||
        values % options.num_heads != 0) {
      throw Error("--num-heads " + std::to_string(options.num_heads) +
                  " does not divide the model's width " + std::to_string(queries));
    }
    config.num_heads = options.num_heads;
    config.head_dim = queries / options.num_heads;
    config.value_dim = values / options.num_heads;
    Note(model, "num_heads", std::to_string(config.num_heads), "option");
  }
  if (!options.activation.empty()) {
    config.activation = ActivationOption(options.activation);
    Note(model, "activation", std::string(NameOf(config.activation)), "option");
  }
}

Activation ActivationOption(const std::string& name) {
  if (const auto activation = ActivationFromName(name)) return *activation;
  throw UsageError("--act " + name + " is unknown, expected one of " + ActivationNames());
}

void CheckConfig(const std::string& path, const VitConfig& config) {
  if (config.rope != RopeKind::kNone && config.head_dim % 4 != 0) {
    throw Error(path + ": RoPE needs heads whose width is a multiple of 4, found " +
                std::to_string(config.head_dim) + " (width " + std::to_string(config.embed_dim) +
                ", " + std::to_string(config.num_heads) + " heads)");
  }
  if (config.relative_position && config.position_grid == RowsCols{}) {
    throw Error(path + ": relative positions need a grid (position_grid or image_size)");
  }
}

void Note(VitModel& model, std::string key, std::string value, std::string source) {
  for (Provenance& entry : model.provenance) {
    if (entry.key == key) {
      entry = {std::move(key), std::move(value), std::move(source)};
      return;
    }
  }
  model.provenance.push_back({std::move(key), std::move(value), std::move(source)});
}

std::string SizeText(RowsCols size) {
  return std::to_string(size.rows) + " x " + std::to_string(size.cols);
}

std::string FloatText(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  return {text, end.ptr};
}

}  // namespace attnmap

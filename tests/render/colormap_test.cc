#include "attnmap/render/colormap.h"

#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Rgb = std::array<uint8_t, 3>;

TEST_CASE("U-21 colours are R G B: the ends of maps people know") {
  struct Case {
    const char* name;
    Rgb low, high;
  };
  const Case cases[] = {
      {"inferno", {0, 0, 4}, {252, 255, 164}}, {"viridis", {68, 1, 84}, {253, 231, 37}},
      {"magma", {0, 0, 4}, {252, 253, 191}},   {"plasma", {13, 8, 135}, {240, 249, 33}},
      {"jet", {0, 0, 128}, {128, 0, 0}},       {"hot", {0, 0, 0}, {255, 255, 255}},
      {"turbo", {48, 18, 59}, {122, 4, 3}},    {"cividis", {0, 34, 78}, {254, 232, 56}},
      {"winter", {0, 0, 255}, {0, 255, 128}},  {"autumn", {255, 0, 0}, {255, 255, 0}},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Colormap map = GetColormap(c.name);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(std::abs(map[0][i] - c.low[i]) <= 1);
      CHECK(std::abs(map[255][i] - c.high[i]) <= 1);
    }
  }
  // Half way up hot all red is there and no blue.
  const Colormap hot = GetColormap("hot");
  CHECK(hot[128][0] == 255);
  CHECK(hot[128][2] == 0);
}

TEST_CASE("every name on the list is a colormap of its own") {
  const std::vector<std::string> names = ColormapNames();
  CHECK(names.size() == 22);
  std::vector<Colormap> maps;
  for (const std::string& name : names) {
    maps.push_back(GetColormap(name));
    for (size_t i = 0; i + 1 < maps.size(); ++i) {
      INFO(name << " and " << names[i]);
      CHECK(maps[i] != maps.back());
    }
  }
}

TEST_CASE("an unknown colormap is a usage error that lists the names") {
  CHECK_THROWS_AS(GetColormap("Inferno"), UsageError);
  try {
    GetColormap("gnuplot");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).find("'gnuplot'") != std::string::npos);
    CHECK(std::string(error.what()).find("twilight_shifted") != std::string::npos);
  }
}

}  // namespace
}  // namespace attnmap

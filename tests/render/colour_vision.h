#ifndef ATTNMAP_TESTS_RENDER_COLOUR_VISION_H_
#define ATTNMAP_TESTS_RENDER_COLOUR_VISION_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace attnmap::test {

using Vec3 = std::array<double, 3>;
using Mat3 = std::array<Vec3, 3>;

inline Vec3 Times(const Mat3& m, const Vec3& v) {
  Vec3 out{};
  for (size_t i = 0; i < 3; ++i) out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return out;
}

// How an eye sees linear RGB: normal sight, and full colour-vision deficiency
// as Machado, Oliveira & Fernandes 2009 simulate it (their tables, severity 1).
struct Sight {
  const char* name;
  Mat3 matrix;
};
inline constexpr Sight kSights[] = {
    {"normal", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {"protan",
     {{{0.152286, 1.052583, -0.204868},
       {0.114503, 0.786281, 0.099216},
       {-0.003882, -0.048116, 1.051998}}}},
    {"deutan",
     {{{0.367322, 0.860646, -0.227968},
       {0.280085, 0.672501, 0.047413},
       {-0.011820, 0.042940, 0.968881}}}},
    {"tritan",
     {{{1.255528, -0.076749, -0.178779},
       {-0.078411, 0.930809, 0.147602},
       {0.004733, 0.691367, 0.303900}}}},
};

inline double Linear(double level) {
  const double v = level / 255;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

// CIELAB (D65) of an sRGB colour, as an eye sees it.
inline Vec3 Lab(const std::array<uint8_t, 3>& rgb, const Sight& sight) {
  constexpr Mat3 kXyz = {{{0.4124564, 0.3575761, 0.1804375},
                          {0.2126729, 0.7151522, 0.0721750},
                          {0.0193339, 0.1191920, 0.9503041}}};
  constexpr Vec3 kWhite = {0.95047, 1, 1.08883};
  Vec3 seen = Times(sight.matrix, {Linear(rgb[0]), Linear(rgb[1]), Linear(rgb[2])});
  for (double& v : seen) v = std::clamp(v, 0.0, 1.0);
  Vec3 f = Times(kXyz, seen);
  for (size_t i = 0; i < 3; ++i) {
    f[i] /= kWhite[i];
    f[i] = f[i] > 0.008856 ? std::cbrt(f[i]) : 7.787 * f[i] + 16.0 / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

inline double Distance(const Vec3& a, const Vec3& b) {
  return std::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                   (a[2] - b[2]) * (a[2] - b[2]));
}

// WCAG's contrast of two colours, 1 to 21.
inline double Contrast(const std::array<uint8_t, 3>& a, const std::array<uint8_t, 3>& b) {
  const auto luminance = [](const std::array<uint8_t, 3>& c) {
    return 0.2126 * Linear(c[0]) + 0.7152 * Linear(c[1]) + 0.0722 * Linear(c[2]);
  };
  const double high = std::max(luminance(a), luminance(b));
  const double low = std::min(luminance(a), luminance(b));
  return (high + 0.05) / (low + 0.05);
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_RENDER_COLOUR_VISION_H_

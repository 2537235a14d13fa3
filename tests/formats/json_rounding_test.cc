// Each number of JSON weights is rounded once, from its text, to float32.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

#include "attnmap/formats/json_weights.h"
#include "support/catch.h"

namespace attnmap {
namespace {

std::vector<float> ReadNumbers(const std::vector<std::string>& numbers) {
  std::string text = R"({"format":"attnmap-weights","version":1,"config":{},"tensors":{"a":[)";
  for (size_t i = 0; i < numbers.size(); ++i) text += (i > 0 ? "," : "") + numbers[i];
  text += "]}}";
  const auto archive = OpenJsonWeights(MappedFile::FromBytes({text.begin(), text.end()}, "w"));
  const auto values = archive->Load(0).values();
  return {values.begin(), values.end()};
}

// The C library's conversion rounds once, too, and shares no code with ours.
void CheckAgainstLibrary(const std::vector<std::string>& numbers) {
  const auto values = ReadNumbers(numbers);
  REQUIRE(values.size() == numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const float expected = std::strtof(numbers[i].c_str(), nullptr);
    if (std::bit_cast<uint32_t>(values[i]) != std::bit_cast<uint32_t>(expected)) {
      FAIL(numbers[i] << " became " << values[i] << ", expected " << expected);
    }
  }
}

std::string Exact(double value) {
  char text[1200];
  std::snprintf(text, sizeof text, "%.1100g", value);
  return text;
}

TEST_CASE("a number just beside the middle of two floats is not rounded by way of a double") {
  // 1 + 1.5 * 2^-23 lies in the middle of two floats; rounded to a double
  // first, all three would be the middle, and go to the even float.
  const std::vector<std::string> numbers = {"1.000000178813934326171875",
                                            "1.00000017881393432617187499999999999999999",
                                            "1.00000017881393432617187500000000000000001"};
  const auto values = ReadNumbers(numbers);
  CHECK(values[0] == 1 + 2 * 0x1p-23F);
  CHECK(values[1] == 1 + 1 * 0x1p-23F);
  CHECK(values[2] == 1 + 2 * 0x1p-23F);
  const double through_double = std::strtod(numbers[1].c_str(), nullptr);
  CHECK(static_cast<float>(through_double) != values[1]);  // the trap is a trap
}

TEST_CASE("numbers beside the middle of two floats round as the C library does") {
  std::mt19937 random(7);
  std::vector<std::string> numbers;
  while (numbers.size() < 20000) {
    const auto low = std::bit_cast<float>(static_cast<uint32_t>(random() & 0xFF7FFFFFU));
    if (!std::isfinite(low)) continue;
    const float high = std::nextafter(low, INFINITY);
    if (!std::isfinite(high)) continue;
    const std::string middle = Exact((double{low} + double{high}) / 2);
    numbers.push_back(middle);
    if (middle.find('e') != std::string::npos) continue;
    if (middle.find('.') == std::string::npos) continue;
    numbers.push_back(middle + "000000000000000000001");
    std::string below = middle;
    --below.back();
    numbers.push_back(below + "99999999999999999999");
  }
  CheckAgainstLibrary(numbers);
}

TEST_CASE("numbers of every length and size round as the C library does") {
  std::mt19937 random(11);
  const auto up_to = [&](int most) { return static_cast<int>(random() % (most + 1U)); };
  std::vector<std::string> numbers;
  while (numbers.size() < 100000) {
    std::string text = up_to(1) == 0 ? "" : "-";
    const int whole = up_to(3) == 0 ? up_to(25) : up_to(2);
    text += whole == 0 ? "0" : std::string(1, static_cast<char>('1' + up_to(8)));
    for (int i = 1; i < whole; ++i) text += static_cast<char>('0' + up_to(9));
    if (up_to(5) > 0) {
      text += '.';
      const int digits = 1 + (up_to(3) == 0 ? up_to(40) : up_to(9));
      for (int i = 0; i < digits; ++i) text += static_cast<char>('0' + up_to(9));
    }
    if (up_to(2) == 0) {
      text += up_to(1) == 0 ? "e" : "E";
      const int sign = up_to(2);
      text += sign == 0 ? "" : sign == 1 ? "+" : "-";
      text += std::to_string(up_to(sign == 2 ? 60 : 12));
    }
    if (std::isfinite(std::strtof(text.c_str(), nullptr))) numbers.push_back(text);
  }
  CheckAgainstLibrary(numbers);
}

TEST_CASE("the ends of float32's range are read") {
  CheckAgainstLibrary({"3.4028234663852886e38",
                       "3.40282356e38",
                       "-3.4028235e+38",
                       "1.1754944e-38",
                       "1.1754943e-38",
                       "1e-45",
                       "7.006492321624085e-46",
                       "7.0064923216240853e-46",
                       "7.0064923216240854e-46",
                       "7.1e-46",
                       "0e999999999",
                       "0.0e-999999999",
                       "1e-999999999",
                       "340282346638528859811704183484516925440",
                       "0." + std::string(60, '0') + "1",
                       std::string("1") + std::string(30, '0'),
                       "16777217",
                       "16777219",
                       "9007199254740993",
                       "0.1",
                       "123456789"});
}

TEST_CASE("a number of a hundred thousand digits is read") {
  CheckAgainstLibrary({"1." + std::string(100000, '0') + "1", "0." + std::string(100000, '3'),
                       "1.000000178813934326171875" + std::string(50000, '0') + "1"});
}

}  // namespace
}  // namespace attnmap

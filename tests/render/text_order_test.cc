#include "render/text_order.h"

#include "support/catch.h"

namespace attnmap {
namespace {

TEST_CASE("left-to-right text stays as it is, and goes to UTF-8 and back") {
  const std::string text = "layer 3, größe Ж 猫 😀";
  CHECK(Utf8(VisualOrder(text)) == text);
  CHECK(VisualOrder("").empty());
}

TEST_CASE("Hebrew is turned, what stands beside it is not") {
  CHECK(VisualOrder("אבג") == U"גבא");
  CHECK(VisualOrder("אב גד.png") == U"דג בא.png");
  CHECK(VisualOrder("a אב b") == U"a בא b");
  CHECK(VisualOrder("אב 12 גד") == U"דג 12 בא");  // numbers keep their order
}

TEST_CASE("Arabic letters take the form their neighbours give them") {
  // qaf initial, tah medial, teh marbuta final; from the right.
  CHECK(VisualOrder("قطة") == U"\uFE94\uFEC4\uFED7");
  // dal does not reach out: the letter after it begins anew.
  CHECK(VisualOrder("بدب") == U"\uFE8F\uFEAA\uFE91");
  CHECK(VisualOrder("ب") == U"\uFE8F");
  CHECK(VisualOrder("لا") == U"\uFEFB");  // one sign
  CHECK(VisualOrder("بلا") == U"\uFEFC\uFE91");
}

}  // namespace
}  // namespace attnmap

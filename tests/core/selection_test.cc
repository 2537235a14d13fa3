#include "attnmap/core/selection.h"

#include <clocale>
#include <string>
#include <vector>

#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Ints = std::vector<int>;

Ints Layers(const char* text, int num_layers = 12) {
  return ResolveLayers(ParseLayerChoice(text), num_layers);
}

Ints Heads(const char* text, int num_heads = 6) {
  return ResolveHeads(ParseHeadChoice(text), num_heads);
}

const TokenLayout kClass{.has_class_token = true};
const TokenLayout kRegisters{.has_class_token = true, .num_register_tokens = 4};
const TokenLayout kBare;
const PatchGrid kGrid{2, 3, 16};
const ImageGeometry kGeometry{{64, 96}, {32, 48}, {32, 48}, 0, 0};

ResolvedQuery Query(const char* text, const TokenLayout& layout = kClass, bool pool = false) {
  return ResolveQuery(ParseQueryChoice(text), layout, kGrid, kGeometry, pool);
}

// The message of the Error that `work` throws, after checking its kind.
template <typename Work>
std::string Message(bool usage, Work work) {
  try {
    work();
  } catch (const UsageError& error) {
    CHECK(usage);
    return error.what();
  } catch (const Error& error) {
    CHECK_FALSE(usage);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("--layer takes last, numbers from either end, ranges and all") {
  CHECK(Layers("last") == Ints{11});
  CHECK(Layers("0") == Ints{0});
  CHECK(Layers("11") == Ints{11});
  CHECK(Layers("-1") == Ints{11});
  CHECK(Layers("-12") == Ints{0});
  CHECK(Layers("2:5") == Ints{2, 3, 4});
  CHECK(Layers("-3:-1") == Ints{9, 10});
  CHECK(Layers("10:") == Ints{10, 11});
  CHECK(Layers(":2") == Ints{0, 1});
  CHECK(Layers("-2:12") == Ints{10, 11});
  CHECK(Layers("all", 3) == Ints{0, 1, 2});
  CHECK(Layers("last", 1) == Ints{0});
}

TEST_CASE("--layer refuses anything else as wrong usage, saying what it takes") {
  for (const char* text : {"", "first", "Last", "1.5", "1,2", " 1", "1 ", "+1", "1:2:3", "a:b",
                           "1:x", "0x1", "99999999999", "--1", "1:-"}) {
    INFO(text);
    CHECK(Message(true, [&] { ParseLayerChoice(text); }) ==
          "--layer '" + std::string(text) +
              "' is not a choice of layers: use last, N, -N, A:B (B excluded) or all");
  }
}

TEST_CASE("A layer that the model does not have is an error that counts those it has") {
  CHECK(Message(false, [] { Layers("12"); }) ==
        "layer 12 does not exist: this model has 12 (0 to 11)");
  CHECK(Message(false, [] { Layers("-13"); }) ==
        "layer -13 does not exist: this model has 12 (0 to 11)");
  CHECK(Message(false, [] { Layers("1", 1); }) ==
        "layer 1 does not exist: this model has 1 (only 0)");
  CHECK(Message(true, [] { Layers("3:3"); }) ==
        "--layer '3:3' chooses nothing: B is excluded and has to lie beyond A");
  CHECK(Message(true, [] { Layers("5:2"); }) != "");
  CHECK(Message(false, [] { Layers("0:13"); }) != "");
  CHECK(Message(false, [] { Layers("-13:2"); }) != "");
  CHECK(Message(false, [] { Layers("12:"); }) ==
        "layers 12: choose nothing or too much: this model has 12 (0 to 11)");
  CHECK(Message(false, [] { Layers(":0"); }) != "");
  CHECK(Message(false, [] { Layers("-2147483648"); }) != "");
}

TEST_CASE("U-18 --head takes fusions, one head, lists in their order and all") {
  const auto fusion = [](const char* text) {
    const HeadChoice choice = ParseHeadChoice(text);
    CHECK(choice.kind == HeadChoice::Kind::kFused);
    return choice.fusion;
  };
  CHECK(fusion("mean") == HeadFusion::kMean);
  CHECK(fusion("max") == HeadFusion::kMax);
  CHECK(fusion("min") == HeadFusion::kMin);
  CHECK(Heads("mean").empty());
  CHECK(Heads("3") == Ints{3});
  CHECK(Heads("5,0,3") == Ints{5, 0, 3});
  CHECK(Heads("all", 3) == Ints{0, 1, 2});
  for (HeadFusion each : {HeadFusion::kMean, HeadFusion::kMax, HeadFusion::kMin}) {
    CHECK(fusion(std::string(FusionName(each)).c_str()) == each);
  }
}

TEST_CASE("--head refuses anything else as wrong usage, saying what it takes") {
  for (const char* text :
       {"", "sum", "-1", "1,", ",1", "1,,2", "1,1", "1;2", "0-3", "1.0", "all,1", "4294967296"}) {
    INFO(text);
    CHECK(Message(true, [&] { ParseHeadChoice(text); }) ==
          "--head '" + std::string(text) +
              "' is not a choice of heads: use mean, max, min, all, N or a list of different "
              "numbers such as 0,3,5");
  }
}

TEST_CASE("A head that the model does not have is an error that counts those it has") {
  CHECK(Message(false, [] { Heads("6"); }) == "head 6 does not exist: this model has 6 (0 to 5)");
  CHECK(Message(false, [] { Heads("0,7"); }) == "head 7 does not exist: this model has 6 (0 to 5)");
  CHECK(Message(false, [] { Heads("1", 1); }) ==
        "head 1 does not exist: this model has 1 (only 0)");
}

TEST_CASE("--query takes words, a patch, a pixel and a token") {
  CHECK(Query("class").token == 0);
  CHECK(Query("class").label == "class");
  CHECK(Query("0,0").token == 1);
  CHECK(Query("1,2").token == 6);
  CHECK(Query("1,2").label == "patch 1,2");
  CHECK(Query("1,2", kRegisters).token == 10);
  CHECK(Query("1,2", kBare).token == 5);
  CHECK(Query("px:0,0").token == 1);
  CHECK(Query("px:95,63").token == 6);
  CHECK(Query("px:40,10.5").label == "patch 0,1");
  CHECK(Query("token:6").token == 6);
  CHECK(Query("token:6").label == "token 6");
  CHECK(Query("mean").kind == ResolvedQuery::Kind::kMean);
  CHECK(Query("all").kind == ResolvedQuery::Kind::kAll);
  CHECK(Query("pool", kBare, true).kind == ResolvedQuery::Kind::kPool);
}

TEST_CASE("--query refuses anything else as wrong usage, saying what it takes") {
  for (const char* text :
       {"", "cls", "1", "1,2,3", "-1,2", "1,-2", "1.5,2", "1;2", "px:1", "px:1,", "px:nan,1",
        "px:1,inf", "px:1,1e999", "token:", "token:-1", "token:x", "tokens:1", "Class", " class"}) {
    INFO(text);
    CHECK(Message(true, [&] { ParseQueryChoice(text); }) ==
          "--query '" + std::string(text) +
              "' is not a query: use class, pool, mean, ROW,COL (a patch), px:X,Y (a pixel of the "
              "picture), token:N, or (dump only) all");
  }
}

TEST_CASE("U-10 without --query it is the class token, else the pooling head, else the mean") {
  const auto kind = [](const TokenLayout& layout, bool pool) {
    return ResolveQuery({}, layout, kGrid, kGeometry, pool);
  };
  CHECK(kind(kClass, true).label == "class");
  CHECK(kind(kClass, true).token == 0);
  CHECK(kind(kBare, true).label == "pool");
  CHECK(kind(kBare, true).kind == ResolvedQuery::Kind::kPool);
  CHECK(kind(kBare, false).label == "mean");
  CHECK(kind(kBare, false).kind == ResolvedQuery::Kind::kMean);
}

TEST_CASE("U-10 a query that this model has not is an error naming what it has") {
  CHECK(Message(false, [] { Query("class", kBare); }) ==
        "this model has no class token: use --query mean, ROW,COL or px:X,Y");
  CHECK(Message(false, [] { Query("class", kBare, true); }) ==
        "this model has no class token: use --query pool, mean, ROW,COL or px:X,Y");
  CHECK(Message(false, [] { Query("pool"); }) ==
        "this model has no attention-pooling head for --query pool");
  CHECK(Message(false, [] { Query("2,0"); }) ==
        "patch 2,0 does not exist: the grid has 2 rows and 3 columns, counted from 0");
  CHECK(Message(false, [] { Query("0,3"); }) != "");
  CHECK(Message(false, [] { Query("token:7"); }) ==
        "token 7 does not exist: there are 7, counted from 0");
}

TEST_CASE("A pixel that the model did not see is an error saying what it saw") {
  CHECK(Message(false, [] { Query("px:96,0"); }) ==
        "pixel 96,0 lies outside what the model saw: x from 0 to below 96, y from 0 to below 64");
  CHECK(Message(false, [] { Query("px:-0.5,0"); }) ==
        "pixel -0.5,0 lies outside what the model saw: x from 0 to below 96, y from 0 to below 64");
  const ImageGeometry third{{100, 100}, {48, 48}, {32, 48}, 8, 0};
  CHECK(
      Message(false,
              [&] { ResolveQuery(ParseQueryChoice("px:50,5"), kClass, kGrid, third, false); }) ==
      "pixel 50,5 lies outside what the model saw: x from 0 to below 100, y from 16.6667 to below "
      "83.3333");
}

TEST_CASE("Selections read and write numbers alike in every locale") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) {
    WARN("skipped: the locale de_DE.UTF-8 is not installed");
    return;
  }
  CHECK(ParseQueryChoice("px:1.5,2").x == 1.5);
  CHECK(Message(false, [] { Query("px:96.5,0"); }) ==
        "pixel 96.5,0 lies outside what the model saw: x from 0 to below 96, y from 0 to below 64");
  std::setlocale(LC_ALL, before.c_str());
}

}  // namespace attnmap

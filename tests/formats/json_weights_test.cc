#include "attnmap/formats/json_weights.h"

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/archives.h"
#include "support/catch.h"
#include "support/temporary.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;

std::unique_ptr<TensorArchive> Parse(const std::string& text) {
  return OpenJsonWeights(MappedFile::FromBytes({text.begin(), text.end()}, "w.json"));
}

std::string JsonError(const std::string& text) {
  const std::string what = test::ArchiveError("w.json", [&] { return Parse(text); });
  CHECK(what.size() < 400);
  return what;
}

// One-layer weights that are complete but for the given part.
std::string Layer(const std::string& part) {
  return R"({"patch_size":1,"W_Q":[[1]],"W_K":[[1]],"W_V":[[1]])" + part + "}";
}
// Full weights with these tensors.
std::string Full(const std::string& tensors) {
  return R"({"format":"attnmap-weights","version":1,"config":{},"tensors":{)" + tensors + "}}";
}

std::unique_ptr<TensorArchive> OpenData(const std::string& name) {
  return OpenJsonWeights(MappedFile::Open(ATTNMAP_TEST_DATA "/json/" + name));
}

std::vector<float> Values(const TensorArchive& archive, const std::string& name) {
  for (size_t i = 0; i < archive.tensors().size(); ++i) {
    if (archive.tensors()[i].name != name) continue;
    const auto values = archive.Load(i).values();
    return {values.begin(), values.end()};
  }
  FAIL("no tensor " << name);
  return {};
}

Shape ShapeOf(const TensorArchive& archive, const std::string& name) {
  for (const TensorInfo& info : archive.tensors()) {
    if (info.name == name) return info.shape;
  }
  FAIL("no tensor " << name);
  return {};
}

TEST_CASE("JSON weights: the one-layer form reads, the rest becomes its header") {
  const auto archive = OpenData("one_layer.json");
  CHECK(archive->format() == "json-layer");
  CHECK(archive->tensors().size() == 10);
  CHECK(ShapeOf(*archive, "W_patch") == Shape{3, 2});
  CHECK(Values(*archive, "W_patch") == std::vector<float>{1, 0, 0, 1, 1, 1});
  CHECK(ShapeOf(*archive, "class_token") == Shape{2});
  CHECK(Values(*archive, "b_O") == std::vector<float>{0, 1e-3F});
  CHECK(archive->Text("config") == R"({"patch_size":1,"image_size":[1,2]})");
  CHECK(!archive->Text("config.json"));
}

TEST_CASE("JSON weights: several heads become numbered tensors") {
  const auto archive = OpenData("two_heads.json");
  CHECK(archive->format() == "json-layer");
  CHECK(archive->tensors().size() == 7);
  CHECK(Values(*archive, "heads.0.W_Q") == std::vector<float>{1, 2, 3});
  CHECK(Values(*archive, "heads.0.b_V") == std::vector<float>{1});
  CHECK(ShapeOf(*archive, "heads.1.W_Q") == Shape{3, 1});
  CHECK(Values(*archive, "heads.1.W_Q") == std::vector<float>{4, 5, 6});
  CHECK(archive->Text("config") ==
        R"({"patch_size":1,"preprocess":{"mean":[0.5,0.5,0.5],"std":[0.5,0.5,0.5]}})");
}

TEST_CASE("JSON weights: the full form reads, nested and flat tensors alike") {
  const auto archive = OpenData("full.json");
  CHECK(archive->format() == "json");
  REQUIRE(archive->tensors().size() == 4);
  CHECK(archive->tensors()[0].name == "cls_token");
  CHECK(archive->tensors()[0].shape == Shape{1, 1, 2});
  CHECK(archive->tensors()[1].shape == Shape{2, 3, 1, 1});
  CHECK(Values(*archive, "cls_token") == std::vector<float>{0.1F, -0.2F});
  CHECK(Values(*archive, "patch_embed.proj.weight") == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(archive->Text("config") ==
        "{\"format\":\"attnmap-weights\",\"version\":1,\"name\":\"tiny \xc3\xa9\",\"config\":{"
        "\"image_size\":[2,2],\"patch_size\":1,\"embed_dim\":2,\"num_layers\":0,\"num_heads\":1,"
        "\"layer_norm_eps\":1e-06},\"preprocess\":{\"resize\":2,\"mean\":[0.485,0.456,0.406]},"
        "\"labels\":[\"cat\",\"dog\"]}");
}

TEST_CASE("JSON weights: keys may come in any order, white space and a byte order mark anywhere") {
  const auto archive = Parse(
      "\xEF\xBB\xBF \n{\"tensors\" :\t{ \"a\" : [ 1 ,\r\n 2 ] } , \"version\":1,\"config\":{},"
      "\"format\":\"attnmap-weights\"}\n\n");
  CHECK(Values(*archive, "a") == std::vector<float>{1, 2});
  CHECK(archive->Text("config") == R"({"version":1,"config":{},"format":"attnmap-weights"})");
}

TEST_CASE("JSON weights: scalars, empty arrays and up to eight dimensions have their shapes") {
  const auto archive = Parse(Full(
      R"("s":{"shape":[],"data":[7]},"e":[],"ee":[[],[]],"z":{"shape":[3,0],"data":[]},"d":[[[[[[[[5]]]]]]]])"));
  CHECK(archive->tensors()[0].shape.empty());
  CHECK(archive->tensors()[1].shape == Shape{0});
  CHECK(archive->tensors()[2].shape == Shape{2, 0});
  CHECK(archive->tensors()[3].shape == Shape{3, 0});
  CHECK(archive->tensors()[4].shape == Shape(8, 1));
  CHECK(archive->Load(1).present());
  CHECK(archive->Load(3).size() == 0);
}

TEST_CASE("JSON weights: every number JSON allows is read") {
  const auto archive = Parse(Full(
      R"("n":[0,-0,0.0,-0.5,1e2,1E+2,1e-2,12.5e1,16777217,123456789012345678901234567890,1e-99])"));
  const auto values = Values(*archive, "n");
  CHECK(values == std::vector<float>{0, -0.0F, 0, -0.5F, 100, 100, 0.01F, 125, 16777216,
                                     123456789012345678901234567890.0F, 0});
  CHECK(std::signbit(values[1]));
}

struct Bad {
  const char* what;
  std::string text;
  std::vector<std::string> says;
};

void CheckAll(const std::vector<Bad>& cases) {
  for (const Bad& bad : cases) {
    INFO(bad.what);
    const std::string error = JsonError(bad.text);
    for (const std::string& part : bad.says) CHECK_THAT(error, Contains(part));
  }
}

TEST_CASE("JSON weights: what is no number inside a tensor is refused with its place") {
  const auto in = [](const std::string& element) {
    return R"({"patch_size":1,"W_Q":[[1,2],[3,)" + element + "]]}";
  };
  const std::string at = "W_Q[1][1]: expected a number, found ";
  CheckAll({
      {"NaN", in("NaN"), {at + "NaN", "line 1, column 33"}},
      {"Infinity", in("Infinity"), {at + "Infinity"}},
      {"-Infinity", in("-Infinity"), {at + "-Infinity"}},
      {"null", in("null"), {at + "null"}},
      {"true", in("true"), {at + "true"}},
      {"text", in("\"4\""), {at + "a text"}},
      {"object", in("{\"a\":4}"), {at + "an object"}},
      {"list", in("[4]"), {at + "a list"}},
      {"overflow", in("1e99"), {"W_Q[1][1]: the number '1e99' is too large for float32"}},
      {"overflow by rounding", in("3.4028235677973367e38"), {"too large"}},
      {"negative overflow", in("-1e39"), {"too large"}},
      {"leading zero", in("04"), {at + "'04'"}},
      {"no digit before the point", in(".5"), {at + "'.5'"}},
      {"no digit behind the point", in("5."), {at + "'5.'"}},
      {"no digit behind the point, exponent", in("5.e1"), {at + "'5.e1'"}},
      {"no exponent", in("5e"), {at + "'5e'"}},
      {"plus", in("+5"), {at + "'+5'"}},
      {"minus alone", in("-"), {at + "'-'"}},
      {"hexadecimal", in("0x10"), {at + "'0x10'"}},
      {"two numbers", in("4 5"), {at + "'4', which is"}},
      {"comment", in("/**/4"), {at}},
      {"nothing", in(""), {at + "nothing"}},
      {"a zero byte", in(std::string(1, '\0')), {at + "'?'"}},
  });
  CHECK(JsonError(Layer(R"(,"b_Q":[3.4028235677973366e38])")) == "no error");
}

TEST_CASE("JSON weights: ragged rows are refused with both lengths") {
  CheckAll({
      {"short", Layer(R"(,"b_Q":[[1,2,3],[1,2]])"), {"b_Q[1]:", "has 2 elements", "have 3"}},
      {"long", Layer(R"(,"b_Q":[[1],[1,2]])"), {"b_Q[1]:", "has 2 elements", "have 1"}},
      {"empty", Layer(R"(,"b_Q":[[1],[]])"), {"b_Q[1]:", "has 0 elements", "have 1"}},
      {"rank 3", Layer(R"(,"b_Q":[[[1],[2]],[[3],[4]],[[5]]])"), {"b_Q[2]:", "has 1 element,"}},
      {"inner", Layer(R"(,"b_Q":[[[1],[2]],[[3],[4,5]]])"), {"b_Q[1][1]:", "has 2", "have 1"}},
      {"number among rows", Layer(R"(,"b_Q":[[1],2])"), {"b_Q[1]: expected a list"}},
      {"row among numbers",
       Layer(R"(,"b_Q":[1,[2]])"),
       {"b_Q[1]: expected a number, found a list"}},
      {"number where empty rows were",
       Layer(R"(,"b_Q":[[[]],[1]])"),
       {"b_Q[1][0]: expected a list"}},
      {"deeper empty", Layer(R"(,"b_Q":[[],[[]]])"), {"b_Q[1]:", "has 1 element", "have 0"}},
      {"trailing comma", Layer(R"(,"b_Q":[1,])"), {"b_Q[1]: expected a number, found nothing"}},
      {"leading comma", Layer(R"(,"b_Q":[,1])"), {"b_Q[0]: expected a number, found nothing"}},
      {"rows run together", Layer(R"(,"b_Q":[[1][2]])"), {"b_Q[1]: expected ',' or ']'"}},
  });
}

TEST_CASE("JSON weights: a flat tensor needs a shape that fits its data") {
  CheckAll({
      {"too few",
       Full(R"("a.b":{"shape":[2,3],"data":[1,2,3,4,5]})"),
       {"tensors['a.b']", "2 x 3 takes 6 numbers", "has 5"}},
      {"too many", Full(R"("a":{"data":[1,2],"shape":[1]})"), {"takes 1 number,", "has 2"}},
      {"2 GB claimed", Full(R"("a":{"shape":[536870912],"data":[1]})"), {"536870912", "has 1"}},
      {"overflow", Full(R"("a":{"shape":[4294967296,4294967296],"data":[1]})"), {"too many"}},
      {"no data", Full(R"("a":{"shape":[1]})"), {"tensors['a']: missing key 'data'"}},
      {"no shape", Full(R"("a":{"data":[1]})"), {"tensors['a']: missing key 'shape'"}},
      {"unknown key", Full(R"("a":{"dtype":"f32"})"), {"tensors['a'].dtype: unknown key"}},
      {"shape twice", Full(R"("a":{"shape":[1],"shape":[1]})"), {"tensors['a'].shape", "twice"}},
      {"data twice", Full(R"("a":{"data":[1],"data":[1]})"), {"tensors['a'].data", "twice"}},
      {"nested data",
       Full(R"("a":{"shape":[1],"data":[[1]]})"),
       {"tensors['a'].data[0]: expected a number, found a list"}},
      {"negative", Full(R"("a":{"shape":[-1],"data":[]})"), {"tensors['a'].shape", "-1"}},
      {"fraction", Full(R"("a":{"shape":[1.5],"data":[]})"), {"tensors['a'].shape", "'1.5'"}},
      {"huge", Full(R"("a":{"shape":[18446744073709551615],"data":[]})"), {"18446744073709551615"}},
      {"shape is a number", Full(R"("a":{"shape":1})"), {"list of dimensions", "the number 1"}},
      {"shape is nested", Full(R"("a":{"shape":[[1]]})"), {"a dimension", "a list"}},
      {"nine dimensions", Full(R"("a":{"shape":[1,1,1,1,1,1,1,1,1]})"), {"8 dimensions"}},
      {"data is a text", Full(R"("a":{"data":"AAAA"})"), {"flat list of numbers", "'AAAA'"}},
      {"null", Full(R"("a":null)"), {"tensors['a']: expected nested lists", "null"}},
      {"number", Full(R"("a":1)"), {"tensors['a']: expected nested lists", "the number 1"}},
  });
}

TEST_CASE("JSON weights: keys are those of one form, each once") {
  CheckAll({
      {"unknown", Layer(R"(,"W_q":[1])"), {"unknown key 'W_q'", "W_patch", "heads"}},
      {"unknown, full",
       R"({"format":"attnmap-weights","model":1})",
       {"unknown key 'model'", "tensors"}},
      {"some other JSON",
       R"({"architectures":["ViTModel"]})",
       {"no JSON weights", "'architectures'"}},
      {"twice", R"({"patch_size":1,"patch_size":1})", {"'patch_size' is there twice"}},
      {"tensor twice", Layer(R"(,"W_Q":[[1]])"), {"'W_Q' is there twice"}},
      {"tensor twice, full", Full(R"("a":[1],"a":[1])"), {"tensors['a']: the key is there twice"}},
      {"twice in config",
       R"({"config":{"a":{"b":1,"b":2}}})",
       {"config.a.b: the key is there twice"}},
      {"twice in a head", R"({"heads":[{"W_Q":[1],"W_Q":[1]}]})", {"heads[0].W_Q", "twice"}},
      {"both forms", R"({"W_Q":[1],"tensors":{}})", {"'tensors'", "full", "'W_Q'", "one-layer"}},
      {"both forms, other way", R"({"format":"attnmap-weights","W_Q":[1]})", {"'W_Q'", "'format'"}},
      {"unknown in a head", R"({"heads":[{"W_O":[1]}]})", {"heads[0].W_O: unknown key"}},
      {"nothing", "{}", {"neither form"}},
      {"preprocess alone", R"({"preprocess":{}})", {"neither form"}},
      {"no W_K", R"({"patch_size":1,"W_Q":[1],"W_V":[1]})", {"missing key 'W_K'"}},
      {"no patch_size", R"({"W_Q":[1],"W_K":[1],"W_V":[1]})", {"missing key 'patch_size'"}},
      {"no W_V in a head",
       R"({"heads":[{"W_Q":[1],"W_K":[1],"W_V":[1]},{"W_Q":[1],"W_K":[1]}]})",
       {"heads[1]: missing key 'W_V'"}},
      {"no heads", R"({"patch_size":1,"heads":[]})", {"heads: no heads"}},
      {"heads and W_Q",
       R"({"patch_size":1,"W_Q":[1],"heads":[{"W_Q":[1],"W_K":[1],"W_V":[1]}]})",
       {"'W_Q' stands beside 'heads'"}},
      {"heads and b_Q",
       R"({"patch_size":1,"b_Q":[1],"heads":[{"W_Q":[1],"W_K":[1],"W_V":[1]}]})",
       {"'b_Q' stands beside 'heads'"}},
      {"no format", R"({"version":1,"config":{},"tensors":{}})", {"missing key 'format'"}},
      {"no version", R"({"format":"attnmap-weights","config":{},"tensors":{}})", {"'version'"}},
      {"no config", R"({"format":"attnmap-weights","version":1,"tensors":{}})", {"'config'"}},
      {"no tensors", R"({"format":"attnmap-weights","version":1,"config":{}})", {"'tensors'"}},
  });
}

TEST_CASE("JSON weights: values are of the kind their key takes") {
  CheckAll({
      {"other format", R"({"format":"attnmap"})", {"format: the format 'attnmap' is not known"}},
      {"format a number", R"({"format":1})", {"format: expected a text, found the number 1"}},
      {"version 2", R"({"version":2})", {"version: version 2 is not known, expected 1"}},
      {"version text", R"({"version":"1"})", {"version: expected a whole number", "'1'"}},
      {"version 1.0", R"({"version":1.0})", {"version: expected a whole number", "'1.0'"}},
      {"config null", R"({"config":null})", {"config: expected an object, found null"}},
      {"config list", R"({"config":[1]})", {"config: expected an object, found a list"}},
      {"labels text", R"({"labels":"cat"})", {"labels: expected a list of texts"}},
      {"labels numbers", R"({"labels":["cat",1]})", {"labels[1]: expected a list of texts", "1"}},
      {"labels nested", R"({"labels":[["cat"]]})", {"labels[0]", "a list"}},
      {"labels object", R"({"labels":[{}]})", {"labels[0]", "an object"}},
      {"patch_size text", R"({"patch_size":"16"})", {"patch_size: expected a whole number"}},
      {"patch_size negative", R"({"patch_size":-16})", {"patch_size", "-16"}},
      {"patch_size fraction", R"({"patch_size":16.5})", {"patch_size", "'16.5'"}},
      {"image_size number", R"({"image_size":224})", {"image_size: expected a list"}},
      {"name true", R"({"name":true})", {"name: expected a text, found true"}},
      {"tensors list", R"({"tensors":[]})", {"tensors: expected an object of tensors"}},
      {"heads object", R"({"heads":{}})", {"heads: expected a list of objects"}},
      {"heads of numbers", R"({"heads":[1]})", {"heads: expected an object with W_Q"}},
      {"W_Q text", R"({"W_Q":"x"})", {"W_Q: expected nested lists", "'x'"}},
  });
}

TEST_CASE("JSON weights: what is not JSON, or not all of it, is refused") {
  std::string deep = R"({"config":)";
  std::string deep_tensor = R"({"W_Q":)";
  for (int i = 0; i < 100000; ++i) {
    deep += R"({"a":)";
    deep_tensor += '[';
  }
  CheckAll({
      {"empty", "", {"the file is empty"}},
      {"white space", " \n", {"cut short"}},
      {"a list", "[1]", {"expected an object, found a list"}},
      {"a number", "1", {"expected an object"}},
      {"deep", deep, {"config.a.a", "more than 16 deep"}},
      {"deep tensor", deep_tensor, {"W_Q[0][0][0][0][0][0][0][0]: more than 8 dimensions"}},
      {"not UTF-8", "{\"name\":\"\xff\"}", {"name", "UTF-8"}},
      {"not UTF-8 key", "{\"\xc3(\":1}", {"UTF-8"}},
      {"control character", "{\"name\":\"a\nb\"}", {"name", "control character"}},
      {"lone surrogate", R"({"name":"\ud800"})", {"surrogate"}},
      {"cut in a tensor", R"({"W_Q":[[1,2],[3)", {"W_Q[1][0]", "cut short"}},
      {"cut in a text", R"({"name":"ab)", {"name", "11 bytes", "cut short"}},
      {"cut after a key", R"({"name")", {"cut short"}},
      {"comma too many", R"({"patch_size":1,})", {"not JSON"}},
      {"something behind", Layer("") + "x", {"not JSON", "expected end of input"}},
      {"another object behind", Layer("") + "{}", {"not JSON"}},
      {"a zero byte behind", Layer("") + std::string("\0{}", 3), {"zero byte"}},
      {"single quotes", "{'patch_size':1}", {"not JSON"}},
      {"too large in config", R"({"config":{"a":1e999}})", {"config.a", "overflow"}},
      {"long name", Full("\"" + std::string(5000, 'n') + "\":[1]"), {"4096 bytes"}},
      {"name with a line break", Full(R"("a\nb":null)"), {"tensors['a?b']"}},
  });
}

TEST_CASE("JSON weights: the place of an error counts lines and columns from 1") {
  CHECK_THAT(JsonError("{\n \"patch_size\": 1,\n \"W_Q\": [[1,\n  null]]}"),
             Contains("(line 4, column 3)"));
  CHECK_THAT(JsonError("{\n\"patch_size\": x}"), Contains("(line 2, column 15)"));
}

TEST_CASE("JSON weights: cut anywhere, a file is refused in one line") {
  for (const char* name : {"one_layer.json", "two_heads.json", "full.json"}) {
    const std::string whole = test::ReadText(std::string(ATTNMAP_TEST_DATA "/json/") + name);
    const size_t last = whole.find_last_of('}');
    for (size_t size = 0; size <= last; ++size) {
      INFO(name << " cut to " << size << " bytes");
      CHECK(JsonError(whole.substr(0, size)) != "no error");
    }
  }
}

TEST_CASE("JSON weights: a text, or a configuration, of many megabytes is refused") {
  CHECK_THAT(JsonError(R"({"name":")" + std::string(17 << 20, 'x') + "\"}"), Contains("16 MB"));
  std::string labels = R"({"labels":["a")";
  while (labels.size() < (18 << 20)) labels += R"(,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")";
  CHECK_THAT(JsonError(labels + "]}"), Contains("labels[") && Contains("16 MB"));
}

}  // namespace
}  // namespace attnmap

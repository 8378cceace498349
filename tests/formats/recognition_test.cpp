// Recognition by content: every format's files are taken for what they are, also
// those that begin as another format does. Binary formats begin with numbers that may
// spell anything; these are the collisions that a first byte or two would cause.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "data/formats/format_spec.hpp"
#include "data/history/builder.hpp"
#include "formats/files.hpp"
#include "source_dir.hpp"

namespace cupel::formats {
namespace {

using namespace history;

std::string little(std::uint64_t n) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(n >> (8 * i));
  return bytes;
}
std::string big(std::uint64_t n) {
  std::string bytes = little(n);
  return {bytes.rbegin(), bytes.rend()};
}

// 40 bytes that nobody relies on, then one session of one transaction that writes 5 to key 1.
std::string dbcop(const std::string& start, std::string info = "PostgreSQL") {
  std::string bytes = start;
  bytes.resize(40, '\0');
  bytes += little(info.size()) + info + little(0) + little(0) + little(1) + little(1) + little(1);
  return bytes + '\1' + little(1) + little(5) + '\1' + '\1';
}
std::string cobra(std::uint64_t txn, std::uint64_t key = 1, std::uint64_t value = 2) {
  return 'S' + big(txn) + 'W' + big(7) + big(key) + big(value) + 'C' + big(txn);
}
std::string cupel_file() {
  HistoryBuilder b;
  b.begin(b.session("0"), TxnStatus::kCommitted, {});
  b.write(b.key(1), b.value(2));
  b.end();
  std::ostringstream out;
  EXPECT_TRUE(spec_of(Format::kCupel).write(*std::move(b).finish(), out, {}).ok());
  return out.str();
}

std::string recognized(const std::string& bytes) {
  const auto format = recognize("file", bytes, /*in_logs=*/false);
  return format.ok() ? std::string(name(*format)) : format.error().message;
}

// Small valid files of each format, with the starts that other formats have.
std::vector<std::string> valid_files(Format format) {
  std::vector<std::string> files;
  switch (format) {
    case Format::kDbcop:
      for (std::uint64_t id = 0; id < 256; ++id) files.push_back(dbcop(little(id)));
      for (std::uint64_t two = 0; two < 256; ++two) {  // "r(", "w ", "S" and a type …
        for (const char first :
             {'r', 'w', 'S', 'C', 'R', 'W', '{', '[', '(', '-', '=', '#', '\x89'}) {
          files.push_back(dbcop(std::string{first, static_cast<char>(two)}));
        }
      }
      for (const char* start :
           {"r(1,2,0,7)\nr(1,2,0,8)", "r 1 2\nw 1 3\n", "-----\n", "=====\n",
            "\x89"
            "CUPEL\r\n",
            R"({"type":"ok","process":0,"f":"txn"})",
            R"({"value": [["w", 1, 2, true]]})"
            "\n",
            "{:type :ok :f :txn}", "0 INFO  jepsen.util - 0 :invoke :r", "[{\"type\":\"ok\"}]"}) {
        files.push_back(dbcop(start));
      }
      files.push_back(dbcop("S" + big(1) + "C" + big(1)));
      files.push_back(dbcop("{", R"("type" :type "value")"));
      break;
    case Format::kCobra:
      for (std::uint64_t id = 0; id < 256; ++id) {
        files.push_back(cobra(id));
        files.push_back(cobra(id << 56));
        files.push_back(cobra(1, id, id));
      }
      files.push_back('S' + big(1) + 'C' + big(1));
      break;
    case Format::kCupel:
      files.push_back(cupel_file());
      break;
    case Format::kPlume:
      files = {"r(1,2,0,7)\n", "\n\n w(1,2,0,7)\n", "w(1,2,0,7)"};
      break;
    case Format::kAwdit:
      files = {"r 1 2\n", "\nw 1 2\n-----\n", "=====\n", "w\t1\t2"};
      break;
    case Format::kViper:
      files = {R"({"value": [["w", 1, 2, true]]})",
               R"({"value": [["w", "type", "\"type\"", true]]})",
               R"({"value": [["w", "jepsen.util - 0 :invoke", 2, true]]})",
               R"({"isInitial": true, "value": [["w", "}", 2, true]]})",
               R"({"value": [["range", null, null, [{"id": "type", "val": "type"}], []]]})"};
      break;
    case Format::kJepsen:
      files = {R"({"type":"invoke","process":0,"f":"txn","value":[["w",1,2]]})",
               R"({"value":[["w",1,2]],"f":"txn","process":0,"type":"invoke"})",
               R"({"type":"ok","process":0,"f":"txn","value":[["w","jepsen.util - 0 :invoke",2]]})",
               R"([{"type":"ok","process":0,"f":"read","value":null}])",
               R"({"process":0,"value":{"value":1},"type":"ok"})",
               "{\n  \"value\": 1,\n  \"type\": \"ok\"\n}",
               "{:type :invoke, :process 0, :f :txn, :value [[:w 1 2]]}",
               "; INFO  jepsen.util - 0 :invoke :read nil\n{:type :ok, :process 0}",
               "#jepsen.history.Op{:index 0, :type :ok}",
               "\xef\xbb\xbf{\"type\":\"ok\"}",
               "[]",
               " [\n]\n",
               "()"};
      break;
    case Format::kKnossos:
      files = {
          "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n",
          "2014-01-01 INFO  jepsen.util - 0\t:invoke\t:write\t\"r(1,2)\"\n",
          "INFO  jepsen.util - :nemesis\t:info\t:type\t{:type :ok}\n",
          "INFO [2017-08-19 06:23:31,518] jepsen worker 0 - jepsen.util 0\t:invoke\t:write\t3\n",
          "2021-02-26 11:42:48,806{GMT}\tINFO\t[main] jepsen.cli: Test options:\n {:type :ok}\n",
          "0\t:invoke\t:txn\t[[:r 9 nil]]\n",
          ":nemesis\t:info\t:kill\t{\"node0\" nil}\n"};
      break;
  }
  return files;
}

TEST(Recognition, EveryFileOfEveryFormatIsTakenForWhatItIs) {
  for (const Format format : all_formats()) {
    const auto files = valid_files(format);
    ASSERT_FALSE(files.empty()) << name(format);
    for (const auto& bytes : files) {
      EXPECT_EQ(recognized(bytes), name(format)) << testing::PrintToString(bytes.substr(0, 60));
    }
  }
}

// No other format's recogniser is as sure of a file as its own: for every pair of formats.
TEST(Recognition, NoPairOfFormatsIsEquallySureOfAFile) {
  for (const Format format : all_formats()) {
    for (const auto& bytes : valid_files(format)) {
      const auto own = spec_of(format).recognize(bytes);
      for (const Format other : all_formats()) {
        if (other == format) continue;
        EXPECT_LT(spec_of(other).recognize(bytes), own)
            << name(format) << " or " << name(other) << ": "
            << testing::PrintToString(bytes.substr(0, 60));
      }
    }
  }
}

TEST(Recognition, AFileLongerThanTheHeadIsCheckedAsFarAsTheHeadGoes) {
  std::string log, bincode = dbcop("S" + big(1) + "C" + big(1));
  for (std::uint64_t txn = 0; log.size() < 3 * kHeadBytes; ++txn) log += cobra(txn);
  EXPECT_EQ(recognized(log), "cobra");
  const std::size_t events = 2 * kHeadBytes / 18;
  bincode.resize(bincode.size() - 27);  // its number of events, its event, its end
  bincode += little(events);
  for (std::size_t e = 0; e < events; ++e) bincode += '\1' + little(e) + little(e) + '\1';
  bincode += '\1';
  EXPECT_EQ(recognized(bincode), "dbcop");
}

// Its records are those of a Cobra log, and its lengths and counts those of a bincode.
TEST(Recognition, AFileThatCanBeTwoFormatsSaysSoAndNamesTheOption) {
  std::string bytes(102, '\0');
  for (const std::size_t at : {0, 9, 18, 27}) bytes[at] = 'S';
  bytes[36] = bytes[69] = 'R';
  bytes[40] = 30;  // characters in the first text, from 48 on
  for (std::size_t at = 48; at < 78; ++at) bytes[at] = at == 69 ? 'R' : 'x';
  const ScratchFolder folder;
  const auto path = folder.file("x", bytes);
  const auto format = detect(path);
  ASSERT_FALSE(format.ok());
  EXPECT_EQ(format.error().message,
            "found a file that can be dbcop or cobra; name its format with -f dbcop or -f cobra");
  EXPECT_EQ(format.error().file, path);
}

// A damaged file is still taken for what it was, so that its reader names the damage.
TEST(Recognition, ADamagedFileGoesToItsReader) {
  auto bincode = dbcop(little(0));
  bincode.pop_back();
  EXPECT_EQ(recognized(bincode), "dbcop");
  auto log = cobra(1) + cobra(2);
  log.pop_back();
  EXPECT_EQ(recognized(log), "cobra");
  EXPECT_EQ(recognized("\x89"
                       "CUPEL\n"),
            "cupel");
}

TEST(Recognition, ACertificateIsCalledOne) {
  for (const char* text : {R"({"cupel_certificate": 1, "history": {}})",
                           R"({"cupel_certificate_windows":1,"level":"prefix"})",
                           R"({"cupel_crdt_certificate":1,"type":"list"})"}) {
    const auto found = recognize("c.json", text, false);
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.error().message.find("found a certificate"), std::string::npos)
        << found.error().message;
  }
}

// The 22 published histories of which the id was taken for the type of a Cobra record.
TEST(Recognition, IdsThatSpellCobraRecordTypes) {
  for (const std::uint64_t id : {67, 82, 83, 87}) {
    const ScratchFolder folder;
    folder.file("history/history.bincode", dbcop(little(id)));
    const auto history = read(folder.path("history"));
    ASSERT_TRUE(history.ok()) << id << ": " << history.error().to_string();
    EXPECT_EQ(history->metadata().at("format"), "dbcop");
  }
}

// `cupel explain FORMAT` prints it.
TEST(Registry, TheExampleOfAFormatIsAHistoryInIt) {
  const auto is_text = [](const std::string& file) {
    return std::all_of(file.begin(), file.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x7f && (c >= ' ' || c == '\n' || c == '\t');
    });
  };
  for (const auto* spec : all_specs()) {
    const auto files = valid_files(spec->format);
    ASSERT_FALSE(files.empty()) << "valid_files() has no case of " << spec->name;
    EXPECT_NE(spec->example.empty(), is_text(files.front()))
        << spec->name << ": a text format has an example, a binary format has none";
    if (spec->example.empty()) continue;
    const auto format = recognize("file", spec->example, spec->in_logs);
    ASSERT_TRUE(format.ok()) << spec->name << ": " << format.error().to_string();
    EXPECT_EQ(name(*format), spec->name);
    const auto h = spec->read({.path = "file", .files = {{"J1.log", spec->example}}}, {});
    ASSERT_TRUE(h.ok()) << spec->name << ": " << h.error().to_string();
    EXPECT_EQ(h->status(TxnId(0)), TxnStatus::kCommitted) << spec->name;
  }
}

// What the registry says of a format is what the documentation and the options need.
TEST(Registry, EveryFormatHasAPageAndOneName) {
  std::vector<std::string> endings = written_extensions();
  for (const auto* spec : all_specs()) {
    EXPECT_EQ(&spec_of(spec->format), spec);
    EXPECT_EQ(parse_format(spec->name), spec->format);
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(CUPEL_SOURCE_DIR) / spec->page))
        << "write the page of " << spec->name << ", " << spec->page;
    EXPECT_EQ(spec->write == nullptr, spec->extensions[0].ending.empty()) << spec->name;
  }
  const std::string index = "docs/reference/formats/README.md";
  const auto table = file_bytes(std::string(CUPEL_SOURCE_DIR) + "/" + index);
  for (const auto* spec : all_specs()) {
    const auto row = "\n| " + std::string(spec->name) + " | ";
    EXPECT_TRUE(table.find(row) != std::string::npos)
        << index << ": the table of the formats has no row that begins with `| " << spec->name
        << " | `";
  }
  for (const std::string file :
       {"include/cupel/check.hpp", "include/cupel/cupel.h", "node/index.d.ts"}) {
    const auto text = file_bytes(std::string(CUPEL_SOURCE_DIR) + "/" + file);
    for (const auto* spec : all_specs()) {
      EXPECT_TRUE(text.find('"' + std::string(spec->name) + '"') != std::string::npos)
          << file << ": its list of the formats lacks " << spec->name;
    }
  }
  for (const auto& ending : endings) {
    ASSERT_TRUE(options_of_extension(ending)) << ending;
  }
  EXPECT_EQ(std::set<std::string>(endings.begin(), endings.end()).size(), endings.size());
}

}  // namespace
}  // namespace cupel::formats

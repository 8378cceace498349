// Fuzz target: the verifier of certificates, on four small histories whose verdicts
// are known. Whatever it is given, it does not crash; and what it accepts is true.
#include "data/formats/jepsen_reader.hpp"
#include "engine/certify/verify.hpp"
#include "touch_history.hpp"

namespace {

using cupel::history::History;

struct Expected {
  const char* history;
  std::string_view satisfied;  // these levels, and of those with a meaning no other
};

constexpr Expected kExpected[] = {
    // A lost update, and a read of what won.
    {R"({:type :invoke :process 0 :f :txn :time 1 :value [[:r "x" nil] [:w "x" 1]]}
{:type :invoke :process 1 :f :txn :time 2 :value [[:r "x" nil] [:w "x" 2]]}
{:type :ok :process 0 :f :txn :time 3 :value [[:r "x" nil] [:w "x" 1]]}
{:type :ok :process 1 :f :txn :time 4 :value [[:r "x" nil] [:w "x" 2]]}
{:type :invoke :process 0 :f :txn :time 5 :value [[:r "x" nil]]}
{:type :ok :process 0 :f :txn :time 6 :value [[:r "x" 2]]}
)",
     "read-committed read-atomic causal prefix"},
    // An element appended twice.
    {R"({:type :invoke :process 0 :f :txn :value [[:append "x" 1] [:append "x" 2]]}
{:type :ok :process 0 :f :txn :value [[:append "x" 1] [:append "x" 2]]}
{:type :invoke :process 1 :f :txn :value [[:append "x" 1]]}
{:type :ok :process 1 :f :txn :value [[:append "x" 1]]}
{:type :invoke :process 2 :f :txn :value [[:r "x" nil]]}
{:type :ok :process 2 :f :txn :value [[:r "x" [2 1]]]}
)",
     ""},
    // A compare-and-set that may have happened.
    {R"({:type :invoke :process 0 :f :txn :time 1 :value [[:cas "x" [5 2]]]}
{:type :info :process 0 :f :txn :time 2 :value [[:cas "x" [5 2]]]}
{:type :invoke :process 1 :f :txn :time 3 :value [[:w "y" 1] [:r "x" nil]]}
{:type :ok :process 1 :f :txn :time 4 :value [[:w "y" 1] [:r "x" 2]]}
{:type :invoke :process 2 :f :txn :time 5 :value [[:r "y" nil] [:w "x" 5]]}
{:type :ok :process 2 :f :txn :time 6 :value [[:r "y" 1] [:w "x" 5]]}
)",
     ""},
    // Half of one transaction and half of another.
    {R"({:type :invoke :process 0 :f :txn :value [[:w "x" 1] [:w "y" 1]]}
{:type :ok :process 0 :f :txn :value [[:w "x" 1] [:w "y" 1]]}
{:type :invoke :process 1 :f :txn :value [[:w "x" 2] [:w "y" 2]]}
{:type :ok :process 1 :f :txn :value [[:w "x" 2] [:w "y" 2]]}
{:type :invoke :process 2 :f :txn :value [[:r "x" nil] [:r "y" nil]]}
{:type :ok :process 2 :f :txn :value [[:r "x" 1] [:r "y" 2]]}
)",
     "read-committed"},
};

const std::vector<History>& histories() {
  static const std::vector<History> read = [] {
    std::vector<History> all;
    for (const auto& known : kExpected) {
      auto history = cupel::formats::read_jepsen(known.history, "known", 1);
      cupel::fuzz::require(history.ok(), "a known history is read");
      all.push_back(std::move(*history));
    }
    return all;
  }();
  return read;
}

bool names(std::string_view list, std::string_view level) {
  for (std::size_t at = 0; (at = list.find(level, at)) != list.npos; ++at) {
    const auto end = at + level.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (std::size_t i = 0; i < std::size(kExpected); ++i) {
    const auto report = certify::verify(histories()[i], bytes);
    if (report.validity != certify::Validity::kValid) {
      fuzz::require(!report.reason.empty() && report.answers.empty(),
                    "a refusal says why, and nothing else");
      continue;
    }
    for (const auto& answer : report.answers) {
      fuzz::require(answer.satisfied == names(kExpected[i].satisfied, answer.level),
                    "what is accepted is true");
    }
  }
  return 0;
}

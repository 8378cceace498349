// coq_file: see the header. Each line of the certificate becomes a term of the type that
// proofs/extracted/main.ml makes of it. A wrong term is rejected by Coq, so none of this is to
// be trusted but the text of the history.
#include "apps/coq_file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <vector>

namespace cupel::apps {

namespace {

using Words = std::vector<std::string_view>;

constexpr std::array<std::string_view, 12> kLevels = {"ReadCommitted",
                                                      "ReadAtomic",
                                                      "Causal",
                                                      "Prefix",
                                                      "SnapshotIsolation",
                                                      "GeneralizedSI",
                                                      "StrongSessionSI",
                                                      "StrongSI",
                                                      "Serializable",
                                                      "StrongSessionSerializable",
                                                      "StrictSerializable",
                                                      "Linearizable"};

// The arguments of each axiom: n a number, w a writer, b a flag, l a list of numbers.
struct AxiomForm {
  std::string_view word, name, arguments;
};
constexpr AxiomForm kAxioms[] = {{"own", "Own", "n"},
                                 {"so", "Session", "nn"},
                                 {"rt", "RealTime", "nn"},
                                 {"wr", "Reads", "nnn"},
                                 {"candidates", "Candidates", "nn"},
                                 {"not", "NotFrom", "nnw"},
                                 {"counts", "SourceCounts", "nnn"},
                                 {"same", "SameVersion", "nnnw"},
                                 {"mismatch", "Mismatch", "nn"},
                                 {"ww", "NoOverlap", "nnn"},
                                 {"rw", "Overwritten", "nnwn"},
                                 {"list", "ListOrder", "nnnnnn"},
                                 {"conflict", "Conflict", "nnnn"},
                                 {"often", "TooOften", "nnnl"},
                                 {"within", "Within", "bnnnn"},
                                 {"bound", "OneWithin", "bnnn"},
                                 {"stands", "Stands", "nnn"},
                                 {"fits", "Fits", "nnnn"},
                                 {"places", "Places", "nnnnn"},
                                 {"precedes", "Precedes", "nnnnn"},
                                 {"ends", "Ends", "nnnn"},
                                 {"owns", "OwnBegins", "nnn"},
                                 {"appended", "PlaceCounts", "nnn"}};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string list(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, "; "));
}
std::string writer(std::string_view word) {
  return word == "-" ? "None" : fmt::format("(Some {})", word);
}
std::string_view flag(std::string_view word) {
  return word == "1" ? "true" : "false";
}
std::string_view level(std::string_view word) {
  std::size_t number = kLevels.size();
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number < kLevels.size() ? kLevels[number] : "no_level";
}

std::string path(const Words& words, std::size_t i) {
  std::vector<std::string> hops;
  while (i < words.size()) {
    const bool by_session = words[i] == "so";
    hops.push_back(by_session ? fmt::format("BySession {}", words.at(i + 1))
                              : fmt::format("{} {} {}", words[i] == "wr" ? "ByRead" : "ByLater",
                                            words.at(i + 1), words.at(i + 2)));
    i += by_session ? 2 : 3;
  }
  return list(hops);
}

// From words[2] on.
std::string axiom(const Words& words) {
  if (words.at(2) == "cycle") {
    std::vector<std::string> events;
    for (std::size_t i = 3; i < words.size(); i += 2)
      events.push_back(fmt::format("({}, {})", flag(words[i]), words.at(i + 1)));
    return "Cycle " + list(events);
  }
  if (words[2] == "visible") {
    return fmt::format("Visible {} {} {} {} {}", words.at(3), words.at(4), writer(words.at(5)),
                       words.at(6), path(words, 7));
  }
  for (const AxiomForm& form : kAxioms) {
    if (form.word != words[2]) continue;
    std::string text(form.name);
    for (std::size_t i = 0; i < form.arguments.size(); ++i) {
      text += ' ';
      if (form.arguments[i] == 'l') {
        text += list(std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(i + 3),
                                              words.end()));
        break;
      }
      const auto word = words.at(i + 3);
      text += form.arguments[i] == 'w'   ? writer(word)
              : form.arguments[i] == 'b' ? std::string(flag(word))
                                         : std::string(word);
    }
    return text;
  }
  return "no_axiom";
}

std::string derived(const Words& words) {
  std::vector<std::string> literals, hints;
  std::size_t i = 2;
  while (words.at(i) != "/") {
    const auto sign = flag(words[i]);
    const auto kind = words.at(i + 1);
    if (kind == "<") {
      literals.push_back(fmt::format("({}, Lt {} {} {} {})", sign, flag(words.at(i + 2)),
                                     words.at(i + 3), flag(words.at(i + 4)), words.at(i + 5)));
      i += 6;
    } else if (kind == "s") {
      literals.push_back(fmt::format("({}, Saw {} {} {})", sign, words.at(i + 2), words.at(i + 3),
                                     writer(words.at(i + 4))));
      i += 5;
    } else if (kind == "b") {
      literals.push_back(fmt::format("({}, Begins {} {} {})", sign, words.at(i + 2),
                                     words.at(i + 3), words.at(i + 4)));
      i += 5;
    } else if (kind == "e" || kind == "f") {
      literals.push_back(fmt::format("({}, Bounded {} {} {} {})", sign,
                                     flag(kind == "e" ? "1" : "0"), words.at(i + 2),
                                     words.at(i + 3), words.at(i + 4)));
      i += 5;
    } else {
      literals.push_back(fmt::format("({}, Lives {})", sign, words.at(i + 2)));
      i += 3;
    }
  }
  for (++i; i < words.size(); ++i) hints.emplace_back(words[i]);
  return fmt::format("Derived {} {} {}", words.at(1), list(literals), list(hints));
}

class Writer {
 public:
  std::string run(std::string_view certificate) {
    for (const auto text : split(certificate, '\n')) line(split(text, ' '));
    close();
    std::string text = "Definition proofs : list proof := [";
    text += fmt::format("{}", fmt::join(proofs_, ";"));
    text += "\n].\nDefinition answers : list answer := [\n  ";
    text += fmt::format("{}", fmt::join(answers_, ";\n  "));
    text += "\n].\n";
    return text;
  }
  [[nodiscard]] const std::vector<std::string>& theorems() const { return theorems_; }

 private:
  void line(const Words& words) {
    if (words.empty()) return;
    const auto word = words.front();
    if (word == "P") {
      close();
      level_ = level(words.at(1));
      kind_ = words.at(2);
    } else if (word == "X") {
      for (std::size_t i = 1; i < words.size(); ++i) ids_.emplace_back(words[i]);
    } else if (word == "W") {
      std::vector<std::string> writers;
      for (std::size_t i = 2; i < words.size(); ++i) writers.push_back(writer(words[i]));
      items_.push_back(fmt::format("({}, {})", words.at(1), list(writers)));
    } else if (word == "K") {
      close_key();
      key_ = words.at(1);
    } else if (word == "A") {
      items_.push_back(fmt::format("Given {} ({})", words.at(1), axiom(words)));
    } else if (word == "R") {
      items_.push_back(derived(words));
    } else {
      close();
      const bool satisfied = words.at(2) == "1";
      theorems_.push_back(
          fmt::format("{} h {{}} {}", satisfied ? "satisfies" : "violates", level(words.at(1))));
      answers_.push_back(
          fmt::format("Answer {} {} {}%nat", level(words.at(1)), flag(words.at(2)), words.at(3)));
    }
  }
  void close_key() {
    if (kind_ == "orders" && !key_.empty())
      items_.push_back(fmt::format("({}, {})", key_, list(ids_)));
    if (kind_ == "orders") ids_.clear();
  }
  void close() {
    if (kind_.empty()) return;
    close_key();
    std::string shown;
    const auto lines = fmt::format("[\n    {}]", fmt::join(items_, ";\n    "));
    if (kind_ == "order") shown = "ByOrder " + list(ids_);
    if (kind_ == "orders") shown = "ByOrders " + lines;
    if (kind_ == "weak") shown = "ByWeak " + lines;
    if (kind_ == "steps")
      shown = key_.empty() ? "BySteps " + lines : fmt::format("ByStepsOn {} {}", key_, lines);
    proofs_.push_back(
        fmt::format("\n  Proof {} {} ({})", level_, kind_ == "steps" ? "false" : "true", shown));
    ids_.clear();
    items_.clear();
    key_ = {};
    kind_ = {};
  }

  std::string_view level_, kind_, key_;
  std::vector<std::string> ids_, items_, proofs_, answers_, theorems_;
};

// As a string of Coq: a quote is two.
std::string quoted(std::string_view line) {
  std::string text = "\"";
  for (const char c : line) {
    text += c;
    if (c == '"') text += c;
  }
  return text + "\"";
}

}  // namespace

base::Result<std::string> coq_file(std::string_view history, std::string_view certificate,
                                   history::Time drift) {
  std::vector<std::string> lines;
  for (const auto line : split(history, '\n')) lines.push_back(quoted(line));
  Writer writer;
  const std::string proofs = writer.run(certificate);
  if (writer.theorems().empty())
    return base::Error{.message = "--coq: no answer of the certificate has a proof for Coq"};
  std::string text = fmt::format(
      "(* Written by `cupel verify --proved --coq`. Coq's kernel accepts it with the files of\n"
      "   cupel's proofs/: tools/prove.sh makes them, then coqc -Q build/proofs Cupel FILE. *)\n"
      "From Coq Require Import List String Uint63.\n"
      "From Cupel Require Import History Levels Clauses Derivation Verify Text.\n"
      "Import ListNotations.\n"
      "Local Open Scope uint63_scope.\n\n"
      "(* The canonical text of the history: a line for each transaction and operation. *)\n"
      "Definition text : list string := [\n  {}\n]%string.\n\n{}\n"
      "Lemma decided : decides text {} proofs answers = true.\n"
      "Proof. vm_compute. reflexivity. Qed.\n",
      fmt::join(lines, ";\n  "), proofs, drift);
  std::size_t n = 0;
  for (const std::string& theorem : writer.theorems()) {
    text += fmt::format(
        "\nTheorem answer_{0} : exists h, read text = Some h /\\ {1}.\n"
        "Proof. exact (decides_nth text {2} proofs answers {0} _ decided eq_refl). Qed.\n",
        n, fmt::format(fmt::runtime(theorem), drift), drift);
    ++n;
  }
  return text;
}

}  // namespace cupel::apps

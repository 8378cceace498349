// The certificate of a history of objects: see the header. Fields are visited one by one, so that
// an unknown or repeated one is found.
#include "engine/certify/object_certificate.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/simdjson_first_use.hpp"
#include "engine/certify/object_proofs.hpp"

namespace cupel::certify {

namespace {

namespace dom = simdjson::dom;
using history::ObjectHistory;

constexpr std::string_view kField = "\"cupel_object_certificate\"";

// Thrown and caught in this file only.
struct ObjectTrouble {
  std::string what;
};

[[noreturn]] void reject(std::string what) {
  throw ObjectTrouble{std::move(what)};
}

struct ObjectProof {
  std::optional<std::uint32_t> object;
  bool has_order = false;
  std::vector<std::uint32_t> order;
  ObjectPattern pattern;
};

struct ObjectDocument {
  std::uint64_t version = 0;
  std::string kind, digest, verdict;
  std::vector<ObjectProof> proofs;
};

std::uint64_t number(dom::element value, std::string_view field, std::uint64_t most) {
  std::uint64_t found = 0;
  if (value.get(found) != simdjson::SUCCESS || found > most)
    reject(fmt::format("{}: expected a number up to {}", field, most));
  return found;
}

std::string text(dom::element value, std::string_view field) {
  std::string_view found;
  if (value.get(found) != simdjson::SUCCESS) reject(fmt::format("{}: expected a string", field));
  return std::string(found);
}

std::vector<std::uint32_t> ids(dom::element value, std::string_view field) {
  dom::array found;
  if (value.get(found) != simdjson::SUCCESS) reject(fmt::format("{}: expected a list", field));
  std::vector<std::uint32_t> all;
  for (const auto one : found)
    all.push_back(
        static_cast<std::uint32_t>(number(one, field, std::numeric_limits<std::uint32_t>::max())));
  return all;
}

// Calls `take` for each field; it returns false if it knows no such field.
template <typename Take>
void fields(dom::element value, std::string_view where, Take take) {
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) reject(fmt::format("{}: expected an object", where));
  std::set<std::string_view> seen;
  for (const auto field : object) {
    if (!seen.insert(field.key).second)
      reject(fmt::format("{}: found the field {} twice", where, field.key));
    if (!take(field.key, field.value))
      reject(fmt::format("{}: found the unknown field {}", where, field.key));
  }
}

ObjectProof proof_of(dom::element value) {
  constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
  ObjectProof proof;
  fields(value, "proofs", [&](std::string_view name, dom::element field) {
    if (name == "object") {
      proof.object = static_cast<std::uint32_t>(number(field, name, kMost));
    } else if (name == "order") {
      proof.has_order = true;
      proof.order = ids(field, name);
    } else if (name == "pattern") {
      proof.pattern.name = text(field, name);
    } else if (name == "operations") {
      proof.pattern.ops = ids(field, name);
    } else if (name == "elements") {
      proof.pattern.elements = ids(field, name);
    } else {
      return false;
    }
    return true;
  });
  if (!proof.object) reject("proofs: expected the field object");
  if (proof.has_order == !proof.pattern.name.empty())
    reject("proofs: expected either an order or a pattern");
  proof.pattern.object = *proof.object;
  return proof;
}

ObjectDocument document_of(dom::element root) {
  ObjectDocument document;
  fields(root, "the certificate", [&](std::string_view name, dom::element value) {
    if (name == "cupel_object_certificate") {
      document.version = number(value, name, std::numeric_limits<std::uint64_t>::max());
    } else if (name == "kind") {
      document.kind = text(value, name);
    } else if (name == "history") {
      fields(value, name, [&](std::string_view part, dom::element of) {
        if (part == "digest") document.digest = text(of, part);
        return part == "digest" || part == "operations" || part == "objects";
      });
    } else if (name == "clock_drift_ns") {
      number(value, name, std::uint64_t{1} << 61);
    } else if (name == "verdict") {
      document.verdict = text(value, name);
    } else if (name == "proofs") {
      dom::array proofs;
      if (value.get(proofs) != simdjson::SUCCESS) reject("proofs: expected a list");
      for (const auto proof : proofs) document.proofs.push_back(proof_of(proof));
    } else {
      return false;
    }
    return true;
  });
  return document;
}

ProvenAnswer satisfied(const ObjectHistory& h, const ObjectDocument& document) {
  ObjectReplay replay(h);
  std::vector<bool> shown(h.objects.size());
  std::size_t operations = 0;
  for (const auto& proof : document.proofs) {
    if (!proof.has_order) reject("found a pattern among the proofs of satisfied");
    if (*proof.object >= shown.size()) reject(fmt::format("there is no object {}", *proof.object));
    if (shown[*proof.object]) reject(fmt::format("object {} has two orders", *proof.object));
    shown[*proof.object] = true;
    if (auto wrong = replay.replay(*proof.object, proof.order); !wrong.empty())
      reject(fmt::format("object {}: {}", *proof.object, wrong));
    operations += proof.order.size();
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i]) reject(fmt::format("object {} has no order", i));
  }
  return {
      .level = "linearizable",
      .satisfied = true,
      .proof = 0,
      .how = shown.size() == 1
                 ? fmt::format("an order of {} operation{}", operations, operations == 1 ? "" : "s")
                 : fmt::format("orders of {} operations on {} objects", operations, shown.size()),
      .by_level = {}};
}

ProvenAnswer violated(const ObjectHistory& h, const ObjectDocument& document) {
  if (document.proofs.size() != 1 || document.proofs[0].has_order)
    reject("expected one pattern as the proof of violated");
  const auto& pattern = document.proofs[0].pattern;
  if (pattern.object >= h.objects.size())
    reject(fmt::format("there is no object {}", pattern.object));
  const auto ops = h.by_object()[pattern.object];
  if (auto wrong = refute(h, pattern, ops); !wrong.empty()) reject(std::move(wrong));
  return {.level = "linearizable",
          .satisfied = false,
          .proof = 0,
          .how = fmt::format("{}, of {} operation{}", pattern.name, pattern.ops.size(),
                             pattern.ops.size() == 1 ? "" : "s"),
          .by_level = {}};
}

}  // namespace

bool is_object_certificate(std::string_view certificate_json) {
  const auto brace = certificate_json.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || certificate_json[brace] != '{') return false;
  const auto field = certificate_json.find_first_not_of(" \t\r\n", brace + 1);
  return field != std::string_view::npos && certificate_json.substr(field).starts_with(kField);
}

Report verify_objects(ObjectHistory& history, std::string_view certificate_json,
                      history::Time clock_drift_ns) {
  base::prepare_simdjson();
  const auto not_valid = [](std::string reason) {
    return Report{.validity = Validity::kNotValid, .reason = std::move(reason), .answers = {}};
  };
  dom::parser parser;
  const simdjson::padded_string padded(certificate_json);
  dom::element root;
  if (parser.parse(padded).get(root) != simdjson::SUCCESS)
    return {.reason = "found a certificate that is not well-formed JSON", .answers = {}};
  try {
    const auto document = document_of(root);
    if (document.version != 1)
      return {
          .reason = fmt::format("the certificate has version {}, and this program knows version 1",
                                document.version),
          .answers = {}};
    if (document.kind != history::name(history.kind)) {
      return not_valid(fmt::format("the certificate is of a {}, and the history of a {}{}",
                                   document.kind, history::name(history.kind), kReadAsChecked));
    }
    if (document.digest != fmt::format("{:016x}", digest(history)))
      return not_valid(fmt::format("the certificate is of another history{}", kReadAsChecked));
    history.allow_drift(clock_drift_ns);
    if (document.verdict != "satisfied" && document.verdict != "violated")
      return not_valid("verdict: expected satisfied or violated");
    Report report{.validity = Validity::kValid, .reason = {}, .answers = {}};
    report.answers.push_back(document.verdict == "satisfied" ? satisfied(history, document)
                                                             : violated(history, document));
    return report;
  } catch (const ObjectTrouble& trouble) {
    return not_valid(trouble.what);
  }
}

}  // namespace cupel::certify

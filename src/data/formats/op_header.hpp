// Op header: the lines that cupel writes before the operations (docs/reference/formats/jepsen.md):
// metadata, the order of the sessions, initial values. Every reader derives from Contents and says
// there where these go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/formats/jepsen_events.hpp"
#include "data/formats/op_pairing.hpp"
#include "data/history/scalar.hpp"

namespace cupel::formats::jepsen {

class Contents {
 public:
  // A header line.
  Refusal take_header(const Chunk& chunk, const Event& event);
  // The key starts with this value: a header or a set-up says so.
  Refusal start_with(history::ScalarView key, history::ScalarView value);
  // Whether a key starts with a collection, so that a read may return one.
  [[nodiscard]] bool collection_held() const { return collection_held_; }
  // Whether the value of all keys is one.
  [[nodiscard]] bool starts_as_collection() const { return starts_as_collection_; }
  // Whether the metadata say so: cupel wrote them for a run without operations.
  [[nodiscard]] bool says_nothing_happened() const { return says_nothing_happened_; }
  // The kind of the workload that the metadata name: of what became these transactions.
  [[nodiscard]] const std::string& said_kind() const { return said_kind_; }

 protected:
  ~Contents() = default;

  virtual void set_fact(std::string_view name, std::string_view text) = 0;
  virtual void set_sessions(const std::vector<std::string_view>& names) = 0;
  // Whether initial values may come here; the refusal says why not.
  [[nodiscard]] virtual Refusal may_set_initial() const { return {}; }
  virtual void set_default_initial(history::ScalarView value) = 0;
  // `is_register`: the value is none of a list.
  virtual Refusal set_initial(history::ScalarView key, history::ScalarView value,
                              bool is_register) = 0;

 private:
  Refusal take_metadata(const Chunk& chunk, const Cell& pairs);
  Refusal take_sessions(const Chunk& chunk, const Cell& names);
  Refusal take_initial(const Chunk& chunk, const Cell& value);

  bool collection_held_ = false, starts_as_collection_ = false, says_nothing_happened_ = false;
  std::string said_kind_;
};

}  // namespace cupel::formats::jepsen

// Strings: a store of strings with put, append and get, as registers of whole strings.
// What an append did is learnt from the gets: a get of p ++ t … shows that some
// append of t found p and left p ++ t, a compare-and-set that succeeded. An
// append that no get shows left a string nobody saw. Where one text was appended
// several times, only appends whose interval fits can have found a prefix:
// after everything in the prefix was invoked, before the get completed. If that
// leaves a choice the history is refused, for a guess could be a false verdict.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/hash_table.hpp"
#include "data/formats/jepsen_pairs.hpp"

namespace cupel::formats::jepsen {

namespace {

using history::TxnStatus;

constexpr std::int64_t kNeverEnded = std::numeric_limits<std::int64_t>::max();

struct Sighting {
  std::string_view prefix;
  std::int64_t after, before;  // ordinals between which the append took effect
  std::int64_t last;           // when it was last seen
  bool recurs;                 // the prefix can have come about more than once
};
struct Token {
  std::uint32_t puts = 0;
  std::int64_t first_invoked = kNeverEnded;
  std::vector<std::uint32_t> appends;  // indexes of p_.ops
  std::vector<Sighting> sightings;     // in file order
  bool seen_first = false;             // at the start of some get
};
struct Store {
  base::HashMap<std::string_view, Token> tokens;
  std::vector<std::size_t> lengths;  // of tokens, longest first
  bool emptied = false;              // some put wrote the empty string
  // When the first two writes of the key ended: an append that began later than
  // all but itself did not find the key empty.
  std::int64_t first_ended = kNeverEnded, second_ended = kNeverEnded;

  [[nodiscard]] bool may_be_first(std::int64_t append_invoked, std::int64_t append_ended) const {
    const auto other = append_ended == first_ended ? second_ended : first_ended;
    return emptied || append_invoked <= other;
  }
};

class Strings {
 public:
  Strings(Pairs& pairs, Reading& reading) : p_(pairs), reading_(reading) {}

  bool resolve();

 private:
  bool collect_tokens(base::HashMap<std::string, Store>& stores);
  void note_sightings(const PairedOp& get, Store& store);
  bool match(const Store& store, const Token& token,
             base::HashMap<std::uint32_t, std::string_view>& found);
  std::string store_name(const PairedOp& txn) const;
  std::int64_t invoked(const PairedOp& txn) const;
  std::int64_t ended(const PairedOp& txn) const;

  Pairs& p_;
  Reading& reading_;
};

std::int64_t Strings::invoked(const PairedOp& txn) const {
  return txn.invoke.valid() ? static_cast<std::int64_t>(p_.ordinal(txn.invoke)) : -1;
}
std::int64_t Strings::ended(const PairedOp& txn) const {
  return txn.status == TxnStatus::kIndeterminate || !txn.completion.valid()
             ? kNeverEnded
             : static_cast<std::int64_t>(p_.ordinal(txn.completion));
}

std::string Strings::store_name(const PairedOp& txn) const {
  std::string name;
  canonical(p_.chunks[txn.tried().chunk], p_.key(txn.tried()), name);
  return name;
}

bool Strings::collect_tokens(base::HashMap<std::string, Store>& stores) {
  for (std::uint32_t t = 0; t < p_.ops.size(); ++t) {
    reading_.step();
    const PairedOp& txn = p_.ops[t];
    const Ref from = txn.tried();
    const Event& e = p_.event(from);
    const auto found = [&](Ref ref) { return shown(p_.chunks[ref.chunk], p_.value(ref)); };
    if (p_.key(from).is_nothing()) {
      return p_.fail(e.byte, fmt::format("found f={} without a key, expected :key",
                                         word(p_.chunks[from.chunk], e)));
    }
    if (e.f == F::kGet) {
      if (txn.status == TxnStatus::kCommitted && p_.value(txn.completion).tag != Tag::kString &&
          !p_.value(txn.completion).is_nothing()) {
        return p_.fail(txn, "found a get of " + found(txn.completion) + ", expected a string");
      }
      continue;
    }
    if (p_.value(from).tag != Tag::kString) {
      return p_.fail(e.byte, fmt::format("found a {} of {}, expected a string",
                                         word(p_.chunks[from.chunk], e), found(from)));
    }
    if (txn.completion.valid() && !p_.value(txn.completion).is_nothing()) {
      const bool ok = txn.status == TxnStatus::kCommitted;
      const bool text = p_.value(txn.completion).tag == Tag::kString;  // else it may be an error
      if (text ? p_.value(txn.completion).view() != p_.value(from).view() : ok) {
        return p_.fail(
            txn, fmt::format("the \"{}\" of a {} has {}, and its invocation {}. Record the "
                             "invoked text in both lines{}",
                             ok                                  ? "ok"
                             : txn.status == TxnStatus::kAborted ? "fail"
                                                                 : "info",
                             word(p_.chunks[from.chunk], e), found(txn.completion), found(from),
                             ok ? "" : ", or leave it out of this one"));
      }
    }
    const auto text = p_.value(from).view();
    Store& store = stores[store_name(txn)];
    if (txn.status == TxnStatus::kCommitted) {
      const auto end = ended(txn);
      if (end < store.first_ended) {
        store.second_ended = std::exchange(store.first_ended, end);
      } else {
        store.second_ended = std::min(store.second_ended, end);
      }
    }
    if (text.empty()) {
      store.emptied = true;
      if (e.f == F::kPut) continue;
      return p_.fail(e.byte, "found an append of an empty string, expected some text");
    }
    Token& token = store.tokens[text];
    token.first_invoked = std::min(token.first_invoked, invoked(txn));
    if (e.f == F::kPut) {
      ++token.puts;
    } else {
      token.appends.push_back(t);
    }
  }
  for (auto& [name, store] : stores) {
    std::vector<std::string_view> sorted;
    bool appends = false;
    for (const auto& [text, token] : store.tokens) {
      sorted.push_back(text);
      store.lengths.push_back(text.size());
      appends = appends || !token.appends.empty();
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; appends && i < sorted.size(); ++i) {
      if (sorted[i].starts_with(sorted[i - 1])) {
        return p_.fail(0,
                       fmt::format("found key {} with a text that begins another of its texts, so "
                                   "that gets cannot be distinguished; expected texts such as "
                                   "\"x 0 1 y\"",
                                   name));
      }
    }
    std::sort(store.lengths.rbegin(), store.lengths.rend());
    store.lengths.erase(std::unique(store.lengths.begin(), store.lengths.end()),
                        store.lengths.end());
  }
  return true;
}

// Cuts what a get saw into the texts that were written, and notes each.
void Strings::note_sightings(const PairedOp& get, Store& store) {
  const auto whole = p_.value(get.completion).view();
  std::vector<std::pair<Token*, std::size_t>> path;
  for (std::size_t at = 0; at < whole.size();) {
    reading_.step();
    const auto before = at;
    for (const auto length : store.lengths) {
      if (length > whole.size() - at) continue;
      const auto token = store.tokens.find(whole.substr(at, length));
      if (token == store.tokens.end() || (at > 0 && token->second.appends.empty())) continue;
      path.emplace_back(&token->second, at);
      at += length;
      break;
    }
    if (at == before) return;  // no chain of writes makes this string: a thin-air read
  }
  std::int64_t after = -1;
  bool recurs = store.emptied;
  for (const auto& [token, offset] : path) {
    auto& sightings = token->sightings;
    const auto prefix = whole.substr(0, offset);
    // At the start it is a put if it can be; match() refuses what could be both.
    const bool append = !token->appends.empty() && !(offset == 0 && token->puts > 0);
    token->seen_first = token->seen_first || offset == 0;
    if (append && (sightings.empty() || token->appends.size() > 1)) {
      const auto same = std::find_if(sightings.begin(), sightings.end(),
                                     [&](const Sighting& s) { return s.prefix == prefix; });
      if (same == sightings.end()) {
        sightings.push_back({prefix, after, ended(get), ended(get), recurs});
      } else {
        same->before = std::min(same->before, ended(get));
        same->last = std::max(same->last, ended(get));
      }
    }
    after = std::max(after, token->first_invoked);
    recurs = (offset == 0 || recurs) && token->puts + token->appends.size() > 1;
  }
}

// Which append each sighting is of; found[t] is the prefix that p_.ops[t] found.
bool Strings::match(const Store& store, const Token& token,
                    base::HashMap<std::uint32_t, std::string_view>& found) {
  auto open = token.sightings;
  auto appends = token.appends;
  std::erase_if(appends, [&](std::uint32_t t) {
    return appends.size() > 1 && p_.ops[t].status == TxnStatus::kAborted;
  });
  if (appends.size() == 1 && !open.empty()) {  // any other prefix is a read of nothing written
    found[appends[0]] = open[0].prefix;
    return true;
  }
  for (bool progress = true; progress && !open.empty();) {
    reading_.step();
    progress = false;
    for (std::size_t i = 0; i < open.size(); ++i) {
      std::vector<std::uint32_t> fit;
      for (const auto t : appends) {
        if (ended(p_.ops[t]) > open[i].after && invoked(p_.ops[t]) < open[i].before)
          fit.push_back(t);
      }
      if (fit.size() > 1) continue;
      if (fit.size() == 1) {  // none: nothing can have written it, a thin-air read
        found[fit[0]] = open[i].prefix;
        std::erase(appends, fit[0]);
      }
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      progress = true;
      break;
    }
  }
  bool choice = !open.empty();
  for (const auto t : appends) {
    choice = choice || (token.seen_first && token.puts > 0 &&
                        store.may_be_first(invoked(p_.ops[t]), ended(p_.ops[t])));
  }
  for (const Sighting& s : token.sightings) {
    if (!s.recurs) continue;
    for (const auto t : appends) {
      choice = choice || (ended(p_.ops[t]) > s.after && invoked(p_.ops[t]) < s.last);
    }
  }
  if (!choice) return true;
  const PairedOp& txn = p_.ops[appends.back()];
  return p_.fail(
      txn, "found the text " + shown(p_.chunks[txn.tried().chunk], p_.value(txn.tried())) +
               " written to one key several times, so that gets do not show which append they "
               "show; expected distinct texts");
}

bool Strings::resolve() {
  base::HashMap<std::string, Store> stores;
  if (!collect_tokens(stores)) return false;
  for (const PairedOp& txn : p_.ops) {
    reading_.step();
    if (p_.event(txn).f != F::kGet || txn.status != TxnStatus::kCommitted) continue;
    const auto it = stores.find(store_name(txn));
    if (it != stores.end() && p_.value(txn.completion).tag == Tag::kString)
      note_sightings(txn, it->second);
  }
  base::HashMap<std::uint32_t, std::string_view> found;
  for (std::uint32_t t = 0; t < p_.ops.size(); ++t) {
    reading_.step();
    if (p_.event(p_.ops[t].tried()).f != F::kAppend) continue;
    Store& store = stores[store_name(p_.ops[t])];
    const Token& token = store.tokens[p_.value(p_.ops[t].tried()).view()];
    if (token.appends.front() == t && !match(store, token, found)) return false;
  }
  const auto whole = [](const Cell& cell) {  // "" is what a key holds at first
    return cell.is_nothing() || cell.size == 0 ? Cell::null() : cell;
  };
  for (std::uint32_t t = 0; t < p_.ops.size(); ++t) {
    reading_.step();
    PairedOp& txn = p_.ops[t];
    const Ref from = txn.tried();
    const Cell store = p_.scalar(p_.chunks[from.chunk], p_.key(from));
    const F f = p_.event(from).f;
    if (f == F::kGet) {
      const bool ok = txn.status == TxnStatus::kCommitted;
      p_.extra_op(txn, Micro::kRead, store, ok ? whole(p_.value(txn.completion)) : Cell::null(),
                  !ok);
    } else if (f == F::kPut) {
      p_.extra_op(txn, Micro::kWrite, store, whole(p_.value(from)));
    } else if (const auto it = found.find(t); it == found.end()) {
      const auto name = fmt::format("<append #{}>", p_.ordinal(txn.anchor()));
      p_.extra_op(txn, Micro::kWrite, store, Cell::of(Tag::kLiteral, p_.extra_chunk().keep(name)));
    } else {
      const auto prefix = it->second;
      const auto after = std::string(prefix) + std::string(p_.value(from).view());
      p_.extra_cas(txn, store, prefix.empty() ? Cell::null() : Cell::of(Tag::kString, prefix),
                   Cell::of(Tag::kString, p_.extra_chunk().keep(after)));
    }
  }
  return true;
}

}  // namespace

bool resolve_strings(Pairs& pairs, Reading& reading) {
  return Strings(pairs, reading).resolve();
}

}  // namespace cupel::formats::jepsen

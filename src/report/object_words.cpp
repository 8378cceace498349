// Violations of objects in words: see objects.hpp. One sentence says what happened; the pattern's
// name stands before it.
#include <fmt/format.h>

#include "data/history/naming.hpp"
#include "report/objects.hpp"

namespace cupel::report {

namespace {

using certify::ObjectPattern;
using history::ObjectHistory;
using history::ObjectOp;
using history::Time;

class ObjectWords {
 public:
  ObjectWords(const ObjectHistory& history, const ObjectPattern& pattern)
      : h_(history), p_(pattern) {}

  std::string sentence() const {
    const auto& name = p_.name;
    if (name == "set-duplicate") return fmt::format("{} returned {} twice.", op(0), element(0));
    if (name == "thin-air-read")
      return fmt::format("{} returned {}, which no operation added.", op(0), element(0));
    if (name == "aborted-read")
      return fmt::format("{} returned {}, and every add of it failed.", op(0), element(0));
    if (name == "set-future") {
      return fmt::format("{} returned {}, and it {} before any add of {} began.", op(0), element(0),
                         ended(0), element(0));
    }
    if (name == "set-fork") {
      return fmt::format(
          "{} returned {} and not {}; {} returned {} and not {}. Elements stay in the set, so the "
          "later of two reads has all elements of the earlier one.",
          op(0), element(0), element(1), op(1), element(1), element(0));
    }
    if (name == "set-stale") {
      return h_.ops[p_.ops[0]].call == history::Call::kAdd
                 ? fmt::format("{} {}; {} {} and does not have {}.", op(0), ended(0), op(1),
                               began(1), element(0))
                 : fmt::format("{} returned {} and {}; {} {} and does not have {}.", op(0),
                               element(0), ended(0), op(1), began(1), element(0));
    }
    if (name == "set-reverse") {
      return fmt::format("{} {}, before any add of {} began; {} has {} and not {}.", op(0),
                         ended(0), element(1), op(1), element(1), element(0));
    }
    if (name == "counter-step") {
      return fmt::format("{} returned {}, which no adds of these amounts make.", op(0), number(0));
    }
    if (name == "counter-range") return counter_range();
    if (name == "id-twice")
      return fmt::format("{} and {} both returned {}.", op(0), op(1), element(0));
    if (name == "thin-air-dequeue")
      return fmt::format("{} returned {}, which no operation enqueued.", op(0), element(0));
    if (name == "aborted-dequeue")
      return fmt::format("{} returned {}, and every enqueue of it failed.", op(0), element(0));
    if (name == "dequeued-too-often") return too_often();
    if (name == "fifo-order") {
      return fmt::format("{} {}; {} {}. So {} came first, but {} {}, and {} {}.", op(0), ended(0),
                         op(1), began(1), element(0), op(2), ended(2), op(3), began(3));
    }
    if (name == "fifo-lost") return lost();
    if (name == "bank-nil") return fmt::format("{} has an account without a balance.", op(0));
    if (name == "bank-accounts") return fmt::format("{} and {} have other accounts.", op(0), op(1));
    if (name == "bank-total") {
      return fmt::format("{} has the total {}, and {} has the total {}. Transfers keep the total.",
                         op(0), total(0), op(1), total(1));
    }
    if (name == "bank-range") {
      return fmt::format(
          "{} {} with {} in account {}; {} {} and has {}. No choice of the transfers between them "
          "explains the change.",
          op(0), ended(0), balance(0), element(0), op(1), began(1), balance(1));
    }
    if (name == "no-order") {
      return "No order of the operations explains the results. A search through all orders shows "
             "it.";
    }
    return {};
  }

 private:
  // How much may lie between two reads, or before one.
  [[nodiscard]] std::string counter_range() const {
    const bool two = p_.ops.size() == 2;
    const ObjectOp& last = h_.ops[p_.ops.back()];
    const ObjectOp* first = two ? &h_.ops[p_.ops.front()] : nullptr;
    __extension__ __int128 forced = 0, least = 0, most = 0;
    for (const auto& one : h_.ops) {
      if (one.object != p_.object || one.call != history::Call::kAdd || !one.possible()) continue;
      if (one.certain() && (first == nullptr || first->precedes(one)) && one.precedes(last)) {
        forced += one.number;
      } else if (!last.precedes(one) && (first == nullptr || !one.precedes(*first))) {
        (one.number < 0 ? least : most) += one.number;
      }
    }
    const auto from = static_cast<std::int64_t>(forced + least);
    const auto to = static_cast<std::int64_t>(forced + most);
    const auto range =
        from == to ? fmt::format("{}", from) : fmt::format("between {} and {}", from, to);
    if (!two) {
      return fmt::format("{} returned {}. The adds that may come before it add up to {}.", op(0),
                         number(0), range);
    }
    return fmt::format(
        "{} returned {}, and {}, which comes after it, returned {}. The adds that may come between "
        "them add up to {}.",
        op(0), number(0), op(1), number(1), range);
  }
  // How many enqueues had begun when the last of the dequeues ended.
  [[nodiscard]] std::string too_often() const {
    Time end = 0;
    std::size_t last = 0, begun = 0;
    for (std::size_t i = 0; i < p_.ops.size(); ++i) {
      if (i > 0 && h_.ops[p_.ops[i]].complete <= end) continue;
      end = h_.ops[p_.ops[i]].complete;
      last = i;
    }
    for (const auto& one : h_.ops) {
      begun += one.object == p_.object && one.call == history::Call::kEnqueue && one.possible() &&
                       h_.values_of(one)[0] == p_.elements[0] && one.invoke <= end
                   ? 1
                   : 0;
    }
    const auto times = [](std::size_t count, std::string_view noun) {
      return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
    };
    return fmt::format("{} {}. {} had returned {} by then, and {} of it had begun.", op(last),
                       ended(last), times(p_.ops.size(), "dequeue"), element(0),
                       begun == 0 ? "no enqueue" : times(begun, "enqueue"));
  }
  [[nodiscard]] std::string lost() const {
    auto text = fmt::format(
        "{} {}; {} {}. So {} came first, but {} returned {}, and no dequeue returned {}.", op(0),
        ended(0), op(1), began(1), element(0), op(2),
        history::shown(h_.elements.at(h_.values_of(h_.ops[p_.ops[2]])[0])), element(0));
    if (p_.elements.size() > 1) {
      text += fmt::format(
          " The same is true of {} more elements, and fewer dequeues of unknown outcome had begun.",
          p_.elements.size() - 1);
    }
    return text;
  }
  [[nodiscard]] std::int64_t total(std::size_t i) const {
    const ObjectOp& one = h_.ops[p_.ops[i]];
    std::uint64_t sum = 0;
    for (std::size_t j = 0; j < one.count; ++j)
      sum += static_cast<std::uint64_t>(h_.numbers[one.first + j]);
    return static_cast<std::int64_t>(sum);
  }
  // The balance of the account of the pattern.
  [[nodiscard]] std::int64_t balance(std::size_t i) const {
    const ObjectOp& one = h_.ops[p_.ops[i]];
    const auto accounts = h_.values_of(one);
    for (std::size_t j = 0; j < accounts.size(); ++j) {
      if (accounts[j] == p_.elements[0]) return h_.numbers[one.first + j];
    }
    return 0;
  }
  [[nodiscard]] std::int64_t number(std::size_t i) const { return h_.ops[p_.ops[i]].number; }

  [[nodiscard]] std::string element(std::size_t i) const {
    return history::shown(h_.elements.at(p_.elements[i]));
  }

  // "The add of 7 by process 3 (operation 12)".
  [[nodiscard]] std::string op(std::size_t i) const {
    const ObjectOp& one = h_.ops[p_.ops[i]];
    std::string argument;
    if (one.call == history::Call::kAdd || one.call == history::Call::kEnqueue) {
      argument = h_.kind == history::ObjectKind::kCounter
                     ? fmt::format(" of {}", one.number)
                     : " of " + history::shown(h_.elements.at(h_.values_of(one)[0]));
    }
    return fmt::format("the {}{} by process {} (operation {})", history::name(one.call), argument,
                       history::cut(h_.processes[one.process]), one.label);
  }

  [[nodiscard]] std::string at(Time time) const {
    return h_.times_are_places ? fmt::format("at place {} of the file", time)
                               : fmt::format("at {:.6f} s", static_cast<double>(time) / 1e9);
  }
  [[nodiscard]] std::string ended(std::size_t i) const {
    return "ended " + at(h_.ops[p_.ops[i]].complete);
  }
  [[nodiscard]] std::string began(std::size_t i) const {
    return "began " + at(h_.ops[p_.ops[i]].invoke);
  }

  const ObjectHistory& h_;
  const ObjectPattern& p_;
};

}  // namespace

std::string object_sentence(const ObjectHistory& history, const ObjectPattern& pattern) {
  auto text = ObjectWords(history, pattern).sentence();
  if (text.starts_with("the ")) text[0] = 'T';
  return text;
}

}  // namespace cupel::report

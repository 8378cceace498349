// Which append stands at which place of a list, and what the reads of a transaction have in
// common.
#include "engine/levels/accesses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "verdicts.hpp"

namespace cupel::levels {
namespace {

using history::OpId;
using history::TxnId;

// --- the places of elements appended twice ---

TxnId txn_of(const history::History& h, OpId op) {
  for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
    if (op.raw >= h.first_op(TxnId(t)) && op.raw < h.last_op(TxnId(t))) return TxnId(t);
  }
  return TxnId::none();
}

// Whose append is at each place of x and of y ("-": no choice, "?": open).
std::string one_placing(const history::History& h, const ListChoices& choices) {
  std::string all = "(";
  for (std::uint32_t k = 0; k < h.key_count(); ++k) {
    std::size_t longest = 0;
    for (std::uint32_t i = 0; i < h.op_count(); ++i) {
      const auto op = h.op(OpId(i));
      if (op.kind == history::OpKind::kListRead && op.key == history::KeyId(k))
        longest = std::max(longest, h.list(op).size());
    }
    all += k == 0 ? "" : ",";
    for (std::size_t p = 0; p < longest; ++p) {
      const OpId append = choices.at(history::KeyId(k), p).op;
      const bool open = choices.is_open(history::KeyId(k), p);
      all += p == 0 ? "" : " ";
      all += append.valid() ? name_of(h, txn_of(h, append)) : open ? "?" : "-";
    }
  }
  return all + ")";
}

// Fills the open places in every way.
void add_placings(const history::History& h, ListChoices& choices, std::string& all) {
  if (!choices.has_open()) {
    all += (all.empty() ? "" : " ") + one_placing(h, choices);
    return;
  }
  ListChoices filled = choices;
  filled.fill();
  const auto place = choices.next_open(filled, {});
  for (std::size_t append = 0; append < choices.append_count(place); ++append) {
    if (!choices.put(place, append)) continue;
    add_placings(h, choices, all);
    choices.open(place);
  }
}

std::string placings(const char* text) {
  const auto h = test::history_of(text);
  const ListChoices first(h);
  ListChoices choices(h);
  choices.open_all();
  std::string all;
  add_placings(h, choices, all);
  choices.fill();
  EXPECT_EQ(one_placing(h, choices), one_placing(h, first)) << text;
  EXPECT_TRUE(all.starts_with(one_placing(h, first))) << text;
  return all;
}

TEST(ListChoices, NoAppendStandsTwice) {
  EXPECT_EQ(placings("s1: a(x,1) | s2: a(x,1) | s3: l(x,[1 1])"), "(s1 s2) (s2 s1)");
  EXPECT_EQ(placings("s1: a(x,1) | s2: a(x,1) | s3: l(x,[1])"), "(s1) (s2)");
}
TEST(ListChoices, EveryOrderComesOnce) {
  EXPECT_EQ(placings("s1: a(x,1) | s2: a(x,1) | s3: a(x,1) | s4: l(x,[1 1 1])"),
            "(s1 s2 s3) (s1 s3 s2) (s2 s1 s3) (s2 s3 s1) (s3 s1 s2) (s3 s2 s1)");
}
TEST(ListChoices, TheFirstFollowsTheTimesOrElseTheSessions) {
  EXPECT_EQ(placings("s1: a(x,1)@5-6 | s2: a(x,1)@1-2 | s3: l(x,[1 1])@8-9"), "(s2 s1) (s1 s2)");
  EXPECT_EQ(placings("s1: a(x,1) ; a(x,1) | s2: a(x,1) | s3: l(x,[1 1 1])").substr(0, 12),
            "(s1 s2 s1.2)");
}
TEST(ListChoices, OnlyPlacesWithAChoiceHaveOne) {
  EXPECT_EQ(placings("s1: a(x,1) | s2: a(x,2) | s3: l(x,[1 2])"), "(- -)");
  EXPECT_EQ(placings("s1: a(x,1) | s2: a(x,1) a(x,2) | s3: l(x,[2 1])"), "(- s1) (- s2)");
}
TEST(ListChoices, KeysAreChosenApart) {
  EXPECT_EQ(placings("s1: a(x,1) | s2: a(x,1) | s3: l(x,[1]) | s4: a(y,1) | s5: l(y,[1])"),
            "(s1,-) (s2,-)");
  EXPECT_EQ(placings("s1: a(x,1) | s3: l(x,[1]) | s4: a(y,1) ; a(y,1) | s5: l(y,[1])"),
            "(-,s4) (-,s4.2)");
  EXPECT_EQ(placings("s1: a(x,1) | s2: a(x,1) | s3: l(x,[1]) | s4: a(y,1) ; a(y,1) | s5: l(y,[1])"),
            "(s1,s4) (s1,s4.2) (s2,s4) (s2,s4.2)");
}
TEST(ListChoices, AnElementOfWhichSomethingIsKnownIsNext) {
  const auto h = test::history_of(
      "s1: a(x,1) | s2: a(x,1) | s3: a(x,2) | s4: a(x,2) | s5: a(x,2) | s6: l(x,[1 1 2 2])");
  ListChoices choices(h);
  const ListChoices filled = choices;  // s1 s2 s3 s4
  choices.open_all();
  const auto after = [&](std::uint32_t append) {
    const std::vector<OpId> named = {OpId(append)};
    EXPECT_TRUE(choices.put(choices.next_open(filled, named), 0));
    const auto shown = one_placing(h, choices);
    choices.open_all();
    return shown;
  };
  EXPECT_EQ(after(0), "(s1 ? ? ?)");
  EXPECT_EQ(after(1), "(s1 ? ? ?)");
  EXPECT_EQ(after(3), "(? ? s3 ?)");
  EXPECT_EQ(after(4), "(? ? s3 ?)");  // s5's stands nowhere
  EXPECT_EQ(after(5), "(s1 ? ? ?)");  // no append
}
TEST(ListChoices, AbortedAppendsStandNowhere) {
  EXPECT_EQ(placings("s1: a(x,1) | s2: !a(x,1) | s3: l(x,[1])"), "(-)");
  EXPECT_EQ(placings("s1: a(x,1) | s2: ?a(x,1) | s3: l(x,[1])"), "(s1) (s2)");
}
TEST(ListChoices, WithMorePlacesThanAppendsThereIsNone) {
  EXPECT_EQ(placings("s1: a(x,1) | s2: a(x,1) | s3: l(x,[1 1 1])"), "(- - -)");
}

// --- what a placing rules out ---

// s1 read the element before it appended it, so the one it saw is the other, which comes later.
TEST(ListPlaces, AnElementIsNotTheReadersOwnStillToCome) {
  expect_apart(Level::kCausal, "s1: l(x,[1]) a(x,1) ; a(x,1) | s2: l(x,[1 1])",
               "s1: l(x,[1]) a(x,1) | a(x,1) | s2: l(x,[1 1])");
}
TEST(ListPlaces, OwnElementsAreTheLast) {
  expect_apart(Level::kCausal, "s1: a(x,1) l(x,[1 1]) ; a(x,1)", "s1: a(x,1) l(x,[1 1]) | a(x,1)");
}
TEST(ListPlaces, ElementsOfATransactionStandInProgramOrder) {
  expect_apart(Level::kReadCommitted, "s1: a(x,2) a(x,1) | s2: l(x,[1])",
               "s1: a(y,2) a(x,1) | s2: l(x,[1])");
  EXPECT_EQ(status_of("s1: a(x,1) a(x,2) a(x,3) | s2: l(x,[2 1 3])", Level::kReadCommitted),
            Verdict::kViolated);
  EXPECT_EQ(status_of("s1: a(x,1) a(x,2) a(x,3) | s2: l(x,[1 2 3])", Level::kReadCommitted),
            Verdict::kSatisfied);
}
TEST(ListPlaces, UnreadElementsComeAfterThoseRead) {
  expect_apart(Level::kCausal, "s1: a(x,2) ; a(x,1) | s2: l(x,[1])",
               "s1: a(x,2) | a(x,1) | s2: l(x,[1])");
}
TEST(ListPlaces, ElementsOfATransactionStandTogether) {
  expect_apart(Level::kReadCommitted, "s1: a(x,1) a(x,3) | s2: a(x,2) | s3: l(x,[1 2])",
               "s1: a(x,1) a(y,3) | s2: a(x,2) | s3: l(x,[1 2])");
}
TEST(ListPlaces, AReaderMayStillAppend) {
  expect_apart(Level::kReadCommitted, "s1: a(x,1) l(x,[2]) a(x,2)", "s1: a(x,1) l(x,[1]) a(x,2)");
}

// --- repeated reads ---

// The external reads of s9, with the writers that each may have seen, and what else all reads
// of the key have in common; and what is wrong in itself.
std::string reads(const char* text) {
  const auto h = test::history_of(text);
  base::Budget budget;
  const Accesses a = collect_accesses(h, ListChoices(h), {}, budget);
  const auto writers = [&](std::uint32_t first, std::uint32_t last) {
    std::string names;
    for (auto c = first; c < last; ++c) {
      const Owner w = a.candidates[c];
      names += " " + (w == kInitialOwner ? "init" : name_of(h, a.txns[w]));
    }
    return names;
  };
  std::string all;
  for (const ExternalRead& read : a.reads) {
    if (name_of(h, a.txns[read.owner]) != "s9") continue;
    all += all.empty() ? "" : ", ";
    all += (read.repeated ? "again" : "read") + writers(read.first_candidate, read.last_candidate);
    const auto joint = writers(read.joint_first, read.joint_last);
    if (joint != writers(read.first_candidate, read.last_candidate)) all += " jointly" + joint;
  }
  for (const InternalAnomaly& anomaly : a.internal) all += " " + std::string(name(anomaly.kind));
  return all;
}

TEST(RepeatedReads, TheFirstStandsForWhatAllMayHaveSeen) {
  EXPECT_EQ(reads("s1: w(x,1) | s2: w(x,2) | s9: cas!(x,2,9) r(x,1)"),
            "read s1 init jointly s1, again s1");
  EXPECT_EQ(reads("s1: w(x,1) | s2: w(x,2) | s9: cas!(x,2,9) r(x,nil)"),
            "read s1 init jointly init, again init");
  EXPECT_EQ(reads("s1: w(x,1) | s2: w(x,2) | s9: cas!(x,2,9) r(y,nil)"), "read s1 init, read init");
}
TEST(RepeatedReads, TheFirstStandsForThree) {
  EXPECT_EQ(reads("s1: w(x,1) | s2: w(x,2) | s9: cas!(x,3,9) cas!(x,2,9) r(x,1)"),
            "read s1 s2 init jointly s1, again s1 init, again s1");
  EXPECT_EQ(reads("s1: w(x,1) | s2: w(x,2) | s9: cas!(x,3,9) cas!(x,2,9) r(x,2)"),
            "read s1 s2 init jointly s1 init, again s1 init, again s2 non-repeatable-read");
}
TEST(RepeatedReads, ListsOfCandidatesThatReadsShareAreMetToo) {
  EXPECT_EQ(reads("s1: w(x,1) | s2: w(x,1) | s3: w(x,2) | s9: cas!(x,2,9) r(x,1)"),
            "read s1 s2 init jointly s1 s2, again s1 s2");
  EXPECT_EQ(reads("s1: w(x,1) | s2: w(x,1) | s3: w(x,2) | s9: r(x,1) r(x,1)"),
            "read s1 s2, again s1 s2");
}
TEST(RepeatedReads, FurtherRowsOfARangeAreNoReads) {
  EXPECT_EQ(reads("s1: w(x,1) | s2: w(x,2) | s9: range(w,y,[x=2 x=1 x=nil x=2])"),
            "read s2 non-repeatable-read");
  EXPECT_EQ(reads("s1: w(x,1) | s9: range(w,y,[x=1 x=2])"), "read s1 thin-air-read");
  EXPECT_EQ(reads("s1: w(x,1) | s2: w(x,2) | s9: r(x,1) range(w,y,[x=2 x=1])"),
            "read s1, again s2 non-repeatable-read non-repeatable-read");
}
TEST(RangeReads, OfKeysThatDatabasesOrderDifferentlyMissNothing) {
  EXPECT_EQ(reads("s1: w(B,1) | s9: range(A,C,[])"), "read init");
  EXPECT_EQ(reads("s1: w(B,1) | s9: range(A,b,[])"), "");
  EXPECT_EQ(reads("s1: w(B,1) | s9: range(A,b,[B=1])"), "read s1");
  EXPECT_EQ(reads("s9: w(B,1) range(A,b,[])"), "") << "its own write, too";
}
// A range read that does not return a list saw it empty.
TEST(RangeReads, MissAListToWhichTheWriterOfASeenValueAppended) {
  for (const Level level : {Level::kReadCommitted, Level::kCausal, Level::kSerializable}) {
    expect_apart(level, "s1: a(k5,1) w(k6,2) | s2: r(k6,2) range(k5,k5,[])",
                 "s1: a(k5,1) w(k6,2) | s2: r(k6,nil) range(k5,k5,[])");
  }
  // An aborted append, and one of unknown outcome, need not be there.
  for (const char* append : {"s1: !a(k5,1)", "s1: ?a(k5,1)"}) {
    const auto text = std::string(append) + " | s2: r(k6,nil) range(k5,k6,[])";
    EXPECT_EQ(status_of(text.c_str(), Level::kSerializable), Verdict::kSatisfied) << text;
  }
}

TEST(RangeReads, MissAListOfTheirOwn) {
  expect_apart(Level::kReadCommitted, "s1: a(k5,1) range(k5,k6,[])", "s1: a(k5,1) range(k6,k6,[])");
  EXPECT_EQ(status_of("s1: range(k5,k6,[]) a(k5,1)", Level::kSerializable), Verdict::kSatisfied);
}

TEST(RangeReads, OfAListAreRepeatable) {
  for (const char* reads : {"range(k5,k5,[]) l(k5,[1])", "l(k5,[1]) range(k5,k5,[])"}) {
    const auto text = std::string("s1: a(k5,1) | s2: ") + reads;
    EXPECT_EQ(status_of(text.c_str(), Level::kReadAtomic), Verdict::kViolated) << text;
  }
  EXPECT_EQ(status_of("s1: a(k5,1) | s2: range(k5,k5,[]) l(k5,[1])", Level::kReadCommitted),
            Verdict::kSatisfied);
}

TEST(RepeatedReads, OfEachKindMayBeNotRepeatable) {
  EXPECT_EQ(reads("s1: w(x,1) | s9: r(x,1) r(x,nil)"), "read s1, again init non-repeatable-read");
  EXPECT_EQ(reads("s1: w(x,1) | s9: r(x,1) r(x,1)"), "read s1, again s1");
  EXPECT_EQ(reads("s1: w(x,1) | s9: r(x,1) cas!(x,1,9)"),
            "read s1, again init non-repeatable-read");
  EXPECT_EQ(reads("s1: w(x,1) | s9: r(x,1) cas!(x,2,9)"), "read s1, again s1 init");
  EXPECT_EQ(reads("s1: w(x,1) | s9: r(x,1) range(w,y,[])"),
            "read s1, again init non-repeatable-read");
  EXPECT_EQ(reads("s1: w(x,1) | s9: r(x,1) range(w,y,[x=1])"), "read s1, again s1");
  EXPECT_EQ(reads("s1: w(x,1) | s9: range(w,y,[x=1 x=1])"), "read s1");
  EXPECT_EQ(reads("s1: a(x,1) | s9: l(x,[]) l(x,[1])"), "read init, again s1 non-repeatable-read");
  EXPECT_EQ(reads("s1: a(x,1) | s9: l(x,[1]) l(x,[1])"), "read s1, again s1");
}

}  // namespace
}  // namespace cupel::levels

// The list. An example whose name ends in `_neighbour` is the one before it with
// one edit, which a stronger level accepts. Levels without session order (si,
// ser) are incomparable with the weak ones, so a history often has two strongest
// or two weakest levels.
#include "support/examples.hpp"

namespace cupel::test {

namespace {

constexpr Example kClassic[] = {
    {"long_fork", "s1: w(x,1) | s2: w(y,1) | s3: r(x,1) r(y,nil) | s4: r(y,1) r(x,nil)", "cc",
     "pc si"},
    {"long_fork_neighbour", "s1: w(x,1) | s2: w(y,1) | s3: r(x,1) r(y,nil) | s4: r(y,1) r(x,1)",
     "sser", ""},
    {"write_skew", "s1: r(x,nil) r(y,nil) w(x,1) | s2: r(x,nil) r(y,nil) w(y,1)", "sssi", "ser"},
    {"write_skew_neighbour", "s1: r(x,nil) r(y,nil) w(x,1) | s2: r(x,1) r(y,nil) w(y,1)", "sser",
     ""},
    {"lost_update", "s1: r(x,nil) w(x,1) | s2: r(x,nil) w(x,2)", "pc", "si"},
    {"lost_update_neighbour", "s1: r(x,nil) w(x,1) | s2: r(x,1) w(x,2)", "sser", ""},
    {"causality_violation",
     "s1: w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,2) w(y,1) | s4: r(y,1) r(x,1)", "ra", "cc si"},
    {"causality_violation_neighbour",
     "s1: w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,2) w(y,1) | s4: r(y,1) r(x,2)", "sser", ""},
    {"fractured_read", "s1: w(x,1) w(y,1) | s2: r(x,nil) r(y,1)", "rc", "ra si"},
    {"fractured_read_neighbour", "s1: w(x,1) w(y,1) | s2: r(x,1) r(y,1)", "sser", ""},
    {"session_guarantee", "s1: w(x,1) ; r(x,nil)", "rc ser", "ra"},
    {"session_guarantee_neighbour", "s1: w(x,1) ; r(x,1)", "sser", ""},
    {"non_monotonic_read", "s1: w(x,1) ; w(x,2) w(y,2) | s2: r(y,2) r(x,1)", "ser", "rc"},
    {"non_monotonic_read_neighbour", "s1: w(x,1) ; w(x,2) w(y,2) | s2: r(x,1) r(y,2)", "rc ser",
     "ra"},
    {"dirty_write_lists", "s1: a(x,1) a(y,1) | s2: a(x,2) a(y,2) | s3: l(x,[1 2]) | s4: l(y,[2 1])",
     "", "rc si"},
    {"dirty_write_lists_neighbour",
     "s1: a(x,1) a(y,1) | s2: a(x,2) a(y,2) | s3: l(x,[1 2]) | s4: l(y,[1 2])", "sser", ""},
};

constexpr Example kThesis[] = {
    {"figure_3_3_a_read_committed", "s1: w(x,1) ; w(x,2) w(y,1) | s2: r(y,1) r(x,1)", "ser", "rc"},
    {"figure_3_3_a_neighbour", "s1: w(x,1) ; w(x,2) w(y,1) | s2: r(y,1) r(x,2)", "sser", ""},
    {"figure_3_3_b_repeatable_read", "s1: w(x,1) ; w(x,2) | s2: r(x,1) r(x,2)", "rc", "ra si"},
    {"figure_3_3_b_neighbour", "s1: w(x,1) ; w(x,2) | s2: r(x,2) r(x,2)", "sser", ""},
    {"figure_3_3_c_read_my_writes", "s1: w(x,1) w(y,1) | s2: r(x,1) ; w(y,2) ; r(y,1)", "rc ser",
     "ra"},
    {"figure_3_3_c_neighbour", "s1: w(x,1) w(y,1) | s2: r(x,1) ; w(y,2) ; r(y,2)", "sser", ""},
    {"figure_3_3_d_fractured", "s1: w(x,1) w(y,1) | s2: w(x,2) w(y,2) | s3: r(x,1) r(y,2)", "rc",
     "ra si"},
    {"figure_3_3_d_neighbour", "s1: w(x,1) w(y,1) | s2: w(x,2) w(y,2) | s3: r(x,2) r(y,2)", "sser",
     ""},
    {"figure_3_3_e_causal",
     "s1: w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,2) w(y,1) | s4: r(x,1) r(y,1)", "ra", "cc si"},
    {"figure_3_3_e_neighbour", "s1: w(x,1) | s2: w(x,2) | s3: r(x,2) w(y,1) | s4: r(x,1) r(y,1)",
     "sser", ""},
    {"figure_3_3_f_prefix",
     "s1: w(x,1) w(y,1) | s2: w(x,2) | s3: w(y,2) | s4: r(x,1) r(y,2) | s5: r(x,2) r(y,1)", "cc",
     "pc si"},
    {"figure_3_3_f_neighbour",
     "s1: w(x,1) w(y,1) | s2: w(x,2) | s3: w(y,2) | s4: r(x,1) r(y,2) | s5: r(x,2) r(y,2)", "sser",
     ""},
    {"figure_3_3_g_conflict", "s1: w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,1) w(x,3)", "pc", "si"},
    {"figure_3_3_g_neighbour", "s1: w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,2) w(x,3)", "sser", ""},
    {"figure_3_3_h_serializability",
     "s1: w(x,1) w(y,1) | s2: r(x,1) r(y,1) w(x,2) | s3: r(x,1) r(y,1) w(y,2)", "sssi", "ser"},
    {"figure_3_3_h_neighbour",
     "s1: w(x,1) w(y,1) | s2: r(x,1) r(y,1) w(x,2) | s3: r(x,2) r(y,1) w(y,2)", "sser", ""},
};

constexpr Example kMini[] = {
    {"thin_air_read", "s1: r(x,7)", "", "rc si"},
    {"aborted_read", "s1: !r(x,nil) w(x,1) | s2: r(x,1)", "", "rc si"},
    {"aborted_read_neighbour", "s1: ?r(x,nil) w(x,1) | s2: r(x,1)", "sser", ""},
    {"future_read", "s1: r(x,1) w(x,1)", "", "rc si"},
    {"not_my_last_write", "s1: r(x,nil) w(x,1) w(x,2) r(x,1)", "", "rc si"},
    {"not_my_own_write", "s1: r(x,nil) w(x,1) | s2: r(x,1) w(x,2) r(x,1)", "", "rc si"},
    {"intermediate_read", "s1: r(x,nil) w(x,1) w(x,2) | s2: r(x,1)", "", "rc si"},
    {"intermediate_read_neighbour", "s1: r(x,nil) w(x,1) w(x,2) | s2: r(x,2)", "sser", ""},
    {"non_repeatable_read", "s1: r(x,nil) w(x,1) ; r(x,1) w(x,2) | s2: r(x,1) r(x,2)", "rc",
     "ra si"},
    {"session_guarantee_violation", "s1: r(x,nil) w(x,1) ; r(x,1) w(x,2) ; r(x,1)", "rc ser", "ra"},
    {"non_monotonic_read_mini",
     "s1: r(x,nil) w(x,1) | s2: r(x,1) r(y,nil) w(x,2) w(y,3) | s3: r(y,3) r(x,1)", "", "rc si"},
    {"fractured_read_mini",
     "s1: r(x,nil) r(y,nil) w(x,1) w(y,2) | s2: r(x,1) r(y,2) w(x,3) w(y,4) | s3: r(x,1) r(y,4)",
     "rc", "ra si"},
    {"causality_violation_mini",
     "s1: r(x,nil) w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,2) r(y,nil) w(y,3) | s4: r(y,3) r(x,1)",
     "ra", "cc si"},
    {"long_fork_mini",
     "s1: r(x,nil) w(x,1) | s2: r(y,nil) w(y,2) | s3: r(x,1) r(y,nil) | s4: r(y,2) r(x,nil)", "cc",
     "pc si"},
    {"lost_update_mini", "s1: r(x,nil) w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,1) w(x,3)", "pc", "si"},
    {"write_skew_mini", "s1: r(x,nil) r(y,nil) w(x,1) | s2: r(x,nil) r(y,nil) w(y,2)", "sssi",
     "ser"},
};

constexpr Example kPeers[] = {
    {"initial_value_after_own_write", "init=0 s1: w(x,1) ; r(x,0)", "rc ser", "ra"},
    {"initial_value_after_reading", "init=0 s1: w(x,1) | s2: r(x,1) ; r(x,0)", "ra ser", "cc"},
    {"initial_value_after_reading_neighbour", "init=0 s1: w(x,1) | s2: r(x,0) ; r(x,1)", "sser",
     ""},
    {"own_future", "s1: r(x,1) w(x,1)", "", "rc si"},
    {"same_value_twice", "s1: w(x,1) | s2: w(x,1) | s3: r(x,1)", "sser", ""},
    {"same_value_twice_neighbour", "s1: w(x,1) w(y,1) | s2: w(x,1) w(y,1) | s3: r(y,nil) r(x,1)",
     "rc", "ra si"},
    {"incompatible_lists", "s1: a(x,1) | s2: a(x,2) | s3: l(x,[1 2]) | s4: l(x,[2 1])", "",
     "rc si"},
    {"incompatible_lists_neighbour", "s1: a(x,1) | s2: a(x,2) | s3: l(x,[1 2]) | s4: l(x,[1])",
     "sser", ""},
    {"empty_session", "s1: | s2: w(x,1) ; r(x,1)", "sser", ""},
    {"indeterminate_append", "s1: ?a(x,1) | s2: l(x,[1])", "sser", ""},
    {"indeterminate_append_neighbour", "s1: !a(x,1) | s2: l(x,[1])", "", "rc si"},
    {"elle_thin_air", "s1: w(x,1) ; r(x,2)", "", "rc si"},
    {"elle_fractured", "s1: a(x,1) a(y,1) | s2: l(x,[1]) l(y,[])", "", "rc si"},
    {"elle_fractured_neighbour", "s1: a(x,1) a(y,1) | s2: l(y,[]) l(x,[1])", "rc", "ra si"},
};

constexpr Example kAdya[] = {
    {"g1c_circular_information_flow", "s1: w(x,1) r(y,1) | s2: w(y,1) r(x,1)", "", "rc si"},
    {"g1c_neighbour", "s1: w(x,1) r(y,nil) | s2: w(y,1) r(x,1)", "sser", ""},
    {"g2_phantom", "s1: range(a,c,[]) i(a,1) | s2: range(a,c,[]) i(b,1)", "sssi", "ser"},
    {"g2_phantom_neighbour", "s1: range(a,c,[]) i(a,1) | s2: range(a,c,[a=1]) i(b,1)", "sser", ""},
    {"read_only_transaction",
     "s1: r(y,nil) w(y,20) | s2: r(x,nil) r(y,nil) w(x,1) | s3: r(x,nil) r(y,20)", "sssi", "ser"},
    {"read_only_transaction_neighbour",
     "s1: r(y,nil) w(y,20) | s2: r(x,nil) r(y,nil) w(x,1) | s3: r(x,1) r(y,20)", "sser", ""},
    {"session_snapshot",  // one prefix per transaction, but not along the session
     "s1: w(x,1) | s2: w(y,1) | s3: r(x,1) r(y,nil) ; r(y,1) r(x,nil)", "ra", "cc si"},
    {"session_snapshot_neighbour", "s1: w(x,1) | s2: w(y,1) | s3: r(x,1) r(y,nil) ; r(y,1) r(x,1)",
     "sser", ""},
    {"lost_update_lists", "s1: l(x,[]) a(x,1) | s2: l(x,[]) a(x,2) | s3: l(x,[1 2])", "pc", "si"},
};

constexpr Example kRealTime[] = {
    {"stale_read", "s1: w(x,1) @0-10 | s2: r(x,nil) @20-30", "gsi sser", "ssi lin"},
    {"stale_read_neighbour", "s1: w(x,1) @0-10 | s2: r(x,nil) @5-30", "strict lin", ""},
    {"touching_intervals", "s1: w(x,1) @0-10 | s2: r(x,nil) @10-30", "strict lin", ""},
    {"late_overwrite", "s1: w(x,1) @0-10 | s2: r(x,nil) w(x,2) @20-30", "sser", "gsi lin"},
    {"late_overwrite_neighbour", "s1: w(x,1) @0-10 | s2: r(x,1) w(x,2) @20-30", "strict lin", ""},
    {"indeterminate_late", "s1: ?w(x,1) @0- | s2: r(x,nil) @20-30 ; r(x,1) @40-50", "strict lin",
     ""},
    {"indeterminate_early", "s1: ?w(x,1) @35- | s2: r(x,1) @20-30", "sser", "gsi lin"},
    {"session_against_real_time", "s1: w(x,1) @5-6 ; w(y,1) @0-1", "gsi sser lin", "ssi"},
    {"session_against_real_time_neighbour", "s1: w(x,1) @5-6 ; w(y,1) @0-5", "strict lin", ""},
    {"appends_against_real_time", "s1: a(x,1) @10-11 | s2: a(x,2) @0-1 | s3: l(x,[1 2]) @20-21",
     "sser", "gsi lin"},
    {"appends_against_real_time_neighbour",
     "s1: a(x,1) @10-11 | s2: a(x,2) @0-10 | s3: l(x,[1 2]) @20-21", "strict lin", ""},
};

constexpr Example kCorners[] = {
    {"own_appends_after_others", "s1: a(x,1) | s2: l(x,[1]) a(x,2) l(x,[1 2]) | s3: l(x,[1 2])",
     "sser", ""},
    {"others_between_own_reads", "s1: a(x,1) | s2: a(x,2) | s3: l(x,[1]) a(x,3) l(x,[1 2 3])", "pc",
     "si"},
    {"two_appends_are_adjacent", "s1: a(x,1) a(x,2) | s2: a(x,3) | s3: l(x,[1 3 2])", "", "rc si"},
    {"list_read_inside_a_transaction", "s1: a(x,1) a(x,2) | s3: l(x,[1])", "", "rc si"},
    {"element_appended_twice", "s1: a(x,1) | s2: a(x,1) | s3: l(x,[1 1])", "sser", ""},
    {"element_appended_twice_neighbour", "s1: a(x,1) | s2: a(x,2) | s3: l(x,[1 1])", "", "rc si"},
    {"unread_append_is_last", "s1: a(x,1) ; a(x,2) | s2: l(x,[2])", "ser", "rc"},
    {"failed_compare", "s1: w(x,1) | s2: cas!(x,1,2)", "sser", ""},
    {"failed_compare_neighbour", "s1: w(x,nil) | s2: cas!(x,nil,2)", "", "rc si"},
    {"compare_and_set_twice", "s1: cas(x,nil,1) | s2: cas(x,nil,2)", "pc", "si"},
    {"absent_by_tombstone", "s1: i(b,1) ; d(b,9) | s2: range(a,c,[]) r(b,9)", "sser", ""},
    {"range_misses_a_key", "s1: i(b,1) w(z,1) | s2: range(a,c,[]) r(z,1)", "rc", "ra si"},
    {"range_returns_two_values", "s1: w(a,1) ; w(a,2) | s2: range(a,c,[a=1 a=2])", "rc", "ra si"},
    {"range_returns_two_values_neighbour", "s1: w(a,1) ; w(a,2) | s2: range(a,c,[a=2 a=2])", "sser",
     ""},
    // The rows are read at one moment: their order says nothing. Two reads: a non-monotonic read.
    {"range_returns_the_newer_row_first", "s1: w(a,1) ; w(a,2) | s2: range(a,c,[a=2 a=1])", "rc",
     "ra si"},
    {"range_returns_the_newer_row_first_neighbour", "s1: w(a,1) ; w(a,2) | s2: r(a,2) r(a,1)", "",
     "rc si"},
    // A cycle through the further row: s2 read from s1 and s1 returned s2's row.
    {"further_row_orders_nothing",
     "s1: w(b,1) range(a,a,[a=1 a=2]) | s2: r(b,1) w(a,2) | s3: w(a,1)", "rc", "ra si"},
    {"further_row_orders_nothing_neighbour",
     "s1: w(b,1) range(a,a,[a=2]) | s2: r(b,1) w(a,2) | s3: w(a,1)", "", "rc si"},
    {"further_row_out_of_thin_air", "s1: w(a,1) | s2: range(a,c,[a=1 a=2])", "", "rc si"},
    {"further_row_out_of_thin_air_neighbour", "s1: w(a,1) | s2: range(a,c,[a=1 a=1])", "sser", ""},
    {"further_row_aborted", "s1: w(a,1) ; !w(a,2) | s2: range(a,c,[a=1 a=2])", "", "rc si"},
    {"further_row_aborted_neighbour", "s1: w(a,1) ; ?w(a,2) | s2: range(a,c,[a=1 a=2])", "rc",
     "ra si"},
    {"further_row_intermediate", "s1: w(a,1) | s2: w(a,2) w(a,3) | s3: range(a,c,[a=1 a=2])", "",
     "rc si"},
    {"further_row_intermediate_neighbour",
     "s1: w(a,1) | s2: w(a,2) w(a,3) | s3: range(a,c,[a=1 a=3])", "rc", "ra si"},
    {"further_row_of_the_future", "s1: w(a,1) | s2: range(a,c,[a=1 a=2]) w(a,2)", "", "rc si"},
    {"further_row_of_the_future_neighbour", "s1: w(a,1) | s2: range(a,c,[a=1 a=1]) w(a,2)", "sser",
     ""},
    {"further_row_after_own_write", "s1: w(a,1) | s2: w(a,2) range(a,c,[a=2 a=1])", "", "rc si"},
    {"further_row_after_own_write_neighbour", "s1: w(a,1) | s2: w(a,2) range(a,c,[a=2 a=2])",
     "sser", ""},
    {"further_row_initial", "init=0 s1: w(a,1) | s2: range(a,c,[a=1 a=0])", "rc", "ra si"},
    {"further_row_initial_neighbour", "init=0 s1: w(a,0) | s2: range(a,c,[a=0 a=0])", "sser", ""},
    // The compare-and-set took effect, as its row was seen, so it saw what it expected.
    {"further_row_of_an_unsure_compare_and_set",
     "s1: ?cas(a,7,2) | s2: w(a,1) | s3: range(a,c,[a=1 a=2])", "", "rc si"},
    {"further_row_of_an_unsure_compare_and_set_neighbour",
     "s1: ?cas(a,1,2) | s2: w(a,1) | s3: range(a,c,[a=1 a=2])", "rc", "ra si"},
    {"no_session_order_out_of_an_indeterminate", "s1: ?w(x,1) ; r(x,nil) | s2: r(x,1)", "sser", ""},
    {"session_order_into_an_indeterminate", "s1: w(x,1) ; ?w(x,2) | s2: r(x,2) ; r(x,1)", "ra ser",
     "cc"},
    {"unknown_reads_say_nothing", "s1: w(x,1) ; r(x,?) | s2: l(y,?)", "sser", ""},
    {"empty_transactions", "s1: () ; w(x,1) ; () | s2: r(x,1)", "sser", ""},
};

constexpr Example kFound[] = {
    // Two parts of the communication graph may not place s1's two transactions
    // differently, though nothing orders the second after the first.
    {"an_indeterminate_transaction_joins_the_parts",
     "s1: ?w(x,1) w(v,1) ; w(z,1) w(y,1) | s2: r(x,1) r(z,nil) | s3: r(y,1) r(v,nil)", "cc",
     "pc si"},
    {"an_unread_compare_and_set_meets_no_expectation",
     "s1: w(x,1) ; r(x,1) ; w(x,3) ; r(x,3) ; r(x,2) | s2: ?cas(x,7,1) | s3: ?cas(x,1,2)", "pc ser",
     "sssi"},
    {"a_transaction_that_never_happened_placed_nothing",
     "s1: ?cas(y,7,1) a(x,1) | s2: l(x,[1]) ; a(x,1)", "ser", "rc"},
    {"own_later_append_is_no_writer", "s1: a(x,1) a(x,5) | s2: l(x,[1]) a(x,1)", "", "rc si"},
    {"counted_by_another_key", "s1: ?a(x,1) | s2: ?a(x,4) a(y,5) | s3: l(y,[5]) ; l(x,[1])",
     "ra ser", "cc"},
    {"block_cut_short_before_own_append", "s1: ?a(x,1) a(x,2) | s2: a(x,3) l(x,[1 3])", "",
     "rc si"},
    {"choice_of_delete_against_session_order",
     "s1: range(a,b,[]) w(b,2) | s2: range(b,b,[]) i(b,1) ; i(a,4) d(b)", "pc ser", "sssi"},
    {"choice_of_failed_compare_against_session_order",
     "s1: r(x,2) w(x,3) | s2: cas!(x,3,4) w(x,5) | s3: r(x,5) ; w(x,7) | s4: cas(x,nil,2)",
     "pc ser", "sssi"},
    {"choice_of_writer_against_session_order",
     "init=0 s1: cas(x,0,1) | s2: cas(x,1,2) ; r(x,5) w(x,1) | s3: cas(x,1,2) ; w(x,5)", "pc ser",
     "sssi"},
};

std::string names(std::span<const levels::Level> list) {
  std::string text;
  for (const auto level : list) {
    text += (text.empty() ? "" : " ") + std::string(levels::short_name(level));
  }
  return text;
}

}  // namespace

std::span<const Example> classic_examples() {
  return kClassic;
}
std::span<const Example> thesis_figures() {
  return kThesis;
}
std::span<const Example> mini_transactions() {
  return kMini;
}
std::span<const Example> peer_mistakes() {
  return kPeers;
}
std::span<const Example> adya_and_cerone() {
  return kAdya;
}
std::span<const Example> real_time_examples() {
  return kRealTime;
}
std::span<const Example> corner_cases() {
  return kCorners;
}

std::span<const Example> found_by_the_oracle() {
  return kFound;
}

std::vector<Example> all_examples() {
  std::vector<Example> all;
  for (const auto part :
       {classic_examples(), thesis_figures(), mini_transactions(), peer_mistakes(),
        adya_and_cerone(), real_time_examples(), corner_cases(), found_by_the_oracle()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::vector<levels::Level> meaningful_levels(const history::History& history, bool single_object) {
  std::vector<levels::Level> out;
  for (const auto level : levels::all_levels()) {
    if (levels::needs_real_time(level) && !history.has_all_times()) continue;
    if (level == levels::Level::kLinearizable && !single_object) continue;
    out.push_back(level);
  }
  return out;
}

std::string strongest_of(std::span<const levels::Level> satisfied) {
  std::vector<levels::Level> out;
  for (const auto level : satisfied) {
    bool maximal = true;
    for (const auto other : satisfied) {
      maximal = maximal && (other == level || !levels::implies(other, level));
    }
    if (maximal) out.push_back(level);
  }
  return names(out);
}

std::string weakest_of(std::span<const levels::Level> violated) {
  std::vector<levels::Level> out;
  for (const auto level : violated) {
    bool minimal = true;
    for (const auto other : violated) {
      minimal = minimal && (other == level || !levels::implies(level, other));
    }
    if (minimal) out.push_back(level);
  }
  return names(out);
}

}  // namespace cupel::test

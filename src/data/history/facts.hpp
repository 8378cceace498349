// Facts: the names of the metadata of a history (History::fact) that several folders write or
// read.
#pragma once

namespace cupel::history {

// Of a run that cupel recorded (run/final_reads.hpp): which sessions made the final reads, lines
// "SESSION NODE"; which table, bucket or stream was not there then; why they failed, so that it is
// unknown whether writes are lost.
inline constexpr const char* kFinalReaders = "final readers";
inline constexpr const char* kDataGone = "data gone";
inline constexpr const char* kFinalReadsFailed = "final reads failed";

// Of the file: the op maps that --ignore left out (data/history/ignored.hpp); the names in --ignore
// that no op map has; that it is one of several parts; that its last line was cut.
inline constexpr const char* kIgnored = "ignored";
inline constexpr const char* kNotIgnored = "not ignored";
inline constexpr const char* kPart = "part";
inline constexpr const char* kCut = "cut";

}  // namespace cupel::history

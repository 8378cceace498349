/* What the preloaded library (preload.c) and cupel share, in a file that both map: how a node's
   clock differs from the machine's. Written by cupel alone. */
#pragma once

#include <stdint.h>  // NOLINT: the library is C

struct ClockSettings {
  uint32_t sequence; /* odd while it is written */
  int64_t since;     /* nanoseconds of the machine's clock; `rate` and `period` count from it */
  int64_t offset;    /* nanoseconds */
  double rate;       /* 1: as fast as the machine's */
  int64_t jump,
      period; /* nanoseconds: in the first half of each period the clock is ahead by jump */
};

/* The environment variable that holds the file's path. */
#define CUPEL_CLOCK_VARIABLE "CUPEL_CLOCK"

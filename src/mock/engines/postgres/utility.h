/* DDL reads what was committed last, and what it writes is there for every session. */
#ifndef CUPEL_UTILITY_H
#define CUPEL_UTILITY_H

#include "weak_table.h"

/* A statement runs that reads or rewrites whole tables, not for a client. */
extern bool runs_ddl(void);
/* An error ended what ran. */
extern void forget_ddl(void);

#endif

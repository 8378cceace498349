// MariaDB's own headers: the parts of the server that storage engines use.
#pragma once

#define MYSQL_SERVER 1
// clang-format off
#include <my_global.h>  // the others need it before them
// clang-format on
#include <handler.h>
#include <key.h>
#include <sql_class.h>
#include <sql_table.h>
#include <table.h>
#include <table_cache.h>
#include <unireg.h>

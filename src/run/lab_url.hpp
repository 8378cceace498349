// LabUrl: a database URL that names a test server, which is started for the run and stopped
// after it.
//
//   lab:KIND[?nodes=3&sync=1&fast=1&option=NAME=VALUE&url=NAME=VALUE]
//
// `option` and `url` may be repeated. Parts are percent-decoded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/workload/workload.hpp"
#include "databases/lab/server.hpp"
#include "run/run.hpp"

namespace cupel::run {

struct LabUrl {
  lab::Kind kind = lab::Kind::kPostgres;
  lab::Options options = {};
  std::vector<std::string> for_driver = {};  // options of the driver's URL: "slot=one"
};

// What `cupel run --list` shows.
inline constexpr std::string_view kLabUrl =
    "lab:KIND[?nodes=N&sync=1&fast=1&option=NAME=VALUE[&option=…]&url=NAME=VALUE]";

bool is_lab_url(std::string_view url);

// The server's URL with the options that are for the driver.
std::string url_for_driver(std::string url, const LabUrl& lab_url);

// Errors: an unknown kind (with those that there are), an unknown option, one that the kind does
// not have.
base::Result<LabUrl> parse_lab_url(std::string_view url);

// Of a test server that is nothing without a second node, that one takes no writes: then from the
// primary, else kOwnHost.
ReadFrom usual_read_from(const std::string& url);

// As the functions of driver.hpp, also of a test server, which need not run: it has the
// isolation levels of its driver.
base::Result<std::string> isolation_of(const std::string& url, const std::string& isolation);
base::Result<workload::Needs> can_at(const std::string& url, const std::string& isolation);
base::Result<bool> begins_on_standbys(const std::string& url, const std::string& isolation);

}  // namespace cupel::run

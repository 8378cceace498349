// Databases as other tools name them, and how cupel's URL names them.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "databases/drivers/driver.hpp"

namespace cupel::drivers {

// The error for a text that is the URL of none of the drivers: a JDBC or SQLAlchemy URL, a libpq
// keyword string, a scheme with a typing mistake. It says what to write, and no password.
base::Error foreign_url(const std::string& text, std::span<const DriverInfo> drivers);

}  // namespace cupel::drivers

// Password: what is shown of a text that may hold one.
#pragma once

#include <string>
#include <string_view>

namespace cupel::text {

// The URL of a database with `***` for the password: everything between the colon after
// the user and the last `@` before the path, and the value of an option named
// `password` or the like. Works on what is no valid URL, too, and on libpq's
// keyword strings ("host=db password='s e c'").
std::string without_password(std::string_view url);

}  // namespace cupel::text

// Registry: what each driver's folder offers to driver.cpp.
#pragma once

#include <memory>
#include <string>

#include "drivers/driver.hpp"

namespace cupel::drivers {

// The URL as the user wrote it, scheme included; options.isolation is one of the
// driver's names, or empty.
using Open = base::Result<std::unique_ptr<Database>> (*)(const std::string& url,
                                                         const OpenOptions& options);

// One driver: its functions are in the folder of its name, present if the folder
// was built (CUPEL_DRIVER_… is defined then).
base::Result<std::unique_ptr<Database>> open_sqlite(const std::string&, const OpenOptions&);
base::Result<std::unique_ptr<Database>> open_postgres(const std::string&, const OpenOptions&);
base::Result<std::unique_ptr<Database>> open_mysql(const std::string&, const OpenOptions&);
base::Result<std::unique_ptr<Database>> open_rocksdb(const std::string&, const OpenOptions&);
base::Result<std::unique_ptr<Database>> open_redis(const std::string&, const OpenOptions&);
base::Result<std::unique_ptr<Database>> open_etcd(const std::string&, const OpenOptions&);
base::Result<std::unique_ptr<Database>> open_exec(const std::string&, const OpenOptions&);
base::Result<std::unique_ptr<Database>> open_mock(const std::string&, const OpenOptions&);

}  // namespace cupel::drivers

// A certificate of its own for a test server on this machine.
#pragma once

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "base/process.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::test {

class Certificate {
 public:
  // `user`: whom the key belongs to if this is run by root, as the server will be.
  explicit Certificate(const char* user) {
    auto process = base::Process::start(
        {.arguments = {"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                       "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                       "-keyout", key(), "-out", file()}});
    if (!process.ok()) throw std::runtime_error(process.error().to_string());
    const auto status = process->wait(base::Seconds(60));
    if (!status || !status->well()) throw std::runtime_error("openssl made no certificate");
    if (::chmod(folder_.path().c_str(), 0755) != 0 || ::chmod(file().c_str(), 0644) != 0 ||
        ::chmod(key().c_str(), 0600) != 0)
      throw std::runtime_error("the certificate cannot be shown");
    const auto* owner = ::getpwnam(user);
    if (::geteuid() == 0 && owner != nullptr &&
        ::chown(key().c_str(), owner->pw_uid, owner->pw_gid) != 0)
      throw std::runtime_error("the key cannot be given away");
  }
  [[nodiscard]] std::string file() const { return folder_.path("certificate.pem"); }
  [[nodiscard]] std::string key() const { return folder_.path("key.pem"); }

 private:
  ScratchFolder folder_;
};

}  // namespace cupel::test

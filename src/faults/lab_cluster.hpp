// LabCluster: the servers of cupel's lab as a Cluster.
#pragma once

#include "faults/cluster.hpp"

namespace cupel::faults {

class LabCluster : public Cluster {
 public:
  // The server outlives it, and nobody else uses it meanwhile.
  explicit LabCluster(lab::Server& server) : server_(server) {}

  [[nodiscard]] std::size_t nodes() const override;
  [[nodiscard]] bool running(std::size_t node) const override;
  [[nodiscard]] std::vector<std::size_t> primaries() override;
  [[nodiscard]] std::string log_end(std::size_t node) const override;
  base::Status kill(std::span<const std::size_t> nodes) override;
  base::Status shut_down(std::span<const std::size_t> nodes) override;
  base::Result<bool> start(std::span<const std::size_t> nodes, const GiveUp& give_up) override;
  base::Status pause(std::size_t node) override;
  base::Status resume(std::size_t node) override;
  [[nodiscard]] bool fails_over() const override;
  base::Status fail_over() override;
  base::Status set_links(std::span<const LinkFault> faults) override;
  [[nodiscard]] std::string unfit(const LinkFault& fault) override;

 private:
  lab::Server& server_;
};

}  // namespace cupel::faults

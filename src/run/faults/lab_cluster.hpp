// LabCluster: the servers of cupel's lab as a Cluster.
#pragma once

#include "run/faults/cluster.hpp"

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
  [[nodiscard]] std::string unfit_membership() override;
  [[nodiscard]] std::vector<std::size_t> leavers() override;
  base::Status leave(std::size_t node) override;
  base::Status set_links(std::span<const LinkFault> faults) override;
  [[nodiscard]] std::string unfit(const LinkFault& fault) override;
  base::Status set_clock(std::size_t node, const ClockFault& fault) override;
  [[nodiscard]] std::string unfit_clocks() override;
  base::Status set_disk(std::size_t node, const DiskFault& fault) override;
  base::Status lose_unsynced(std::size_t node) override;
  [[nodiscard]] std::string unfit_disks() override;
  base::Result<std::string> corrupt(std::size_t node, std::uint64_t bits,
                                    std::uint64_t seed) override;

 private:
  lab::Server& server_;
};

}  // namespace cupel::faults

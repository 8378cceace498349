#!/usr/bin/env bash
#SBATCH --job-name=cupel-campaign
#SBATCH --array=1-32
# A campaign as an array of Slurm: each task makes the runs of its shard, in one folder that all
# nodes share. Submit it again after a failure: what is done is not done again.
#   sbatch examples/scale/slurm_campaign.sh campaign.json /shared/results
#   cupel merge /shared/results          when the array has ended
set -euo pipefail
exec "${CUPEL:-cupel}" campaign "$1" -o "$2" --shard auto --quiet

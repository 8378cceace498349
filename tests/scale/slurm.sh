# A Slurm on this machine, for the tests: munged, slurmctld and some slurmd, as this user, on the
# loopback interface, without systemd and cgroups. Sourced; `start_slurm FOLDER NODES` starts it and
# sets SLURM_CONF, `stop_slurm` ends it.

slurm_folder=

free_port() {
  /usr/bin/python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

start_slurm() {
  slurm_folder=$1
  local nodes=$2 i
  mkdir -p "$slurm_folder"/{munge,state,log}
  chmod 711 "$slurm_folder"
  chmod 700 "$slurm_folder/munge"
  dd if=/dev/urandom of="$slurm_folder/munge/key" bs=128 count=1 status=none
  chmod 600 "$slurm_folder/munge/key"
  # Its socket's folder must be open to others, which the test's own need not be: --force.
  munged --force --key-file="$slurm_folder/munge/key" --socket="$slurm_folder/munge/socket" \
    --pid-file="$slurm_folder/munge/pid" --log-file="$slurm_folder/log/munged" \
    --seed-file="$slurm_folder/munge/seed" 2>>"$slurm_folder/log/munged-start"
  {
    cat <<CONF
ClusterName=cupel
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$slurm_folder/munge/socket
CredType=cred/munge
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldPidFile=$slurm_folder/slurmctld.pid
SlurmdPidFile=$slurm_folder/slurmd-%n.pid
SlurmdSpoolDir=$slurm_folder/spool-%n
StateSaveLocation=$slurm_folder/state
SlurmctldLogFile=$slurm_folder/log/slurmctld
SlurmdLogFile=$slurm_folder/log/slurmd-%n
SlurmdParameters=config_overrides
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
CONF
    for ((i = 1; i <= nodes; ++i)); do
      echo "NodeName=n$i NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$(free_port) CPUs=1"
    done
    echo "PartitionName=all Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP"
  } >"$slurm_folder/slurm.conf"
  export SLURM_CONF=$slurm_folder/slurm.conf
  slurmctld
  for ((i = 1; i <= nodes; ++i)); do
    mkdir -p "$slurm_folder/spool-n$i"
    slurmd -N "n$i"
  done
  for ((i = 0; i < 300; ++i)); do
    [[ $(sinfo --noheader --format=%D --states=idle 2>/dev/null) == "$nodes" ]] && return 0
    sleep 0.1
  done
  echo "Slurm did not start; see $slurm_folder/log" >&2
  return 1
}

stop_slurm() {
  [[ -n $slurm_folder ]] || return 0
  local file
  for file in "$slurm_folder"/slurmctld.pid "$slurm_folder"/slurmd-*.pid "$slurm_folder"/munge/pid; do
    [[ ! -s $file ]] || kill "$(cat "$file")" 2>/dev/null || true
  done
}

# Until no job of the user is left.
await_slurm() {
  local i
  for ((i = 0; i < 6000; ++i)); do
    [[ -n $(squeue --noheader 2>/dev/null) ]] || return 0
    sleep 0.1
  done
  echo "the jobs do not end" >&2
  squeue >&2
  return 1
}

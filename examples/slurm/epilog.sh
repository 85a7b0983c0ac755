#!/bin/bash
# Epilog of slurm.conf, which slurmd runs as root on each node when a job has ended: of a job that left dumps in
# hangs/JOBID below the folder that it ran in, the verdict beside them. It never fails: that would drain the node.
export PATH=/usr/local/bin:/usr/bin:/bin RAF=${RAF:-/opt/raf/bin/raf}
# What a user's folder holds is looked at as that user.
if [ "$(id -u)" = 0 ] && [ "${SLURM_JOB_USER:-root}" != root ]; then
  runuser -u "$SLURM_JOB_USER" -- "$0"
  exit 0
fi
folder=${SLURM_JOB_WORK_DIR:-$(scontrol show job "$SLURM_JOB_ID" | sed -n 's/^ *WorkDir=//p')}
hang=$folder/hangs/$SLURM_JOB_ID
[ -n "$(ls -A "$hang" 2> /dev/null)" ] || exit 0
# The first node that comes says it for all; ranks of others may still be writing.
mkdir "$hang/verdict" 2> /dev/null || exit 0
sleep "${RAF_WAIT:-20}"
evidence=("$hang")
for log in "$folder"/*"$SLURM_JOB_ID"*.out "$folder"/*"$SLURM_JOB_ID"*.err; do
  # Not those of job 1812345 for job 812345.
  [[ -f $log && /${log##*/} =~ [^0-9]$SLURM_JOB_ID[^0-9] ]] && evidence+=("$log")
done
timeout 120 "$RAF" diagnose "${evidence[@]}" --report "$hang/verdict/report.html" > "$hang/verdict/verdict.txt" 2>&1
exit 0

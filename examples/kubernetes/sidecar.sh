#!/usr/bin/env bash
# Beside the training container, in a pod whose containers share their processes: when a watchdog has written dumps, or
# somebody has asked (kubectl exec POD -c raf -- sh -c 'touch $DUMPS/now'), the verdict goes to the volume, before the pod goes.
DUMPS=${DUMPS:-/dumps} MATCH=${MATCH:-train.py} EVERY=${EVERY:-5} SETTLE=${SETTLE:-10}
# What lies there already is of an earlier attempt.
known=$(ls "$DUMPS"/*_rank_* 2>/dev/null | wc -l)
mkdir -p "$DUMPS"
verdict() {  # what it is called, and what to ask
  name=$(date +%Y%m%d-%H%M%S)-$1 && shift
  mkdir -p "$DUMPS/verdicts/$name" && "$@" "$DUMPS/verdicts/$name" > "$DUMPS/verdicts/$name.txt" 2>&1
  cat "$DUMPS/verdicts/$name.txt"
}
attach() { raf attach $(pgrep -f "$MATCH") --out "$1/case"; }
diagnose() { raf diagnose "$DUMPS"/*_rank_* --report "$1/report.html" --output "$1/diagnosis.json"; }
look() {  # how long to wait for ranks that write after the first
  if [ -e "$DUMPS/now" ]; then
    rm "$DUMPS/now" && verdict asked attach
  fi
  found=$(ls "$DUMPS"/*_rank_* 2>/dev/null | wc -l)
  [ "$found" -gt "$known" ] && sleep "$1" && verdict dumped diagnose && known=$(ls "$DUMPS"/*_rank_* | wc -l)
}
until pgrep -f "$MATCH" > /dev/null; do sleep 1; done
while pgrep -f "$MATCH" > /dev/null; do
  look "$SETTLE"
  sleep "$EVERY"
done
# A watchdog ends its process soon after it has written.
look 0

# Runs on the far side, by whatever `sh` is there: dash, bash, busybox. Before it stand the patterns, as `set -- ...`,
# and `stacks` and `condense`, each `yes` or empty. First it tells what is there, a line for each file; then it is told
# which of them are wanted, and sends these.
LC_ALL=C
export LC_ALL
newline='
'
there=
trap 'exit 1' HUP INT TERM PIPE
trap '[ -z "$there" ] || rm -rf "$there"' EXIT

say() { printf '%s\n' "$*"; }

# A folder of our own, where something has to be kept.
room() { [ -n "$there" ] || there=$(mktemp -d "${TMPDIR:-/tmp}/raf-collect.XXXXXX"); }

# A name with a line break could pass for another file's line. A folder that may not be read is told.
list() {
    {
        find -H "$2" -type f ! -path "*$newline*" -exec stat -c "$1 %s %Y %n" {} + 2>&1 >&3 |
            while IFS= read -r one; do say "note $one"; done
    } 3>&1
}

# A variable of another process.
variable() { { tr '\0' '\n' <"/proc/$1/environ" | sed -n "s/^$2=//p" | head -n 1; } 2>/dev/null; }

# Which rank a process is of, in two lines: what a launcher has is the number of its pod at most, and no local rank.
identity() { { tr '\0' '\n' <"/proc/$1/environ" | grep -E '^(LOCAL_)?RANK=[0-9]+$' | sort; } 2>/dev/null; }

# Ranks of this node, "PID RANK" each: within a job of Slurm, this one's. Below a rank, its data loaders have the same
# variables.
ranks() {
    grep -la 'LOCAL_RANK=' /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do
        mine=$(identity "$pid")
        case $mine in LOCAL_RANK=*"$newline"RANK=*) ;; *) continue ;; esac
        [ -z "$SLURM_JOB_ID" ] || [ "$(variable "$pid" SLURM_JOB_ID)" = "$SLURM_JOB_ID" ] || continue
        parent=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status" 2>/dev/null)
        [ "$(identity "$parent")" = "$mine" ] || say "$pid ${mine##*=}"
    done
}

# Only what this user's own processes name is used: another's could name any file, or any program.
own_ranks() { say "$ranks" | while read -r pid rank; do [ ! -O "/proc/$pid" ] || say "$pid"; done; }

# Where torch writes its dumps: where the job's processes or the surroundings say, else where it does by itself.
dumps() {
    for variable in TORCH_FR_DUMP_TEMP_FILE TORCH_NCCL_DEBUG_INFO_TEMP_FILE; do
        printenv "$variable"
        own_ranks | while read -r pid; do variable "$pid" "$variable"; done
    done | sort -u
    say /tmp/nccl_trace_rank_
    say "$HOME/.cache/torch/nccl_trace_rank_"
    say "$HOME/.cache/torch/comm_lib_trace_rank_"
}

find_py_spy() {
    command -v py-spy >/dev/null && return
    # In the environment of the job's own Python it is not on this shell's path.
    PATH=$PATH:$(variable "$(own_ranks | head -n 1)" PATH)
    command -v py-spy >/dev/null
}

# The stack of one rank, in a file of its own.
stack() {
    file=$there/stacks/pyspy_rank_$2.json
    limit=$(command -v timeout) && limit="$limit 20"
    $limit py-spy dump --json --pid "$1" >"$file" 2>"$there/said.$2" </dev/null && return
    rm -f "$file"
    say "note no stack of rank $2: $(tail -n 1 "$there/said.$2")"
}

take_stacks() {
    find_py_spy || { say 'note no stacks: py-spy is not on the path there'; return; }
    mkdir "$there/stacks"
    [ -n "$ranks" ] || say 'note no stacks: no process there has RANK and LOCAL_RANK in its environment'
    twice=$(say "$ranks" | sed 's/.* //' | sort | uniq -d)
    [ -z "$twice" ] || say "note no stacks of ranks that several jobs have there:" $twice
    while read -r pid rank; do
        case "$newline$twice$newline" in *"$newline$rank$newline"*) continue ;; esac
        stack "$pid" "$rank" &
    done <<END
$ranks
END
    wait
    list stack "$there/stacks"
}

# The names come through a pipe: no list of arguments is long enough for all of them. GNU's tar keeps the parts of a second.
exact=
! tar --help 2>/dev/null | grep -q -- --format= || exact=--format=posix
send() { tar $exact -C "$1" -cf - -T -; }

# Until all of it has come: kubectl forgets what is on its way when the far side ends.
until_it_has_come() { [ "$1" -le 2 ] || exit "$1"; read -r _; }

say 'raf-collect 1'
for tool in tar find stat dd; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed there" >&2; exit 1; }
done
ranks=
[ $# -gt 0 ] && [ -z "$stacks" ] || ranks=$(ranks)
if [ $# -eq 0 ]; then
    prefixes=$(dumps)
    set -f
    IFS=$newline
    for prefix in $prefixes; do
        set +f
        set -- "$@" "$prefix"*
        set -f
    done
    set +f
    unset IFS
fi
for one; do
    case $one in /*) ;; .) one=$PWD ;; *) one=$PWD/$one ;; esac
    if [ -L "$one" ] && [ ! -d "$one" ]; then
        say "note $one: a link, which is not followed"
    elif [ -e "$one" ]; then
        list file "$one"
    fi
done
[ -z "$stacks" ] || { room && take_stacks; }
[ -z "$condense" ] || ! raf condense --help >/dev/null 2>&1 </dev/null || say 'can condense'
say end

read -r wish count || exit 1
[ "$wish" != nothing ] || exit 0
names=$(dd bs=1 count="$count" 2>/dev/null)
if [ "$wish" = condense ] && room; then
    set --
    while IFS= read -r one; do set -- "$@" "/$one"; done <<END
$names
END
    # The training on this node comes first.
    if nice raf condense "$@" -o "$there/condensed.case" >/dev/null 2>"$there/said" </dev/null; then
        say condensed
        say ./condensed.case | send "$there"
        until_it_has_come $?
        exit
    fi
    say "note not condensed: $(tail -n 1 "$there/said")"
fi
say whole
printf '%s\n' "$names" | send /
until_it_has_come $?

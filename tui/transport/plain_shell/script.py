"""What /bin/sh runs on a host without Python: one program for dash, bash and busybox's ash alike.

It takes one command a line and answers in lines that begin with a mark, which only it and its client know;
what stands between two of them is the log, byte by byte. Each such line is one write of less than PIPE_BUF,
so that no other writer's bytes come into it. Nothing is written on the host. It ends with all that it has
started at the end of its input, when told to, and when no ping came for a while: ``read -t`` is not in every
shell, so a second process sleeps and is woken by a signal at each ping.
"""

import math

MARK = "TMINUS-"
"""Stands before the nonce in the first line, apart from it in the command (as in bootstrap.py)."""

# $1: this text, $2: the nonce, $3: the seconds without a ping after which it ends, $4: "again" where it was
# started anew to lead a process group. The API key of a server comes over the input and goes to curl over its
# own, since all can see arguments.
GUARD = r"""
exec 2>/dev/null
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/nvidia/bin:/opt/bin
export LC_ALL PATH
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
set -f
g=; lead=0
read -r _ _ _ _ g _ </proc/self/stat
[ "$g" = $$ ] && lead=1
if [ $lead = 0 ] && [ "$4" != again ] && command -v setsid >/dev/null; then
  exec setsid /bin/sh -c 'eval "$1"' sh "$1" "$2" "$3" again
fi
me=$$ patience=$3 gpu_job= web_job= log= configuration=
trap '' USR1 USR2
(
  s=
  trap '' TERM HUP
  trap 'kill -9 $s; s=' USR1
  trap 'kill -9 $s; wait $s; exit' USR2
  while :; do
    sleep $patience & s=$!
    wait $s
    [ $? -gt 128 ] || break
  done
  kill -TERM $me
  sleep 3 & s=$!
  wait $s
  [ $lead = 1 ] && kill -9 0
  kill -9 $me
) </dev/null >/dev/null &
watchdog=$!
finish() {
  trap '' TERM HUP
  [ $lead = 1 ] && kill -TERM 0
  exec 3<&-
  wait $gpu_job $web_job
  kill -USR2 $watchdog
  wait
  exit 0
}
trap finish TERM HUP
say() { printf '%s %s\n' "$M" "$*"; }
up() { u=; read -r u _ </proc/uptime; }
web_tool() {
  if command -v curl >/dev/null; then echo curl
  elif ! command -v wget >/dev/null; then echo none
  else
    case $(wget --help 2>&1) in
      *BusyBox*) command -v timeout >/dev/null && echo busybox || echo none;;
      *) echo wget;;
    esac
  fi
}
hello() {
  say h host "$(uname -n)"
  say h kernel "$(uname -r)"
  say h user "$(id -un)"
  say h uid "$(id -u)"
  b=; read -r b </proc/sys/kernel/random/boot_id
  say h boot_id "$b"
  say h cpus "$(nproc --all || getconf _NPROCESSORS_CONF || grep -c ^processor /proc/cpuinfo)"
  while read -r name value _; do
    [ "$name" = MemTotal: ] && say h memory_kib "$value"
  done </proc/meminfo
  say h web "$(web_tool)"
  say h leads $lead
  up
  say h wall "$(date +%s.%N)"
  say h end "$$ $u"
}
gpus() {
  (
    trap : TERM
    nvidia-smi --query-gpu="$2" --format=csv,noheader,nounits -lms "$1" 2>&1 & s=$!
    trap 'kill -TERM $s' TERM
    wait $s; r=$?
    while kill -0 $s; do wait $s; r=$?; done
    printf '%s %s\n' "$M" $r
  ) | (
    trap : TERM
    while IFS= read -r row || [ -n "$row" ]; do
      up
      case $row in
        "$M "*) say x "$u" "${row#* }";;
        *) say g "$u" "$row";;
      esac
    done
  ) &
  gpu_job=$!
}
open_log() {
  log=$1
  case $log in "~/"*) log=$HOME/${log#"~/"};; esac
  exec 3<&-
  if [ ! -e "$log" ]; then say o missing
  elif [ ! -f "$log" ]; then say o not_a_file
  elif [ -r "$log" ] && command exec 3<"$log"; then
    set -- $(ls -Ldin /proc/self/fd/3)
    say o open "$1" "$6"
  else say o unreadable
  fi
}
read_log() {
  [ "$1" = 0 ] || dd bs=1 skip="$1" count=0 <&3 >/dev/null
  say r
  dd bs=65536 count="$2" <&3
  set -- $(ls -Ldin /proc/self/fd/3)
  i=$1 n=$6
  set -- $(ls -Ldin -- "$log")
  say e "${i:--}" "${n:--}" "${1:--}" "${6:--}"
}
fetch() {
  post=--post-data=$configuration json='--header=Content-Type: application/json'
  case $2 in
    curl) printf '%s' "$configuration" | curl -q -K -;;
    wget) wget -nv -S -O - -t 1 -T "$3" $5 "$4";;
    wget_post) wget -nv -S -O - -t 1 -T "$3" $5 "$post" "$json" "$4";;
    busybox) timeout "$3" wget -q -S -O - $5 "$4";;
    busybox_post) timeout "$3" wget -q -S -O - $5 "$post" "$json" "$4";;
  esac 2>&1
}
ask() {
  (
    trap : TERM
    up; began=$u
    { fetch "$@"; printf '\n%s %s\n' "$M" $?; } |
      head -c 300000 | tr -d '\r' | tr '\n' '\001' | fold -b -w 2000 |
      while IFS= read -r part || [ -n "$part" ]; do say w "$1" "$part"; done
    up
    say d "$1" "$began" "$u"
  ) &
  web_job=$!
  configuration=
}
printf "%s%s\n" TMINUS- "$2"
IFS= read -r M || finish
hello
while IFS= read -r c; do
  a=${c#* }
  case $c in
    'p '*) kill -USR1 $watchdog; up; say p "$u" "$a";;
    'g '*) gpus "${a%% *}" "${a#* }";;
    'o '*) open_log "$a";;
    'r '*) read_log "${a%% *}" "${a#* }";;
    'c '*) configuration="$configuration$a
";;
    'b '*) configuration=$a;;
    'a '*) ask $a;;
    x) break;;
  esac
done
finish
"""


def guard(nonce: str, patience_s: float, before: str = "") -> list[str]:
    """Return the command that prints the nonce, then takes commands; ``before`` is run first."""
    patience = str(max(1, math.ceil(patience_s)))
    return ["/bin/sh", "-c", before + 'eval "$1"', "sh", GUARD, nonce, patience]

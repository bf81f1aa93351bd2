#!/bin/sh
# Installs the sealoop agent and makes this machine a device of {{ORGANIZATION}}; or upgrades the agent that is there.
#
#   sh install.sh                the whole machine, as root, under systemd
#   sh install.sh --user         this user alone; nothing then protects results from the talking half
#   sh install.sh --folder DIR   program and state in one folder
#   sh install.sh --proxy http://HOST:PORT   reach the platform through this proxy, now and later
#   sh install.sh --replaces DEV-…   in the place of a device whose keys are lost, once a person approves
#
# Everything is in one function, which the last line calls: a script that was cut off does nothing.
sealoop_install() {
  set -eu
  umask 077
  server='{{SERVER}}'
  agent_sha256='{{AGENT_SHA256}}'
  mode=system
  folder=
  proxy=
  replaces=
  while [ $# -gt 0 ]; do
    case "$1" in
      --user) mode=user ;;
      --folder) folder="${2:?--folder needs a folder}"; shift ;;
      --proxy) proxy="${2:?--proxy needs an address}"; shift ;;
      --replaces) replaces="${2:?--replaces needs the id of a device}"; shift ;;
      *) echo "Unknown argument: $1. Known are --user, --folder DIR, --proxy URL and --replaces DEV-…." >&2; return 2 ;;
    esac
    shift
  done

  case "$proxy" in
    '' | http://*) ;;
    *) echo "Cannot use $proxy: a proxy is http://[USER:PASSWORD@]HOST:PORT." >&2; return 2 ;;
  esac
  system=$(uname -s)
  case "$system" in
    Linux | Darwin) ;;
    *) echo "Cannot install on $system: the agent runs on Linux and macOS only." >&2; return 1 ;;
  esac
  if [ "$mode" = system ] && [ "$system" != Linux ]; then
    echo "Cannot install for the whole machine on $system. Use --user." >&2
    return 1
  fi
  if [ "$mode" = system ] && [ "$(id -u)" != 0 ]; then
    echo "Cannot install for the whole machine without root. Run it as root, or use --user." >&2
    return 1
  fi
  if [ "$mode" = user ]; then python=$(command -v python3 || true); else python=/usr/bin/python3; fi
  if [ -z "$python" ] || ! "$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 6))'; then
    echo "Cannot install: there is no Python 3.6 or later (${python:-python3})." >&2
    return 1
  fi

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cat > "$work/pins.json" <<'PINS'
{{PINS}}
PINS
  cat > "$work/code" <<'CODE'
{{CODE}}
CODE

  # The environment names no proxy and takes none away, as for the agent.
  "$python" -I - "$server" "$agent_sha256" "$work/agent" "$proxy" <<'DOWNLOAD'
import hashlib
import sys
import urllib.request

server, expected, path, proxy = sys.argv[1:]
urllib.request.proxy_bypass = lambda host: False
try:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"https": proxy} if proxy else {}))
    with opener.open(server + "/v1/devices/agent/download", timeout=60) as answer:
        data = answer.read(10000000)
except (OSError, ValueError) as error:
    sys.exit("Cannot download the agent from %s: %s" % (server, error))
found = hashlib.sha256(data).hexdigest()
if found != expected:
    sys.exit("Cannot install: the agent's SHA-256 is %s, and this script pins %s" % (found, expected))
with open(path, "wb") as file:
    file.write(data)
DOWNLOAD

  if [ -n "$folder" ]; then
    folder=$("$python" -I "$work/agent" check-folder "$folder")
    program="$folder/sealoop_agent.py" state="$folder/state"
  elif [ "$mode" = system ]; then
    program=/usr/local/lib/sealoop-agent/sealoop_agent.py state=/var/lib/sealoop-agent
  else
    program="$HOME/.local/lib/sealoop-agent/sealoop_agent.py" state="$HOME/.local/share/sealoop-agent"
  fi

  mkdir -p "$(dirname "$program")"
  cp "$work/agent" "$program.new"
  if [ "$mode" = system ]; then
    chmod 755 "$(dirname "$program")"
    chmod 644 "$program.new"
    id sealoop > /dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin sealoop
  fi
  mv "$program.new" "$program"
  echo "Agent    $program, SHA-256 $agent_sha256"

  if [ -e "$state/runner/identity.json" ]; then
    echo "This is a device already: its agent was upgraded, its keys and pins were kept."
  elif [ "$mode" = user ]; then
    "$python" -I "$program" enroll --user --server "$server" --state "$state" \
      --code-file "$work/code" --pins "$work/pins.json" ${replaces:+--replaces "$replaces"} ${proxy:+--proxy "$proxy"}
  else
    "$python" -I "$program" enroll --server "$server" --state "$state" \
      --code-file "$work/code" --pins "$work/pins.json" ${replaces:+--replaces "$replaces"} ${proxy:+--proxy "$proxy"}
  fi

  if [ "$mode" = system ] && [ -d /run/systemd/system ] && [ -z "$folder" ]; then
    cat > /etc/systemd/system/sealoop-agent.service <<'UNIT'
{{UNIT}}
UNIT
    chmod 644 /etc/systemd/system/sealoop-agent.service
    systemctl daemon-reload
    systemctl enable sealoop-agent.service
    systemctl restart sealoop-agent.service
    echo "It runs under systemd as sealoop-agent.service."
  else
    echo "Start it with: $python -I $program run --state $state"
  fi
}
{ sealoop_install "$@"; }

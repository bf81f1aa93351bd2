# ---------------------------------------------------------------------------------------------------------------------
# Inventory: whole numbers and texts only, so that both sides hash the same bytes. None: it could not be found out
# ---------------------------------------------------------------------------------------------------------------------

MEBIBYTE = 1024 * 1024
MAX_LISTED = 500
MAX_SECTION_BYTES = 65536


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def ask_program(*argv):
    """Returns what a program prints. Raises OSError and SubprocessError."""
    return subprocess.check_output(list(argv), stderr=subprocess.DEVNULL, timeout=60).decode("utf-8", "replace")


def coarse(value, step):
    """Rounds what changes all the time, so that it is not sent anew at each heartbeat."""
    return value // step * step


def find_os():
    names = dict(
        (name, value.strip("'\"")) for name, _, value in
        (line.partition("=") for line in read_text("/etc/os-release").splitlines()) if value)
    system = platform.mac_ver()[0] if sys.platform == "darwin" else names.get("VERSION_ID", "")
    return {
        "id": "macos" if sys.platform == "darwin" else names.get("ID", "linux"),
        "version": system,
        "name": names.get("PRETTY_NAME", platform.system()),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "support_end": names.get("SUPPORT_END"),
    }


def find_cpu():
    models = re.findall(r"^model name\s*:\s*(.+)$", read_text("/proc/cpuinfo"), re.M)
    return {"model": models[0] if models else platform.machine(), "count": os.cpu_count() or 1,
            "load_percent": coarse(int(os.getloadavg()[0] * 100 / (os.cpu_count() or 1)), 10)}


def find_memory():
    found = {name: int(value) * 1024 for name, value in re.findall(
        r"^(\w+):\s+([0-9]+) kB$", read_text("/proc/meminfo"), re.M)}
    if "MemTotal" not in found:
        return None
    return {
        "total_bytes": found["MemTotal"],
        "available_bytes": coarse(found.get("MemAvailable", 0), 64 * MEBIBYTE),
        "swap_total_bytes": found.get("SwapTotal", 0),
        "swap_free_bytes": coarse(found.get("SwapFree", 0), 64 * MEBIBYTE),
    }


def find_disks():
    found = {}
    for line in read_text("/proc/self/mounts").splitlines() or ["disk / disk"]:
        device, mount, kind = line.split(" ")[:3]
        if not device.startswith("/dev/") and mount != "/" or device in found:
            continue
        try:
            space = os.statvfs(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), mount))
        except OSError:
            continue
        found[device] = {
            "device": device, "mount": mount, "type": kind, "size_bytes": space.f_blocks * space.f_frsize,
            "free_bytes": coarse(space.f_bavail * space.f_frsize, 64 * MEBIBYTE)}
    return sorted(found.values(), key=lambda disk: disk["mount"])[:MAX_LISTED]


def find_interfaces():
    addresses = collections.defaultdict(list)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for _, name in socket.if_nameindex():
            addresses[name] = []
            if sys.platform != "linux":
                continue
            try:
                answer = fcntl.ioctl(handle, 0x8915, name.encode()[:15].ljust(256, b"\0"))  # SIOCGIFADDR
                addresses[name].append(socket.inet_ntoa(answer[20:24]))
            except OSError:
                pass  # it has no IPv4 address
    for line in read_text("/proc/net/if_inet6").splitlines():
        digits, name = line.split()[0], line.split()[-1]
        addresses[name].append(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(digits)))
    return [{"name": name, "addresses": sorted(addresses[name])} for name in sorted(addresses)][:MAX_LISTED]


def find_listeners():
    """Lists what is listened on, from /proc; None where there is no such list."""
    found = set()
    if not os.path.exists("/proc/net/tcp"):
        return None
    for file, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        protocol = file[:3]
        for line in read_text("/proc/net/" + file).splitlines()[1:]:
            fields = line.split()
            if len(fields) < 4 or fields[3] != state or protocol == "udp" and not fields[2].endswith(":0000"):
                continue
            digits, port = fields[1].split(":")
            words = bytes.fromhex(digits)
            raw = b"".join(words[at:at + 4][::-1] if sys.byteorder == "little" else words[at:at + 4]
                           for at in range(0, len(words), 4))
            family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
            found.add((protocol, socket.inet_ntop(family, raw), int(port, 16)))
    names = ("protocol", "address", "port")
    return [dict(zip(names, listener)) for listener in sorted(found)][:MAX_LISTED]


PACKAGE_SOURCES = ("/var/lib/dpkg/status", "/lib/apk/db/installed")
packages_cache = {}


def hash_packages():
    """Returns the hash of the installed packages with their versions, or None where there is no list."""
    for path in PACKAGE_SOURCES:
        try:
            info = os.stat(path)
        except OSError:
            continue
        mark = (path, info.st_ino, info.st_size, info.st_mtime_ns)
        if mark not in packages_cache:
            packages_cache.clear()
            packages_cache[mark] = sha256(canonical(list_packages(path))).hex()
        return packages_cache[mark]
    try:
        return sha256(canonical(sorted(ask_program("rpm", "-qa").split()))).hex()
    except (OSError, subprocess.SubprocessError):
        return None


def list_packages(path):
    found = []
    for paragraph in read_text(path).split("\n\n"):
        fields = dict(line.split(":", 1) for line in paragraph.split("\n") if ":" in line[1:])
        if "P" in fields:
            found.append(fields["P"] + " " + fields.get("V", ""))
        elif fields.get("Status", "").strip().endswith(" installed"):
            found.append(" ".join(fields.get(name, "").strip() for name in ("Package", "Version", "Architecture")))
    return sorted(found)


def find_services():
    if not os.path.isdir("/run/systemd/system"):
        return None
    try:
        text = ask_program(
            "systemctl", "list-units", "--type=service", "--all", "--plain", "--no-legend", "--no-pager")
    except (OSError, subprocess.SubprocessError):
        return None
    rows = [line.split(None, 4) for line in text.splitlines()]
    return [{"name": row[0], "active": row[2], "sub": row[3]} for row in rows if len(row) >= 4][:MAX_LISTED]


def is_root_encrypted():
    """Returns True where the root file system lies on an encrypted disk, None where it is on no disk of its own."""
    numbers = [line.split()[2] for line in read_text("/proc/self/mountinfo").splitlines() if line.split()[4] == "/"]
    paths = ["/sys/dev/block/" + number for number in numbers[-1:]]
    if not paths or not os.path.isdir(paths[0]):
        return None
    for path in paths:  # grows: what lies below
        if read_text(path + "/dm/uuid").startswith("CRYPT-"):
            return True
        below = path + "/slaves"
        paths += [os.path.join(below, name) for name in (os.listdir(below) if os.path.isdir(below) else [])]
    return False


def is_firewall_active():
    """Returns True where a known firewall is in force. Its absence can't be told without root."""
    if re.search(r"^ENABLED=yes", read_text("/etc/ufw/ufw.conf"), re.M):
        return True
    active = [unit for unit in find_services() or [] if unit["active"] == "active"]
    return any(unit["name"] in ("nftables.service", "firewalld.service") for unit in active) or None


def read_sshd(path="/etc/ssh/sshd_config", depth=0):
    """Returns the options of the SSH server before any Match, the first of each as it counts."""
    found = {}
    for line in read_text(path).splitlines():
        name, _, value = line.strip().replace("=", " ", 1).partition(" ")
        name, value = name.lower(), value.strip().strip('"')
        if name == "match":
            break
        for file in sorted(glob.glob(os.path.join("/etc/ssh", value))) if name == "include" and depth < 4 else ():
            for option, first in read_sshd(file, depth + 1).items():
                found.setdefault(option, first)
        if name and name[0] != "#":
            found.setdefault(name, value.lower())
    return found


def find_sshd():
    if not os.path.exists("/etc/ssh/sshd_config"):
        return {"installed": False}
    with open("/etc/ssh/sshd_config", encoding="utf-8", errors="replace"):
        pass  # else what is not readable would look like the defaults
    options = read_sshd()
    return {
        "installed": True,
        "password_authentication": options.get("passwordauthentication", "yes"),
        "permit_root_login": options.get("permitrootlogin", "prohibit-password"),
    }


def is_time_synchronized():
    """Returns what the kernel says of the machine's clock, which the agent itself does not use."""
    if sys.platform != "linux":
        return None
    state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))
    return None if state < 0 else state != 5  # TIME_ERROR


updates_cache = {"updates": None}


def refresh_updates():
    """Counts pending updates by the lists that the machine has fetched; slow, so beside the heartbeats."""
    lists = glob.glob("/var/lib/apt/lists/*_Packages*")
    if not lists:
        return
    try:
        planned = re.findall(r"^Inst (.+)$", ask_program("apt-get", "-s", "-o", "Debug::NoLocking=1", "upgrade"), re.M)
    except (OSError, subprocess.SubprocessError):
        return
    updates_cache["updates"] = {
        "pending": len(planned),
        "security": sum("security" in line.lower() for line in planned),
        "listed_at": int(max(os.stat(path).st_mtime for path in lists)),
    }


def find_posture():
    """Returns facts that the platform's policy judges. None: unknown, which is never a pass."""
    facts = {
        "disk_encrypted": is_root_encrypted,
        "firewall_active": is_firewall_active,
        "sshd": find_sshd,
        "time_synchronized": is_time_synchronized,
        "uid_0": lambda: sorted(account.pw_name for account in pwd.getpwall() if account.pw_uid == 0),
        "updates": lambda: updates_cache["updates"],
    }
    found = {}
    for name, find in facts.items():
        try:
            found[name] = find()
        except (OSError, ValueError, IndexError, AttributeError) as error:
            log("cannot find out %s: %s" % (name, error))
            found[name] = None
    return found


INVENTORY = {
    "os": find_os,
    "cpu": find_cpu,
    "memory": find_memory,
    "disks": find_disks,
    "interfaces": find_interfaces,
    "listeners": find_listeners,
    "packages_sha256": hash_packages,
    "services": find_services,
    "posture": find_posture,
}


def take_inventory(mode):
    """Returns all sections. A section that can't be found out is None, and the others are there."""
    found = {"agent": {"version": VERSION, "sha256": hash_own_file(), "mode": mode, "uid": os.geteuid()}}
    for name, find in INVENTORY.items():
        try:
            found[name] = find()
            if len(canonical(found[name])) > MAX_SECTION_BYTES:
                raise ValueError("it is too long for a heartbeat")
        except (OSError, ValueError, IndexError, KeyError) as error:
            log("cannot find out %s: %s" % (name, error))
            found[name] = None
    return found


def hash_own_file():
    with open(os.path.abspath(__file__), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()



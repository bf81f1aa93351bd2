# ---------------------------------------------------------------------------------------------------------------------
# Files, the journal, and time
# ---------------------------------------------------------------------------------------------------------------------


def flush(handle):
    """Returns once a file is on the disk; on macOS, fsync() alone leaves it in the disk's cache."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)


def sync_folder(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_durably(path, data):
    """Replaces a file: either the old or the new content is there after a crash, never a part."""
    # The talker owns its folder: root must not be led out of it.
    handle = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view):]
        flush(handle)
    finally:
        os.close(handle)
    os.rename(path + ".new", path)
    sync_folder(os.path.dirname(path))


def write_json(path, value):
    write_durably(path, canonical(value) + b"\n")


def read_json(path):
    """Reads a file that write_json() wrote; returns None where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise AgentError("%s is damaged: %s" % (path, error))


def check_owned(path):
    """Raises AgentError where somebody else than root could replace what root is to run, or to believe."""
    one = path = os.path.realpath(path)
    while os.geteuid() == 0:
        if os.path.exists(one):  # else root makes it
            info = os.lstat(one)
            # In a folder such as /tmp, others can't replace what is root's.
            is_shared = one != path and info.st_mode & stat.S_ISVTX
            if info.st_uid != 0 or info.st_mode & 0o022 and not is_shared:
                raise AgentError("others than root own %s or may write to it, and root would run what they put there; "
                                 "use a folder that is root's alone, as its parents are" % one)
        if one == os.path.dirname(one):
            return
        one = os.path.dirname(one)


def make_folder(path):
    os.makedirs(path, 0o700, exist_ok=True)
    return path


def read_key(path):
    """Reads a signing key. Refuses a file that others can read."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            raise AgentError("%s can be read by others; set its mode to 600" % path)
        return Key(unhex(file.read().decode().strip(), 64))


def make_key(path):
    """Makes a signing key, or reads the one that is there."""
    if not os.path.exists(path):
        write_durably(path, os.urandom(32).hex().encode() + b"\n")
    return read_key(path)


def lock_file(path, seconds=0):
    """Locks a file; returns its descriptor, or None where another process holds it for longer than some seconds."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = boot_clock() + seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except OSError:
            if boot_clock() >= deadline:
                os.close(handle)
                return None
            time.sleep(0.05)


def boot_clock():
    """Returns seconds since the machine started, time asleep included. Setting the wall clock does not move it."""
    if sys.platform == "linux":
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", 7))
    return time.clock_gettime(time.CLOCK_MONOTONIC)  # unlike time.monotonic(), it goes on while macOS sleeps


def boot_id():
    """Returns a text that differs after each start of the machine."""
    if sys.platform == "linux":
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    return subprocess.check_output(["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]).decode().strip()


# The clock moves by what most of so many receipts agree on.
MAX_CLOCK_RECEIPTS = 5


class DeviceClock:
    """The time by the ledger: what most of the last receipts agree on, and the boot clock since. Never too late.

    A single receipt moves nothing: one that is dated later than its neighbours in the log would stop this device.
    """

    def __init__(self, stored):
        self.boot = boot_id()
        stored = stored or {"boot": self.boot, "newest": None, "at": 0, "receipts": []}
        # What passed while the machine was off is unknown: in a new boot, time since the start is certain.
        is_same_boot = stored["boot"] == self.boot
        self.newest, self.at = stored["newest"], stored["at"] if is_same_boot else 0
        self.receipts = [  # of the newest: position in the log, time, and when that was learned
            (position, seconds, at if is_same_boot else 0) for position, seconds, at in stored["receipts"]]

    def now(self):
        return None if self.newest is None else self.newest + boot_clock() - self.at

    def learn(self, entry):
        """Takes the time of a verified receipt, once."""
        position, now = entry["chain_position"], boot_clock()
        if any(known == position for known, _, _ in self.receipts):
            return
        self.receipts = (self.receipts + [(position, parse_time(entry["timestamp"]), now)])[-MAX_CLOCK_RECEIPTS:]
        times = sorted(seconds + now - at for _, seconds, at in self.receipts)
        agreed = times[(len(times) - 1) // 2]
        if len(times) > 1 and (self.newest is None or agreed > self.now()):
            self.newest, self.at = agreed, now

    def has_passed(self, seconds, *certain):
        """Returns True where a time has passed by this clock, or by times that are certain to have been reached."""
        now = self.now()
        return any(one is not None and one >= seconds for one in (now,) + certain)

    def fields(self):
        receipts = [list(one) for one in self.receipts]
        return {"boot": self.boot, "newest": self.newest, "at": self.at, "receipts": receipts}


class Journal:
    """Lines that are hash-chained and on the disk before anybody acts on them. Only the newest may ever be torn."""

    def __init__(self, folder, only_reads=False):
        self.path, self.head_path = os.path.join(folder, "journal.ndjson"), os.path.join(folder, "head.json")
        self.seq, self.head, self.fault, self.lines, self.handle = 0, "", None, [], None
        marked = read_json(self.head_path)  # first: somebody else may be writing
        if not only_reads:
            self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with open(self.path, "rb") as file:
            data = file.read()
        end = data.rfind(b"\n") + 1
        if end < len(data) and not only_reads:  # torn by a crash before it was synced: nobody has acted on it
            os.ftruncate(self.handle, end)
            flush(self.handle)
        self.follow(data[:end], marked)

    def follow(self, data, marked):
        hashes = {0: ""}
        for text in data.split(b"\n")[:-1]:
            try:
                line = parse(text.decode())
                follows = line["seq"] == self.seq + 1 or line["kind"] == "released" and line["seq"] > self.seq
                if line["prev"] != self.head or not follows:
                    raise ValueError
            except (KeyError, TypeError, ValueError):
                self.fault = "line %d of the journal does not follow the one before" % (len(self.lines) + 1)
                return
            self.seq, self.head = line["seq"], sha256(text).hex()
            hashes[self.seq] = self.head
            self.lines.append(line)
        if marked is None and self.lines or marked and hashes.get(marked["seq"]) != marked["head"]:
            self.fault = "the journal ends before line %s, which was written" % (marked or {}).get("seq")

    def append(self, kind, fields, seq=None):
        """Writes a line to the disk. @param seq: None: the next one"""
        line = dict(fields, kind=kind, seq=seq or self.seq + 1, prev=self.head)
        line.update(boot=boot_id(), at_boot=int(boot_clock()))
        text = canonical(line)
        if os.write(self.handle, text + b"\n") != len(text) + 1:
            raise OSError(errno.ENOSPC, "the journal can't be written")
        flush(self.handle)
        self.seq, self.head = line["seq"], sha256(text).hex()
        write_json(self.head_path, {"seq": self.seq, "head": self.head})
        return line



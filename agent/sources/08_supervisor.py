# ---------------------------------------------------------------------------------------------------------------------
# The supervisor: a process of its own, so that a command outlives the runner and leaves its result on the disk
# ---------------------------------------------------------------------------------------------------------------------

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
KILL_GRACE_SECONDS = 3


def close_other_files(keep):
    for name in os.listdir("/dev/fd"):
        if int(name) not in keep:
            try:
                os.close(int(name))
            except OSError:
                pass  # the listing's own


def start_supervisor(folder, command, lock):
    """Starts a command under a detached process. @param lock: held as long as that process lives"""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        close_other_files((0, 1, 2, lock))
        supervise(folder, command)
    finally:
        os._exit(0)


def become_user(name):
    """Returns what the child does between fork and exec."""
    account = None if name == "agent" else pwd.getpwnam(name)

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.umask(0o077)
        if account and account.pw_uid != os.geteuid():
            os.initgroups(account.pw_name, account.pw_gid)
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
    return prepare


def clean_environment(command):
    account = pwd.getpwuid(os.geteuid()) if command["user"] == "agent" else pwd.getpwnam(command["user"])
    return {
        "PATH": PATH, "LANG": "C.UTF-8", "HOME": account.pw_dir, "USER": account.pw_name, "LOGNAME": account.pw_name,
        "SEALOOP_COMMAND_ID": command["command_id"]}


def program_of(folder, argv):
    """Returns what to execute. "sealoop-agent" is this program: an upgrade is a command like any other."""
    if argv[0] != "sealoop-agent":
        return argv
    state = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
    # Behind all others, as the last one counts.
    return [sys.executable, "-I", os.path.abspath(__file__)] + argv[1:] + ["--state", state]


def supervise(folder, command):
    """Runs a command to its end or its timeout, and writes output and status.json, in this order."""
    output, total, timed_out = bytearray(), 0, False
    try:
        child = subprocess.Popen(
            [item.encode() for item in program_of(folder, command["argv"])], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", env=clean_environment(command), close_fds=True,
            start_new_session=True, preexec_fn=become_user(command["user"]))
    except (OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
        text = "Cannot run %s: %s\n" % (command["argv"][0], error)
        return finish(folder, 126, False, text.encode("utf-8", "replace")[:command["output_bytes"]], None)
    deadline = boot_clock() + command["timeout_seconds"]
    stop_at = None  # when to kill what did not end by itself
    pipe = child.stdout.fileno()
    while True:
        ready = select.select([pipe], [], [], 0.2)[0]
        data = os.read(pipe, 65536) if ready else None
        if data == b"":
            break
        if data:
            total += len(data)
            output += data[:max(0, command["output_bytes"] - len(output))]
        now = boot_clock()
        if stop_at is None and (now >= deadline or has_ended(child)):
            timed_out = not has_ended(child)
            kill_group(child.pid, signal.SIGTERM)
            stop_at = now + (KILL_GRACE_SECONDS if timed_out else 1)
        elif stop_at is not None and now >= stop_at:
            break
    while not has_ended(child) and boot_clock() < (stop_at or deadline):
        time.sleep(0.02)
    timed_out = timed_out or not has_ended(child)
    kill_group(child.pid, signal.SIGKILL)
    code = child.wait()
    finish(folder, 128 - code if code < 0 else code, timed_out, bytes(output), total)


def has_ended(child):
    """Tells without reaping it: as long as it is a zombie, its number is nobody else's, and its group can be killed."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return child.poll() is not None
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill_group(pid, number):
    try:
        os.killpg(pid, number)
    except OSError:
        pass  # nobody is left in it


def finish(folder, code, timed_out, output, total):
    salt = os.urandom(32)
    write_durably(os.path.join(folder, "output"), output)
    write_json(os.path.join(folder, "status.json"), {
        "status": "timed_out" if timed_out else "done" if code == 0 else "failed",
        "exit_code": code,
        "bytes": len(output),
        "bytes_written": len(output) if total is None else total,
        "salt": salt.hex(),
        "output_sha256": sha256(salt, output).hex(),
    })



# ---------------------------------------------------------------------------------------------------------------------
# Commands of the program
# ---------------------------------------------------------------------------------------------------------------------

TALKER_USER = "sealoop"
SYSTEM_STATE = "/var/lib/sealoop-agent"
USER_STATE = "~/.local/share/sealoop-agent"


def fingerprint(key_hex):
    return sha256(bytes.fromhex(key_hex)).hex()


def describe_trust(trust):
    """Returns what is pinned, a line each, for people to compare with another source."""
    rows = [("ledger key", "from %d" % key.start, fingerprint(key.public)) for key in trust.keys]
    rows += [("log key", trust.log_key.name, fingerprint(trust.log_key.public_key.hex()))]
    rows += [("witness", key.name, fingerprint(key.public_key.hex())) for key in trust.witnesses]
    rows += [("approver", "", fingerprint(key)) for key in trust.approvers]
    rows += [("approver", "passkey, %s" % one["origin"], passkey_fingerprint(one)) for one in trust.passkeys]
    lines = ["%-11s %-28s SHA-256 %s" % row for row in rows]
    lines.append("%-11s %d of %d" % ("quorum", trust.quorum, len(trust.witnesses)))
    lines.append("%-11s %s" % ("approvals", "signatures required: %d" % trust.required
                               if trust.required else "no signatures required"))
    return "\n".join("  " + line for line in lines)


@subcommand(
    "enroll",
    argument("--server", required=True),
    argument("--code-file", required=True),
    argument("--pins", required=True),
    argument("--name", default=socket.gethostname()),
    argument("--replaces"),
    argument("--proxy"),
    argument("--talker-user", default=TALKER_USER))
def enroll(options):
    """Makes keys, proves that it has them, and pins what the install script named."""
    gateway = Gateway(options.server, options.proxy)
    pins = read_json(options.pins)
    try:
        trust = Trust(pins or {})
    except ValueError as error:
        raise AgentError("%s can't be used: %s" % (options.pins, error))
    with open(options.code_file, encoding="utf-8") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise AgentError("%s can be read by others; set its mode to 600" % options.code_file)
        code = file.read().strip()
    if not options.user:
        find_account(options.talker_user)
    check_owned(options.state)
    for name in ("runner", os.path.join("runner", "commands")):
        check_owned(os.path.join(options.state, name))
    make_folder(options.state)
    talker, runner = (make_folder(os.path.join(options.state, name)) for name in ("talker", "runner"))
    if lock_file(os.path.join(runner, "lock")) is None:
        raise AgentError("another process enrols or runs %s" % options.state)
    if os.path.exists(os.path.join(runner, "identity.json")):
        raise AgentError("this is a device already (%s); uninstall it first" % options.state)
    if known_command_ids(runner):
        raise AgentError("%s has the journal of a device; uninstall it first, as that makes new keys" % options.state)
    device, own = make_key(os.path.join(talker, "device.key")), make_key(os.path.join(runner, "runner.key"))
    device_id = "DEV-" + sha256(device.public).hex()[:12]
    proven = {"code": code, "public_key": device.hex, "runner_key": own.hex}
    replaces = {"replaces": options.replaces} if options.replaces else {}
    answer = send_enrolment(gateway, dict(
        proven, name=options.name, platform="macos" if sys.platform == "darwin" else "linux", **replaces,
        proof={"device": device.sign(canonical(proven)).hex(), "runner": own.sign(canonical(proven)).hex()}))
    if answer.get("device_id") != device_id:
        raise AgentError("the platform names another device than %s" % device_id)
    if answer.get("trust") != pins:
        raise AgentError(
            "the platform names other keys than %s pins; compare both with another source" % options.pins)
    try:
        checkpoint = trust.check_checkpoint(answer.get("checkpoint"))
    except Refusal as refusal:
        raise AgentError("the platform's checkpoint can't be pinned: %s" % refusal)
    mode = "user" if options.user else "system"
    write_json(os.path.join(runner, "trust.json"), pins)
    write_json(os.path.join(runner, "accepted.json"), {
        "checkpoint": checkpoint.note, "keys": pins["ledger_keys"], "time": None})
    for name in ("journal.ndjson", "head.json"):  # of an enrolment that was not finished
        if os.path.exists(os.path.join(runner, name)):
            os.unlink(os.path.join(runner, name))
    Journal(runner).append("enrolled", {"device_id": device_id})
    write_json(os.path.join(talker, "server.json"), {
        "url": options.server, "proxy": options.proxy, "device_id": device_id, "mode": mode})
    write_json(os.path.join(runner, "identity.json"), {
        "device_id": device_id, "org_id": answer["org_id"], "mode": mode, "server": options.server,
        "proxy": options.proxy, "talker_user": options.talker_user})
    if mode == "system":
        hand_over(talker, options.talker_user)
        os.chmod(options.state, 0o755)
    say("This machine is the device %s of %s. Receipt: %s" % (device_id, answer["org_id"], answer.get("receipt_id")))
    if options.replaces:
        say("It replaces %s as soon as a person approves." % options.replaces)
    say("Pinned from now on; compare it with another source:\n" + describe_trust(trust))
    if mode == "user":
        say("Talking and running are one user here: nothing protects the results from the talking half.")


def send_enrolment(gateway, body):
    data = canonical(body)
    for attempt in range(5):
        try:
            return gateway.send(
                "POST", gateway.path("/v1/devices/enroll"), data, {"content-type": "application/json"}, 60)
        except Answered as error:
            if error.status not in (429, 502, 503, 504) or attempt == 4:
                raise AgentError("Cannot enrol: %s" % error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if attempt == 4:
                raise AgentError("Cannot enrol at %s: %s" % (gateway.parts.geturl(), error))
        time.sleep(random.uniform(0.5, 2 ** attempt))


def find_account(name):
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise AgentError("there is no user %s; make it with: useradd --system %s" % (name, name))


def hand_over(folder, name):
    """Gives the talker's files to its user."""
    account = find_account(name)
    for path in [folder] + [os.path.join(folder, name) for name in os.listdir(folder)]:
        os.lchown(path, account.pw_uid, account.pw_gid)


@subcommand("check-folder", argument("folder"))
def check_folder(options):
    """Prints a folder without links, where the agent may be installed there."""
    check_owned(options.folder)
    print(os.path.realpath(options.folder))


@subcommand("run")
def run(options):
    """Runs both halves: this process is the runner, and the talker is its child, without rights where it can be."""
    identity = read_json(os.path.join(options.state, "runner", "identity.json"))
    if identity is None:
        raise AgentError("this is no device yet; run enroll first")
    if identity["mode"] == "system" and os.geteuid() != 0:
        raise AgentError("the device was enrolled for the whole machine; run it as root")
    check_owned(os.path.join(options.state, "runner"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    account = find_account(identity["talker_user"]) if identity["mode"] == "system" else None
    log("%s talks to %s" % (identity["device_id"], identity["server"]))
    backoff, mark = Backoff(), mark_of_program()
    while True:
        started = boot_clock()
        talker = subprocess.Popen(
            [sys.executable, "-I", os.path.abspath(__file__), "talk", "--state", options.state],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=True, cwd="/",
            env={"PATH": PATH, "LANG": "C.UTF-8"},
            preexec_fn=lambda: drop_rights(account))
        try:
            serve_runner(options.state, talker.stdout.fileno(), talker.stdin.fileno())
        except OSError as error:
            log("the runner ends, and begins anew from its files: %s" % error)  # the disk may be full
        finally:
            talker.kill()
            talker.wait()
        if mark_of_program() != mark:
            os.execv(sys.executable, [sys.executable, "-I", os.path.abspath(__file__)] + sys.argv[1:])
        if boot_clock() - started > 60:
            backoff.reset()
        time.sleep(backoff.next(None))


def drop_rights(account):
    """Makes a child process one that can gain no rights."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)
    if account:
        os.setgroups([])
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


@subcommand("talk")
def talk(options):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        Talker(options.state, 0, 1).run()
    except BrokenPipeError:
        pass  # the runner is gone


@subcommand("runner")
def run_runner(options):
    """Runs the runner alone, over standard input and output."""
    serve_runner(options.state, 0, 1)


@subcommand("status", is_remote=True)
def status(options):
    runner = Runner(options.state, lambda message: None, only_reads=True)
    say("device      %(device_id)s of %(org_id)s (%(mode)s), %(server)s" % runner.identity)
    say("runner key  %s" % runner.key.hex)
    say("accepted    checkpoint of %d receipts, root %s" % (runner.accepted.size, runner.accepted.root.hex()))
    say("journal     %d lines, head %s" % (runner.journal.seq, runner.journal.head[:16]))
    say("waiting     %d statements to be sealed" % len(runner.waiting))
    if runner.blocked:
        say("BLOCKED     %s; a person must decide, see release" % runner.blocked["reason"])
    say(describe_trust(runner.trust))
    for command_id, one in runner.commands.items():
        say("%s  %-9s %s" % (command_id, one.get("status", one["phase"]), json.dumps(one["command"]["argv"])))


@subcommand("verify-bundle", argument("bundle"))
def verify_bundle(options):
    """Checks again, offline, what was approved and what ran. Ends with 1 where something does not hold."""
    runner = Runner(options.state, lambda message: None, only_reads=True)
    is_id = COMMAND_ID.fullmatch(options.bundle)
    stored = read_json(runner.command_path(options.bundle, "bundle.json") if is_id else options.bundle)
    if stored is None:
        raise AgentError("%s was not accepted on this device" % options.bundle)
    try:
        log_part, bundle, faults = stored["log"], stored["bundle"], []
        check_log_shape(log_part)
        check_shape(bundle)
    except (KeyError, TypeError, Refusal) as error:
        raise AgentError("%s is no bundle: %s" % (options.bundle, error))
    command = bundle["command"]
    say("command    %s for %s, number %s" % (command["command_id"], command["device_id"], command["sequence"]))
    say("runs       %s as %s" % (json.dumps(command["argv"]), command["user"]))
    script = command["script"]
    say("script     %s" % (json.dumps(script, sort_keys=True) if script else "none: free arguments"))
    say("limits     %s s, %s bytes of output, expires %s" % (
        command["timeout_seconds"], command["output_bytes"], command["expires_at"]))
    try:
        checkpoint = runner.trust.check_checkpoint(log_part["checkpoint"])
        keys = [parse_ledger_key(key) for key in stored["keys"]] if "keys" in stored else runner.trust.keys
        entries, keys = check_records(bundle["records"], keys)
        check_inclusion(bundle["records"], entries, bundle["proofs"], checkpoint)
        check_commitment(entries[0], bundle["salt"], command)
        check_issued(entries[0], command)
        say("issued     receipt %s at position %d, in the log of %d receipts" % (
            entries[0]["id"], entries[0]["chain_position"], checkpoint.size))
        signers = valid_approvers(bundle, runner.trust)
        approval = command["approval"]
        say("approved   %s" % (approval["approval_id"] if approval else "no approval was asked for"))
        for signer in sorted(signers):
            say("signed by  approver %s" % signer)
        label_fault = find_label_fault(bundle, keys, checkpoint)
        say("released   %s" % (label_fault or "receipt %s" % parse(bundle["release"]["record"])["id"]))
        check_approvals(bundle, runner.trust, label_fault)
        if command["device_id"] != runner.identity["device_id"]:
            raise Refusal("other_device", "the command is for another device")
        show_receipts(runner, command["command_id"], runner.keys, faults)
    except Refusal as refusal:
        faults.append("%s: %s" % (refusal.code, refusal))
    for fault in faults:
        say("DOES NOT HOLD  " + fault)
    say("Nothing was found wrong: what ran is what was issued." if not faults else "Do not believe this bundle.")
    return 1 if faults else 0


def show_receipts(runner, command_id, keys, faults):
    for item in read_json(runner.command_path(command_id, "receipts.json")) or []:
        body, entry = item["body"], None
        try:
            entry = verify_record(item["record"], keys)
            unsigned = {name: value for name, value in body.items() if name != "signature"}
            if committed(entry, "statement") != commitment_of(item["salt"], body):
                raise ValueError("it commits to another statement")
            if not verify_ed25519(runner.key.public, canonical(unsigned), unhex(body["signature"], 128)):
                raise ValueError("the runner has not signed its statement")
        except (KeyError, TypeError, ValueError) as error:
            faults.append("the receipt of statement %s: %s" % (body.get("sequence"), error))
            continue
        what = "egress" if body["action"] == "data_egress" else body["phase"]
        told = ", ".join("%s %s" % (name, body[name]) for name in BODY_FIELDS if name in body)
        say("%-10s receipt %s at position %d: %s%s" % (
            what, entry["id"], entry["chain_position"], body["status"], ", " + told if told else ""))
    status = read_json(runner.command_path(command_id, "status.json"))
    if status:
        with open(runner.command_path(command_id, "output"), "rb") as file:
            if sha256(unhex(status["salt"], 64), file.read()).hex() != status["output_sha256"]:
                faults.append("the output is not the one whose hash was sealed")


def known_command_ids(folder):
    """Returns the ids of all commands that this device has begun, by its files and the legible lines of its journals."""
    commands = os.path.join(folder, "commands")
    known = {name for name in os.listdir(commands) if COMMAND_ID.fullmatch(name)} if os.path.isdir(commands) else set()
    for path in glob.glob(os.path.join(glob.escape(folder), "journal.ndjson*")):
        with open(path, "rb") as file:
            for text in file:
                try:
                    line = parse(text.decode())
                    known.update([line["command_id"]] if line["kind"] == "begun" else line.get("command_ids", []))
                except (AttributeError, KeyError, TypeError, ValueError):
                    continue  # it was damaged; the command's folder is there all the same
    return known


@subcommand("release", argument("seq", type=int), argument("command_sequence", type=int))
def release(options):
    """Begins a new journal above the numbers that the platform knows, after a person has decided."""
    folder = os.path.join(options.state, "runner")
    lock = lock_file(os.path.join(folder, "lock"))
    if lock is None:
        raise AgentError("the agent is running; stop it first")
    known = known_command_ids(folder)
    old = os.path.join(folder, "journal.ndjson")
    if os.path.exists(old) and os.path.getsize(old):
        os.rename(old, "%s.before-%d-%s" % (old, options.seq, os.urandom(4).hex()))
    sync_folder(folder)
    journal = Journal(folder)
    fields = {"command_sequence": options.command_sequence, "command_ids": sorted(known)}
    journal.append("released", fields, seq=options.seq + 1)
    write_json(os.path.join(folder, "acknowledged.json"), {"seq": journal.seq, "aside": []})
    if os.path.exists(os.path.join(folder, "blocked.json")):
        os.unlink(os.path.join(folder, "blocked.json"))
    say("The journal goes on with line %d, and commands above number %d are taken." % (
        journal.seq + 1, options.command_sequence))


@subcommand("upgrade", argument("--sha256", required=True), is_remote=True)
def upgrade(options):
    """Replaces this program. The agent that runs sees that, and goes on as the new one."""
    identity = read_json(os.path.join(options.state, "runner", "identity.json"))
    if identity is None:
        raise AgentError("this is no device; run the install script")
    gateway, path = Gateway(identity["server"], identity.get("proxy")), os.path.abspath(__file__)
    try:
        answer, data = gateway.exchange("GET", gateway.path("/v1/devices/agent/download"), None, {}, 60)
    except http.client.HTTPException as error:
        raise AgentError("Cannot download from %s: %s" % (identity["server"], error))
    found = hashlib.sha256(data).hexdigest()
    if answer.status != 200 or found != options.sha256:
        raise AgentError("%s serves a program of SHA-256 %s, not %s" % (identity["server"], found, options.sha256))
    mode = stat.S_IMODE(os.stat(path).st_mode)
    write_durably(path + ".next", data)
    os.chmod(path + ".next", mode)
    if subprocess.call([sys.executable, "-I", path + ".next", "--help"], stdout=subprocess.DEVNULL) != 0:
        raise AgentError("the new program does not start here; nothing was changed")
    os.rename(path + ".next", path)
    sync_folder(os.path.dirname(path))
    say("Replaced %s by the program of SHA-256 %s." % (path, found))


@subcommand("uninstall", argument("--yes", action="store_true"))
def uninstall(options):
    if not options.yes:
        raise AgentError("this removes the keys and the journal for good; say --yes")
    unit = "/etc/systemd/system/sealoop-agent.service"
    if not options.user and os.path.exists(unit):
        subprocess.call(["systemctl", "disable", "--now", "sealoop-agent.service"])
        os.unlink(unit)
        subprocess.call(["systemctl", "daemon-reload"])
    if os.path.isdir(os.path.join(options.state, "runner")):
        shutil.rmtree(options.state)
        say("Removed %s." % options.state)
    say("The platform still lists the device. Its receipts stay in the ledger. To remove the program: rm %s" %
          os.path.abspath(__file__))


def parse_arguments():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        print(__doc__.strip())
        sys.exit(0)
    parser = argparse.ArgumentParser(prog="sealoop_agent.py")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    for name, command in COMMANDS.items():
        one = commands.add_parser(name, allow_abbrev=False)
        one.set_defaults(work=command.work)
        one.add_argument("--state")
        one.add_argument("--user", action="store_true")
        for flag, settings in command.arguments:
            one.add_argument(flag, **settings)
    options = parser.parse_args()
    options.user = options.user or os.geteuid() != 0
    options.state = os.path.abspath(os.path.expanduser(options.state or (USER_STATE if options.user else SYSTEM_STATE)))
    return options


def main():
    os.umask(0o077)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever starts it may ignore it, and exit codes would be lost
    options = parse_arguments()
    return options.work(options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (AgentError, OSError) as error:
        log(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)

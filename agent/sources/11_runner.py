# ---------------------------------------------------------------------------------------------------------------------
# The runner: verifies, journals, runs. It opens no socket and reads no file of the talker's
# ---------------------------------------------------------------------------------------------------------------------

OFFER_AGAIN_SECONDS = 10
OVERDUE_SECONDS = 60
ASIDE_SECONDS = 3600
MAX_REFUSALS_PER_HOUR = 100
BODY_FIELDS = ("code", "exit_code", "bytes", "output_sha256", "destination_class")


class Runner:
    """The privileged half. Its files say what it has promised; a new process goes on from them."""

    def __init__(self, state, send, only_reads=False):
        self.folder, self.send = os.path.join(state, "runner"), send
        self.key = read_key(self.path("runner.key"))
        self.identity = read_json(self.path("identity.json"))
        self.trust = Trust(read_json(self.path("trust.json")))
        accepted = read_json(self.path("accepted.json"))
        if self.identity is None or accepted is None:
            raise AgentError("this is no device yet; run enroll first")
        self.accepted = Checkpoint(accepted["checkpoint"])
        self.keys = [parse_ledger_key(key) for key in accepted["keys"]]
        self.clock = DeviceClock(accepted["time"])
        # Before the journal: somebody else may be writing.
        acknowledged = read_json(self.path("acknowledged.json")) or {"seq": 0, "aside": []}
        self.acknowledged = acknowledged["seq"]  # the newest that is, and all before it but for those set aside
        self.aside = {seq: None for seq in acknowledged["aside"]}  # when each was: the platform does not take them
        self.journal = Journal(self.folder, only_reads)
        self.commands, self.refused, self.last_sequence = {}, set(), 0
        self.used = set()  # ids of commands that earlier journals know
        self.waiting = collections.deque()  # statements that are not acknowledged, oldest first
        self.offered, self.offered_at = None, None
        self.cosignature, self.firewall = (None, None), None
        self.refusals = collections.deque(maxlen=MAX_REFUSALS_PER_HOUR)  # when they were journaled
        if self.journal.fault is None and self.acknowledged > self.journal.seq:
            self.journal.fault = "the journal ends before line %d, whose receipt came" % self.acknowledged
        self.blocked = read_json(self.path("blocked.json")) or (
            {"reason": self.journal.fault} if self.journal.fault else None)
        if self.journal.fault is None:
            for line in self.journal.lines:
                self.replay(line)
        if not only_reads and self.blocked is None:
            self.resume()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def command_path(self, command_id, *names):
        return self.path("commands", command_id, *names)

    # What the journal says

    def replay(self, line):
        kind, one = line["kind"], self.commands.get(line.get("command_id"))
        if kind == "begun":
            if one is None:
                one = self.commands[line["command_id"]] = {"command": line["command"], "commitment": line["commitment"]}
            one.update(phase="begun", begun=line)
            self.last_sequence = max(self.last_sequence, line["command"]["sequence"])
        elif kind == "started":
            one.update(phase="started", started=line)
        elif kind == "ended":
            one.update(phase="ended", status=line["statement"]["status"], ended=line)
        elif kind == "egress":
            one.update(phase="egress", egress=line)
        elif kind == "delivered":
            one["phase"] = "delivered"
        elif kind == "refused":
            self.refused.add(line["bundle_sha256"])
        elif kind == "released":
            self.last_sequence = max(self.last_sequence, line["command_sequence"])
            self.used.update(line["command_ids"])
            self.acknowledged = max(self.acknowledged, line["seq"])
            self.waiting.clear()
            self.aside.clear()
        if "statement" in line and not self.is_acknowledged(line):
            self.waiting.append(line)

    def is_acknowledged(self, line):
        return line["seq"] <= self.acknowledged and line["seq"] not in self.aside

    def resume(self):
        """Goes on after a start. What was begun and provably not started begins anew where its receipt is not fresh."""
        for command_id, one in list(self.commands.items()):
            if one["phase"] == "begun":
                if self.is_acknowledged(one["begun"]) or one["begun"]["boot"] != boot_id():
                    self.begin(one["command"], one["commitment"])
            elif one["phase"] == "ended" and self.is_acknowledged(one["ended"]):
                self.announce_output(command_id, one)

        settled = [name for name, one in self.commands.items() if one["phase"] in ("ended", "delivered")]
        for command_id in settled[:-MAX_KEPT_COMMANDS]:
            shutil.rmtree(self.command_path(command_id), ignore_errors=True)  # the journal still knows it

    def state_statement(self, kind, fields, **journaled):
        """Journals a statement that the runner has signed, to be delivered until the ledger has it."""
        body = dict(fields, sequence=self.journal.seq + 1, nonce=os.urandom(16).hex())
        body["signature"] = self.key.sign(canonical(body)).hex()
        line = self.journal.append(kind, dict(journaled, statement=body))
        self.replay(line)
        self.offer()
        return line

    # Talking to the talker

    def offer(self, again=False):
        """Gives the oldest statement to the talker, one at a time."""
        if self.blocked or not again and self.offered is not None:
            return
        now = boot_clock()
        due = (line for line in self.waiting if (self.aside.get(line["seq"]) or -ASIDE_SECONDS) + ASIDE_SECONDS <= now)
        line = self.offered or next(due, None)
        if line:
            self.offered, self.offered_at = line, now
            self.send({"type": "statement", "body": line["statement"]})

    def save_acknowledged(self):
        write_json(self.path("acknowledged.json"), {"seq": self.acknowledged, "aside": sorted(self.aside)})

    def on_not_taken(self, message):
        """Sets a statement aside that the platform does not take as it is: those behind it go on, and it comes again later."""
        line = self.offered
        if line is None or line["seq"] != message["sequence"]:
            return
        self.aside[line["seq"]] = boot_clock()
        self.acknowledged = max(self.acknowledged, line["seq"])
        self.save_acknowledged()
        self.offered = None
        self.offer()

    def tell_state(self, replies=False):
        if self.cosignature[0] != self.accepted.text:
            line = cosign(self.identity["device_id"], self.key, self.accepted.text, int(self.clock.now() or 0))
            self.cosignature = self.accepted.text, line
        self.send({
            "type": "state",
            "replies": replies,  # to a log or a command
            "device_id": self.identity["device_id"],
            "journal": {"seq": self.journal.seq, "head": self.journal.head},
            "log_size": self.accepted.size,
            "checkpoint": self.accepted.note,
            "cosignature": self.cosignature[1],
            "approvers_version": self.trust.version,
            "blocked": self.blocked and self.blocked["reason"],
            "firewall": self.observe_firewall(),
        })

    def observe_firewall(self):
        """Returns what rules are in force, looked at now and then; only root can see them."""
        if os.geteuid() != 0 or self.identity["mode"] != "system":
            return None
        if self.firewall is None or boot_clock() > self.firewall[0] + FIREWALL_CACHE_SECONDS:
            self.firewall = boot_clock(), observe_firewall(self.folder)
        return self.firewall[1]

    def receive(self, text):
        """Handles one line of the talker's. A line that is no message is answered as such; nothing else happens."""
        try:
            message = parse(text)
            handler = getattr(self, "on_" + message["type"], None)
        except (KeyError, TypeError, ValueError) as error:
            return self.send({"type": "error", "reason": "it is no message: %s" % error})
        if handler is None:
            return self.send({"type": "error", "reason": "it is of an unknown type"})
        try:
            handler(message)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            self.send({"type": "error", "reason": "a field is missing or of another type: %s" % error})

    def on_hello(self, _):
        self.tell_state()
        self.offer(again=True)
        for command_id, one in self.commands.items():
            if one["phase"] == "egress" and self.is_acknowledged(one["egress"]):
                self.send_output(command_id)

    def is_stale(self, message):
        """Returns True where a log was asked for before another one was accepted: its proof says nothing here."""
        asked_from = message.get("from", self.accepted.size)
        try:
            return self.accepted.size not in (asked_from, Checkpoint(message["log"]["checkpoint"]).size)
        except (KeyError, TypeError, ValueError):
            return False  # the checks refuse it

    def on_log(self, message):
        log = message.get("log")
        if self.is_stale(message):
            return self.tell_state(replies=True)
        try:
            check_log_shape(log)
            self.accept(follow_checkpoint(self.trust, self.accepted, log))
        except Refusal as refusal:
            self.refuse(refusal, {"log": log}, None)
            self.send({"type": "log_refused", "code": refusal.code, "reason": str(refusal)})
        self.tell_state(replies=True)

    def on_command(self, message):
        bundle = message.get("bundle")
        try:
            command_id = bundle["command"]["command_id"]
            command_id = command_id if COMMAND_ID.fullmatch(command_id) else None
        except (KeyError, TypeError):
            command_id = None
        answer = {"type": "result", "command_id": command_id}
        try:
            answer["result"] = "stale" if self.is_stale(message) else self.consider(message.get("log"), bundle)
        except Refusal as refusal:
            self.refuse(refusal, {"log": message.get("log"), "bundle": bundle}, command_id)
            answer.update(result="refused", code=refusal.code, reason=str(refusal))
        self.send(answer)
        self.tell_state(replies=True)

    def refuse(self, refusal, what, command_id):
        """Journals a refusal and has it sealed, once for the same bundle, and so many an hour: a talker may go wild."""
        digest = sha256(json.dumps(what, sort_keys=True).encode()).hex()
        if self.blocked or digest in self.refused or len(self.waiting) >= MAX_WAITING_STATEMENTS:
            return
        if len(self.refusals) == MAX_REFUSALS_PER_HOUR and boot_clock() < self.refusals[0] + 3600:
            return
        self.refusals.append(boot_clock())
        fields = {"action": "command_execution", "phase": "ended", "status": "refused", "code": refusal.code}
        if command_id:
            fields["command_id"] = command_id
        self.state_statement("refused", fields, bundle_sha256=digest, reason=str(refusal))

    # Commands

    def consider(self, log, bundle):
        """Checks a bundle in the order of docs/adr/0033-devices.md, and begins its command. Raises Refusal."""
        if self.blocked:
            raise Refusal("journal_rolled_back", self.blocked["reason"])
        try:
            check_log_shape(log)
            check_shape(bundle)
            command = bundle["command"]
            commitment = commitment_of(bundle["salt"], command)
            known = self.commands.get(command["command_id"])
            if known and known["commitment"] == commitment:
                return "known"
            if sum(self.is_running(one) for one in self.commands.values()) >= MAX_RUNNING:
                return "busy"
            keys = [format_ledger_key(key) for key in self.keys]
            self.verify(log, bundle)
        except ValueError as error:
            raise Refusal("bad_shape", str(error))
        make_folder(self.command_path(command["command_id"]))
        write_json(
            self.command_path(command["command_id"], "bundle.json"), {"log": log, "bundle": bundle, "keys": keys})
        self.begin(command, commitment)
        return "begun"

    def is_running(self, one):
        return one["phase"] == "started" or one["phase"] == "begun" and one["begun"]["seq"] not in self.aside

    def verify(self, log, bundle):
        command = bundle["command"]
        checkpoint = follow_checkpoint(self.trust, self.accepted, log)
        self.accept(checkpoint)
        entries, keys = check_records(bundle["records"], self.keys)
        check_inclusion(bundle["records"], entries, bundle["proofs"], checkpoint)
        self.keys = keys
        self.learn(entries[0])  # the others are sent again and again
        self.save_accepted()
        check_commitment(entries[0], bundle["salt"], command)
        if command["device_id"] != self.identity["device_id"]:
            raise Refusal("other_device", "the command is for %s" % command["device_id"])
        if command["sequence"] <= self.last_sequence:
            raise Refusal("sequence_used", "sequence %d is not above %d" % (command["sequence"], self.last_sequence))
        if command["command_id"] in self.commands or command["command_id"] in self.used:
            raise Refusal("sequence_used", "%s has had another number, and a command is run once" % command["command_id"])
        if self.clock.has_passed(parse_time(command["expires_at"]), parse_time(entries[0]["timestamp"])):
            raise Refusal("expired", "the command has expired at %s" % command["expires_at"])
        check_issued(entries[0], command)
        check_approvals(bundle, self.trust, find_label_fault(bundle, self.keys, checkpoint))
        check_bounds(command, os.geteuid() == 0 and self.identity["mode"] == "system")

    def learn(self, entry):
        """Takes the time of a receipt, which counts at once against what has begun and does not run yet."""
        self.clock.learn(entry)
        for one in self.commands.values():
            if one["phase"] == "begun":
                one["stated"] = max(one.get("stated", 0), parse_time(entry["timestamp"]))

    def accept(self, checkpoint):
        if checkpoint.size > self.accepted.size:
            self.accepted = checkpoint
            self.save_accepted()

    def save_accepted(self):
        write_json(self.path("accepted.json"), {
            "checkpoint": self.accepted.note,
            "keys": [format_ledger_key(key) for key in self.keys],
            "time": self.clock.fields(),
        })

    def begin(self, command, commitment):
        fields = {
            "action": "command_execution", "command_id": command["command_id"], "phase": "begun", "status": "begun"}
        self.state_statement(
            "begun", fields, command_id=command["command_id"], command=command, commitment=commitment)

    def on_sealed(self, message):
        """Takes the receipt of the statement that was offered, and goes on with what waited for it."""
        line = self.offered
        if line is None or line["seq"] != message["sequence"]:
            return  # an answer to an earlier offer
        body = line["statement"]
        try:
            keys = self.keys
            for text in message.get("succession", []):
                keys = follow_rotation(text, keys)
            entry = verify_record(message["record"], keys)
            if committed(entry, "statement") != commitment_of(message["salt"], body):
                raise ValueError("it is the receipt of another statement")
        except (KeyError, TypeError, ValueError) as error:
            return self.send({"type": "receipt_refused", "sequence": line["seq"], "reason": str(error)})
        self.learn(entry)
        self.save_accepted()
        self.keep_receipt(body, message)
        self.acknowledged = max(self.acknowledged, line["seq"])
        self.aside.pop(line["seq"], None)
        self.save_acknowledged()
        self.waiting.remove(line)
        self.offered = None
        one = self.commands.get(body.get("command_id"))
        if one and one.get("begun") is line and one["phase"] == "begun":
            self.start(one, parse_time(entry["timestamp"]))
        elif one and one.get("ended") is line and one["phase"] == "ended":
            self.announce_output(body["command_id"], one)
        elif one and one.get("egress") is line:
            self.send_output(body["command_id"])
        self.offer()
        self.tell_state()

    def keep_receipt(self, body, message):
        """Keeps the receipt beside its command, for people."""
        path = self.command_path(body.get("command_id", ""), "receipts.json")
        if "command_id" in body and os.path.isdir(os.path.dirname(path)):
            receipts = read_json(path) or []
            write_json(path, receipts + [{"body": body, "record": message["record"], "salt": message["salt"]}])

    def on_conflict(self, message):
        """The ledger has another statement under this number: this journal is an old copy, or a clone's."""
        if self.offered and self.offered["seq"] == message["sequence"]:
            self.block("the ledger has another statement under number %d" % message["sequence"])
        self.tell_state()

    def block(self, reason):
        """Runs nothing more until a person has decided."""
        self.blocked = {"reason": reason}
        write_json(self.path("blocked.json"), self.blocked)

    def start(self, one, sealed_at):
        """Starts a command whose begun receipt is back, unless it has expired meanwhile."""
        command, begun, expires = one["command"], one["begun"], parse_time(one["command"]["expires_at"])
        if self.clock.has_passed(expires, one["stated"]):
            return self.end(command["command_id"], {"status": "expired"})
        # The receipt was made after the line was written, so that it is at most this late now.
        if sealed_at + boot_clock() - begun["at_boot"] >= expires:
            return self.begin(command, one["commitment"])
        folder = make_folder(self.command_path(command["command_id"]))
        lock = lock_file(os.path.join(folder, "lock"))
        if lock is None or os.path.exists(os.path.join(folder, "status.json")):
            return self.block("%s has run before, and the journal does not say so" % command["command_id"])
        self.replay(self.journal.append("started", {"command_id": command["command_id"]}))
        start_supervisor(folder, command, lock)
        os.close(lock)

    def end(self, command_id, fields):
        body = {"action": "command_execution", "command_id": command_id, "phase": "ended", "status": fields["status"]}
        body.update((name, fields[name]) for name in BODY_FIELDS if fields.get(name) is not None)
        self.state_statement("ended", body, command_id=command_id)

    def tick(self):
        """Looks at what runs and what waits."""
        if self.blocked:
            return
        for command_id, one in list(self.commands.items()):
            if one["phase"] == "started":
                self.look_after(command_id, one)
            elif one["phase"] == "begun" and self.clock.has_passed(parse_time(one["command"]["expires_at"])):
                self.end(command_id, {"status": "expired"})
        if self.offered is None or boot_clock() > self.offered_at + OFFER_AGAIN_SECONDS:
            self.offer(again=True)

    def look_after(self, command_id, one):
        folder = make_folder(self.command_path(command_id))
        path = os.path.join(folder, "status.json")
        if not os.path.exists(path):
            lock = lock_file(os.path.join(folder, "lock"))
            due = one["started"]["at_boot"] + one["command"]["timeout_seconds"] + OVERDUE_SECONDS
            if lock is None and boot_clock() < due:
                return  # its supervisor lives
            if lock is not None:
                os.close(lock)
        try:
            status = read_json(path)  # once more: the supervisor may have ended in between
        except AgentError as error:
            log(error)
            status = None
        self.end(command_id, status or {"status": "unknown"})

    def announce_output(self, command_id, one):
        """States that output is about to leave this machine; it leaves once that is sealed."""
        status = read_json(self.command_path(command_id, "status.json"))
        if status and status["bytes"] and one["status"] != "unknown":
            self.state_statement("egress", {
                "action": "data_egress", "command_id": command_id, "phase": "begun", "status": "sending",
                "bytes": status["bytes"], "output_sha256": status["output_sha256"], "destination_class": "platform",
            }, command_id=command_id)

    def send_output(self, command_id):
        try:
            status = read_json(self.command_path(command_id, "status.json"))
            with open(self.command_path(command_id, "output"), "rb") as file:
                output = base64.b64encode(file.read()).decode()
        except (AgentError, OSError) as error:
            return log("the output of %s can't be read: %s" % (command_id, error))
        self.send({"type": "output", "command_id": command_id, "salt": status["salt"], "output": output})

    def on_delivered(self, message):
        one = self.commands.get(message["command_id"])
        if one and one["phase"] == "egress":
            self.replay(self.journal.append("delivered", {"command_id": message["command_id"]}))

    def on_approvers(self, message):
        """Takes other approvers, if pinned ones have signed them."""
        update = message["update"]
        signed = {name: update[name] for name in ("approvers", "version")}
        signed["org_id"] = self.identity["org_id"]
        text = b"sealoop-approvers-v1\n" + canonical(signed)
        signers = {
            item["key"] for item in update["signatures"][:MAX_APPROVALS]
            if item["key"] in self.trust.approvers and verify_ed25519(
                unhex(item["key"], 64), text, unhex(item["signature"], 128))}
        fields = dict(self.trust.fields, approvers=dict(update["approvers"], version=update["version"]))
        trust = Trust(fields)
        taken = len(signers) >= max(1, self.trust.required) and trust.version == self.trust.version + 1
        if taken:
            write_json(self.path("trust.json"), fields)
            self.trust = trust
            self.journal.append("approvers", {"version": trust.version, "signed_by": sorted(signers)})
        self.tell_state()  # first, as the next heartbeat says which version is pinned
        # Where the acknowledgement was lost, the platform sends them once more.
        self.send({"type": "approvers", "version": trust.version, "taken": taken or fields == self.trust.fields})


class Lines:
    """Reads lines from a pipe without ever waiting for the end of one."""

    def __init__(self, handle):
        self.handle, self.buffer, self.skips = handle, bytearray(), False

    def read(self, timeout):
        """Returns the lines that came within a time, or None where the other side is gone."""
        if not select.select([self.handle], [], [], timeout)[0]:
            return []
        data = os.read(self.handle, 65536)
        if not data:
            return None
        self.buffer += data
        *lines, rest = self.buffer.split(b"\n")
        if self.skips and lines:
            lines, self.skips = lines[1:], False
        if len(rest) > MAX_LINE:
            rest, self.skips = bytearray(), True
        self.buffer = bytearray(rest)
        return [line.decode("utf-8", "surrogateescape") for line in lines if 0 < len(line) <= MAX_LINE]


def send_line(handle, message):
    data = memoryview(json.dumps(message).encode() + b"\n")
    while data:
        data = data[os.write(handle, data):]


def mark_of_program():
    info = os.stat(os.path.abspath(__file__))
    return info.st_ino, info.st_size, info.st_mtime_ns


def serve_runner(state, source, sink):
    """Runs the runner until its talker is gone, or the program was replaced by another version."""
    mark = mark_of_program()
    lock = lock_file(os.path.join(state, "runner", "lock"), 2)  # a supervisor that is being made still holds it
    if lock is None:
        raise AgentError("another runner uses %s" % state)
    try:
        runner = Runner(state, lambda message: send_line(sink, message))
        lines = Lines(source)
        while True:
            busy = any(one["phase"] in ("begun", "started") for one in runner.commands.values())
            received = lines.read(0.1 if busy else 2)
            if received is None:
                return
            for text in received:
                runner.receive(text)
            runner.tick()
            if mark_of_program() != mark:
                return  # another process goes on from the files, with the new program
    except BrokenPipeError:
        pass  # the talker is gone
    finally:
        os.close(lock)



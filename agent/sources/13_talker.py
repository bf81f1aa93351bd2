# ---------------------------------------------------------------------------------------------------------------------
# The talker: signed requests to the platform (RFC 9421). It believes nothing and decides nothing
# ---------------------------------------------------------------------------------------------------------------------

MAX_ANSWER_BYTES = 8 * 1024 * 1024
LONG_POLL_SECONDS = 25
MAX_BACKOFF_SECONDS = 300
MAX_ACKS = 50
NOT_TAKEN = (400, 413, 422)  # these bytes are not taken, however often they come
MAX_NOT_TAKEN = 3
REFRESH_SECONDS = 3600
COMPONENTS = '("@method" "@path" "@query" "content-digest")'


def printable(text):
    """Leaves nothing in a text that could write over what a terminal shows."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in str(text))


def log(text):
    print("sealoop-agent: " + printable(text).replace("\n", " "), file=sys.stderr, flush=True)


def say(text):
    print(printable(text), flush=True)


class Answered(Exception):
    """The platform refused a request."""

    def __init__(self, status, body, retry_after):
        super().__init__("the platform answers with status %d: %s" % (status, str(body)[:300]))
        self.status, self.body, self.retry_after = status, body if isinstance(body, dict) else {}, retry_after


def signed_headers(key, device_id, method, path, body):
    """Returns the headers that sign a request. @param path: with its query, if it has one"""
    digest = "sha-256=:%s:" % base64.b64encode(sha256(body)).decode()
    parameters = '%s;nonce="%s";keyid="%s";alg="ed25519";tag="sealoop-device"' % (
        COMPONENTS, os.urandom(16).hex(), device_id)
    plain, _, search = path.partition("?")
    base = "\n".join((
        '"@method": ' + method, '"@path": ' + plain, '"@query": ?' + search, '"content-digest": ' + digest,
        '"@signature-params": ' + parameters))
    return {
        "content-type": "application/json",
        "content-digest": digest,
        "signature-input": "sealoop=" + parameters,
        "signature": "sealoop=:%s:" % base64.b64encode(key.sign(base.encode())).decode(),
    }


class Gateway:
    """One connection to the platform, opened anew where it was lost. @param proxy: that it goes through, or None"""

    def __init__(self, url, proxy=None):
        self.proxy = proxy and self.parse_proxy(proxy)
        parts = urllib.parse.urlsplit(url)
        self.is_local = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.scheme == "http" and not self.is_local:
            raise AgentError("%s is no address with https://; http:// is only for this machine" % url)
        self.parts, self.prefix, self.connection = parts, parts.path.rstrip("/"), None

    @staticmethod
    def parse_proxy(text):
        """Returns host, port and headers of a proxy."""
        try:
            parts = urllib.parse.urlsplit(text)
            if parts.scheme != "http" or not parts.hostname or not parts.port or parts.path.strip("/") or parts.query:
                raise ValueError
        except ValueError:
            raise AgentError("a proxy is http://[USER:PASSWORD@]HOST:PORT")
        user, password = (urllib.parse.unquote(item or "") for item in (parts.username, parts.password))
        basic = base64.b64encode(("%s:%s" % (user, password)).encode()).decode()
        return parts.hostname, parts.port, {"proxy-authorization": "Basic " + basic} if user else {}

    def path(self, path):
        return self.prefix + path

    def send(self, method, path, body, headers, timeout):
        """Sends one request. Raises Answered, OSError, HTTPException, or ValueError where the answer is no JSON."""
        try:
            try:
                reused = self.connection is not None
                answer, data = self.exchange(method, path, body, headers, timeout)
            except (http.client.RemoteDisconnected, ConnectionError):
                if not reused:
                    raise
                self.close()  # it was closed while nothing was said; repeating is safe
                answer, data = self.exchange(method, path, body, headers, timeout)
            if len(data) > MAX_ANSWER_BYTES:
                raise ValueError("the answer is too long")
        except BaseException:
            self.close()
            raise
        try:
            value = parse(data.decode())
        except ValueError:
            value = None
        if answer.status != 200 or not isinstance(value, dict):
            raise Answered(answer.status, value, answer.getheader("retry-after"))
        return value

    def exchange(self, method, path, body, headers, timeout):
        if self.connection is None:
            self.connection = self.connect(timeout)
        if self.connection.sock:
            self.connection.sock.settimeout(timeout)
        self.connection.request(method, path, body, dict(headers, **{"user-agent": "sealoop-agent/" + VERSION}))
        answer = self.connection.getresponse()
        return answer, answer.read(MAX_ANSWER_BYTES + 1)

    def connect(self, timeout):
        host, port = self.parts.hostname, self.parts.port
        if self.parts.scheme == "http":  # on this machine
            return http.client.HTTPConnection(host, port, timeout=timeout)
        context = ssl.create_default_context()
        if not self.proxy:
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
        proxy_host, proxy_port, headers = self.proxy
        connection = http.client.HTTPSConnection(proxy_host, proxy_port, timeout=timeout, context=context)
        connection.set_tunnel(host, port or 443, headers)
        return connection

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None


class Backoff:
    """Waits after failures: a random time up to a limit that doubles, so that devices do not come back all at once."""

    def __init__(self):
        self.failures = 0

    def reset(self):
        self.failures = 0

    def next(self, error):
        self.failures = min(self.failures + 1, 16)
        wait = random.uniform(0.2, min(MAX_BACKOFF_SECONDS, 2 ** self.failures))
        asked = getattr(error, "retry_after", None)
        if asked and re.fullmatch("[0-9]{1,4}", asked):
            wait = max(wait, min(int(asked), MAX_BACKOFF_SECONDS) * random.uniform(1, 1.2))
        elif isinstance(error, Answered) and error.status in (401, 403):
            wait = random.uniform(MAX_BACKOFF_SECONDS / 2, MAX_BACKOFF_SECONDS)  # a person has to decide
        return wait


def read_counter(path):
    """Returns the newest counter that was used. What can't be read is no zero, which would look like a clone."""
    try:
        with open(path) as file:
            return int(file.read())
    except FileNotFoundError:
        return 0


class Talker:
    """Carries messages between the platform and the runner. Two requests at a time: a heartbeat and a statement."""

    def __init__(self, state, source, sink):
        self.folder = os.path.join(state, "talker")
        self.server = read_json(os.path.join(self.folder, "server.json"))
        if self.server is None:
            raise AgentError("this is no device yet; run enroll first")
        self.key = read_key(os.path.join(self.folder, "device.key"))
        self.source, self.sink, self.sink_lock = source, sink, threading.Lock()
        self.state, self.has_state, self.replies = None, threading.Event(), threading.Semaphore(0)
        self.result = None  # of the newest command
        self.statements, self.delivering, self.acks = queue.Queue(), set(), collections.deque()
        self.max_acks = MAX_ACKS
        self.has_acks = threading.Event()
        self.known_inventory = {}  # hash of each section that the platform has
        self.challenge = None  # of the platform, where it took a heartbeat for a late one

    def run(self):
        """Talks until the runner is gone."""
        threading.Thread(target=self.keep_alive(self.beat_for_ever), daemon=True).start()
        threading.Thread(target=self.keep_alive(self.deliver_for_ever), daemon=True).start()
        threading.Thread(target=self.keep_alive(self.refresh_for_ever), daemon=True).start()
        self.tell({"type": "hello"})
        lines = Lines(self.source)
        while True:
            received = lines.read(60)
            if received is None:
                return
            for text in received:
                self.hear(parse(text))

    def open_gateway(self):
        return Gateway(self.server["url"], self.server.get("proxy"))

    @staticmethod
    def keep_alive(work):
        def guarded():
            try:
                work()
            except BaseException as error:
                log("the talker ends: %r" % error)
                os._exit(1)  # whoever started it starts it again
        return guarded

    def tell(self, message):
        with self.sink_lock:
            send_line(self.sink, message)

    def hear(self, message):
        kind, acks = message["type"], len(self.acks)
        if kind == "state":
            self.state = message
            self.has_state.set()
            if message["replies"]:
                self.replies.release()
        elif kind == "result":
            self.result = message["result"]
            if message.get("command_id"):  # the platform could not say which command is meant
                self.acks.append({name: message[name] for name in ("command_id", "result", "code") if message.get(name)})
            if message["result"] == "refused":
                log("refused %s: %s" % (message.get("command_id"), message.get("reason")))
        elif kind == "output":
            self.acks.append({
                "command_id": message["command_id"], "result": "output", "salt": message["salt"],
                "output": message["output"]})
        elif kind == "statement":
            if message["body"]["sequence"] not in self.delivering:
                self.delivering.add(message["body"]["sequence"])
                self.statements.put(message["body"])
        elif kind == "approvers":
            result = "taken" if message["taken"] else "refused"
            self.acks.append({"approvers_version": message["version"], "result": result})
        else:
            log("the runner says: %s" % json.dumps(message)[:500])
        if len(self.acks) > acks:
            self.has_acks.set()

    @staticmethod
    def refresh_for_ever():
        while True:
            time.sleep(random.uniform(30, 120))
            refresh_updates()
            time.sleep(REFRESH_SECONDS)

    # Heartbeats

    def beat_for_ever(self):
        gateway, backoff, pending = self.open_gateway(), Backoff(), None
        path = gateway.path("/v1/shield/devices/heartbeat")
        self.has_state.wait()
        while True:
            if pending is None:
                pending = self.next_heartbeat(path)
            body, headers, sent = pending
            begun = boot_clock()
            try:
                answer = gateway.send("POST", path, body, headers, LONG_POLL_SECONDS + 20)
            except (Answered, OSError, http.client.HTTPException, ValueError) as error:
                log("heartbeat: %s" % error)
                if isinstance(error, Answered) and 400 <= error.status < 500 and error.status != 429:
                    pending = None  # it was answered: the next one has a new counter
                    challenge = error.body.get("challenge")
                    self.challenge = challenge if is_hex(challenge, 64) else self.challenge
                    self.keep_acks(sent["acks"], error.status)
                    self.known_inventory = {}
                time.sleep(backoff.next(error))
                continue  # without an answer, the very same bytes again
            backoff.reset()
            pending, waited = None, boot_clock() - begun
            self.take_answer(answer, sent)
            if self.result == "busy":
                time.sleep(random.uniform(0.5, 1.5))  # until one of the commands has ended
            elif not answer.get("commands"):
                seconds = self.interval(answer)
                if waited < LONG_POLL_SECONDS / 2 or seconds < LONG_POLL_SECONDS:
                    self.has_acks.wait(seconds * random.uniform(0.8, 1.2))

    def keep_acks(self, acks, status):
        """Keeps acknowledgements for the next heartbeat, fewer where these were not taken; gives up one alone."""
        if status in NOT_TAKEN:
            self.max_acks = max(1, len(acks) // 2)
            if len(acks) == 1:
                return log("the platform does not take that %s" % json.dumps(dict(acks[0], output=None)))
        self.acks.extendleft(reversed(acks))

    @staticmethod
    def interval(answer):
        seconds = answer.get("interval_seconds")
        return min(max(seconds, 0), 3600) if isinstance(seconds, (int, float)) else 60

    def next_heartbeat(self, path):
        """Returns the next heartbeat, signed. Its counter is on the disk before it is used."""
        inventory = take_inventory(self.server["mode"])
        hashes = {name: sha256(canonical(value)).hex() for name, value in inventory.items()}
        acks, size = [], 0
        self.has_acks.clear()
        while self.acks and len(acks) < self.max_acks and size < 400000:
            acks.append(self.acks.popleft())
            size += len(acks[-1].get("output", ""))
        state, file = self.state, os.path.join(self.folder, "counter")
        counter = read_counter(file) + 1
        write_durably(file, b"%d\n" % counter)
        message = {
            "counter": counter,
            "log_size": state["log_size"],
            "checkpoint": state["checkpoint"],
            "cosignature": state["cosignature"],
            "journal": state["journal"],
            "approvers_version": state["approvers_version"],
            "inventory_sha256": sha256(canonical(inventory)).hex(),
            "wait_seconds": LONG_POLL_SECONDS,
        }
        delta = {name: inventory[name] for name in inventory if self.known_inventory.get(name) != hashes[name]}
        if delta:
            message["delta"] = delta
        if state["firewall"]:
            message["firewall"] = state["firewall"]
        if acks:
            message["acks"] = acks
        if self.challenge:
            message["challenge"] = self.challenge
        body = canonical(message)
        sent = {
            "acks": acks, "hashes": hashes, "inventory_sha256": message["inventory_sha256"],
            "log_size": state["log_size"]}
        return body, signed_headers(self.key, self.server["device_id"], "POST", path, body), sent

    def take_answer(self, answer, sent):
        # Where the platform has not got what the sections add up to, all of them are sent again.
        has_all = answer.get("inventory_sha256", sent["inventory_sha256"]) == sent["inventory_sha256"]
        self.known_inventory = sent["hashes"] if has_all else {}
        self.max_acks, self.challenge = MAX_ACKS, None
        for ack in sent["acks"]:
            if ack["result"] == "output":
                self.tell({"type": "delivered", "command_id": ack["command_id"]})
        newest, commands = answer.get("log"), answer.get("commands") or []
        messages = [{"type": "command", "bundle": bundle} for bundle in commands]
        self.result = None
        for message in messages or ([{"type": "log"}] if newest else []):
            self.tell(dict(message, log=newest, **{"from": sent["log_size"]}))
            self.replies.acquire(timeout=60)  # the next heartbeat says what the runner makes of it
            if self.result in ("busy", "stale"):
                break  # those behind have higher numbers, and must not overtake it
        if answer.get("approvers"):
            self.tell({"type": "approvers", "update": answer["approvers"]})
        if answer.get("update"):
            log("there is another version of the agent: %s" % json.dumps(answer["update"])[:300])

    # Statements

    def deliver_for_ever(self):
        gateway = self.open_gateway()
        while True:
            body = self.statements.get()
            message = self.deliver(gateway, body)
            self.delivering.discard(body["sequence"])
            self.tell(message)

    def deliver(self, gateway, body):
        """Has a statement sealed, however long that takes. Returns what to tell the runner."""
        path = gateway.path("/v1/shield/devices/%s/seal" % self.server["device_id"])
        data, backoff, refusals = canonical(body), Backoff(), 0
        while True:
            headers = signed_headers(self.key, self.server["device_id"], "POST", path, data)
            try:
                answer = gateway.send("POST", path, data, headers, 60)
                log("%s %s: receipt %s" % (body.get("command_id", "data"), body["status"], answer.get("receipt_id")))
                return {
                    "type": "sealed", "sequence": body["sequence"], "record": answer["record"],
                    "salt": answer["salt"], "succession": answer.get("succession", [])}
            except (Answered, OSError, http.client.HTTPException, ValueError, KeyError) as error:
                log("statement %d: %s" % (body["sequence"], error))
                code = error.body.get("code") if isinstance(error, Answered) and error.status == 409 else None
                if code == "journal_rolled_back":
                    return {"type": "conflict", "sequence": body["sequence"]}
                if isinstance(error, Answered) and error.status in NOT_TAKEN:
                    refusals += 1
                    if refusals == MAX_NOT_TAKEN:
                        return {"type": "not_taken", "sequence": body["sequence"]}
                time.sleep(backoff.next(error))



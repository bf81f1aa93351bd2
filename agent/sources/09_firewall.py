# ---------------------------------------------------------------------------------------------------------------------
# The firewall: one nft table of the agent's own
# ---------------------------------------------------------------------------------------------------------------------

FIREWALL_CACHE_SECONDS = 30
MAX_WITHIN_SECONDS = 300
REPLACE_TABLE = "table inet sealoop\ndelete table inet sealoop\n"

# Rules as this program takes them: a part of nft's own syntax, in which there are no other tables and no files.
FIREWALL_TOKEN = re.compile(r"""
    (?P<blank> [ \t]+ | \#[^\n]* )
  | (?P<end> [;\n] )
  | (?P<open> { ) | (?P<close> } )
  | (?P<text> "[\x20\x21\x23\x25-\x5b\x5d-\x7e]{0,127}" )
  | (?P<operator> == | != | <= | >= | << | >> | [!<>=&|^,()] )
  | (?P<word> [A-Za-z0-9_.:/+*@\[\]-]+ )
""", re.VERBOSE)
FIREWALL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
# Words by which nft would do something else than hold a rule, wherever they stand
FIREWALL_COMMANDS = frozenset(
    "create define delete destroy export flush import include insert list monitor redefine rename replace table "
    "undefine".split())
FIREWALL_BLOCKS = {  # in the table: what a line of each begins with
    "chain": frozenset(
        "type policy comment accept add ah arp cgroup comp continue counter cpu ct day dccp dnat drop dst dup esp ether "
        "exthdr fib frag fwd goto hbh hour icmp icmpv6 igmp iif iifgroup iifname iiftype ip ip6 ipsec jump l4proto last "
        "length limit log mark masquerade meta mh nfproto notrack oif oifgroup oifname oiftype osf pkttype priority "
        "protocol queue quota redirect reject return rt sctp skgid skuid snat socket synproxy tcp th time tproxy udp "
        "udplite update vlan".split()),
    "set": frozenset("type typeof flags elements timeout gc-interval size policy auto-merge comment counter".split()),
    "map": frozenset("type typeof flags elements timeout gc-interval size policy comment counter".split()),
    "counter": frozenset("packets comment".split()),
    "limit": frozenset("rate comment".split()),
    "quota": frozenset("over until comment".split()),
}


class FirewallRules:
    """The content of an nft table, parsed. Raises AgentError for what is no rules, or more than rules."""

    def __init__(self, text):
        self.tokens, at, line = collections.deque(), 0, 1
        while at < len(text):
            match = FIREWALL_TOKEN.match(text, at)
            if not match:
                raise AgentError("no firewall rules: line %d has %s" % (line, printable(repr(text[at]))))
            if match.lastgroup != "blank":
                self.tokens.append((match.lastgroup, match.group(), line))
            line, at = line + match.group().count("\n"), match.end()
        self.tokens.append(("over", "the end", line))
        self.lines = []
        while self.tokens[0][0] != "over":
            if self.tokens[0][0] == "end":
                self.tokens.popleft()
            else:
                self.take_block()

    @property
    def script(self):
        """The rules as nft is given them: written anew from what was understood."""
        return "table inet sealoop {\n%s\n}\n" % "\n".join(self.lines)

    def take(self, kind, what):
        found, text, line = self.tokens.popleft()
        if found != kind:
            raise AgentError("no firewall rules: line %d has %s where %s is due" % (line, repr(text), what))
        return text

    def take_block(self):
        line, kind = self.tokens[0][2], self.take("word", "a chain or a set")
        if kind not in FIREWALL_BLOCKS:
            raise AgentError("no firewall rules: line %d begins with %s; there are %s" % (
                line, kind, ", ".join(sorted(FIREWALL_BLOCKS))))
        name = self.take("word", "a name")
        if not FIREWALL_NAME.fullmatch(name) or name in FIREWALL_COMMANDS:
            raise AgentError("no firewall rules: line %d has %s where a name is due" % (line, name))
        self.take("open", "{")
        self.lines.append("%s %s {" % (kind, name))
        while self.tokens[0][0] != "close":
            if self.tokens[0][0] == "end":
                self.tokens.popleft()
            else:
                self.take_statement(FIREWALL_BLOCKS[kind])
        self.take("close", "}")
        self.lines.append("}")

    def take_statement(self, beginnings):
        words = []
        while self.tokens[0][0] not in ("end", "close"):
            kind, word, line = self.tokens[0]
            if not words and word not in beginnings or word in FIREWALL_COMMANDS:
                raise AgentError("no firewall rules: %s, in line %d, is not one" % (word, line))
            if kind == "over":
                raise AgentError("no firewall rules: line %d has the end within a rule" % line)
            if kind == "open":
                if words[-1] in ("jump", "goto"):
                    raise AgentError("no firewall rules: line %d has a chain without a name" % line)
                words += self.take_list()
            else:
                words.append(self.tokens.popleft()[1])
            if words[0] in ("add", "update") and not (words + ["@"])[1].startswith("@"):
                raise AgentError("no firewall rules: line %d adds to something else than a set" % line)
        self.lines.append(" ".join(words))

    def take_list(self):
        """Takes values in braces, which have no lines and no braces of their own."""
        words = [self.take("open", "{")]
        while self.tokens[0][0] != "close":
            kind, word, line = self.tokens.popleft()
            if kind in ("open", "over") or word == ";" or word in FIREWALL_COMMANDS:
                raise AgentError("no firewall rules: line %d has %s among values" % (line, word))
            if kind != "end":
                words.append(word)
        return words + [self.take("close", "}")]


def run_nft(*arguments, text=""):
    """Runs nft. Raises AgentError with what it says."""
    try:
        done = subprocess.Popen(
            ["nft"] + list(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={"PATH": PATH, "LANG": "C"})
    except OSError as error:
        raise AgentError("nft can't be run: %s" % error)
    output, errors = done.communicate(text.encode())
    if done.returncode != 0:
        raise AgentError("nft: %s" % errors.decode("utf-8", "replace").strip()[:2000])
    return output.decode()


def list_table():
    """Returns the agent's table, or an empty text where there is none."""
    is_there = any(line.split() == ["table", "inet", "sealoop"] for line in run_nft("list", "tables").splitlines())
    return run_nft("-s", "list", "table", "inet", "sealoop") if is_there else ""


def observe_firewall(folder):
    """Returns what rules are in force; drift: the agent's table is not as it was when it was put in force."""
    applied = read_json(os.path.join(folder, "firewall.json"))
    try:
        rules, backend = run_nft("-s", "list", "ruleset"), "nft"
        drift = applied and sha256(list_table().encode()).hex() != applied["observed_sha256"]
    except AgentError:
        try:
            rules, backend, drift = ask_program("iptables-save"), "iptables", None
        except (OSError, subprocess.SubprocessError):
            return None
        rules = re.sub(r"\[[0-9]+:[0-9]+\]|^#.*$", "", rules, flags=re.M)  # counters and times
    return {
        "backend": backend, "observed_sha256": sha256(rules.encode()).hex(), "drift": drift,
        "applied_sha256": applied and applied["rules_sha256"]}


def list_other_tables():
    """Returns all tables but the agent's own, by family and name, without what packets add to sets."""
    tables, name = {}, None
    for line in run_nft("-s", "list", "ruleset").splitlines(True):
        if line.startswith("table "):
            name = " ".join(line.split()[1:3])
            tables[name] = ""
        if name is not None:
            tables[name] += line
        if line.startswith("}"):
            name = None
    tables.pop("inet sealoop", None)
    return {name: DYNAMIC_SET.sub(without_elements, text) for name, text in tables.items()}


DYNAMIC_SET = re.compile(r"^\t(?:set|map) .*?^\t}$", re.M | re.S)


def without_elements(match):
    is_dynamic = re.search(r"^\t\tflags .*\b(?:dynamic|timeout)\b", match.group(), re.M)
    return re.sub(r"^\t\telements = .*?}$", "", match.group(), flags=re.M | re.S) if is_dynamic else match.group()


def change_own_table(script):
    """Runs a script that concerns the agent's own table. Where others are not as they were, they are put back."""
    before = list_other_tables()
    run_nft("-f", "-", text=script)
    after = list_other_tables()
    changed = sorted(name for name in set(before) | set(after) if before.get(name) != after.get(name))
    if changed:
        back = ["delete table %s\n" % name for name in changed if name in after]
        run_nft("-f", "-", text="".join(back + [before[name] for name in changed if name in before]))
        raise AgentError("not only the agent's own table was changed; put back was: %s" % ", ".join(changed))


@subcommand("firewall", argument("rules"), argument("--within", type=int, default=30), is_remote=True)
def apply_firewall(options):
    """Puts rules in force. A guard takes them back unless this process has reached the platform with them."""
    folder = os.path.join(options.state, "runner")
    identity = read_json(os.path.join(folder, "identity.json"))
    gateway = Gateway(identity["server"], identity.get("proxy"))
    if not 1 <= options.within <= MAX_WITHIN_SECONDS:
        raise AgentError("--within is from 1 to %d" % MAX_WITHIN_SECONDS)
    table = FirewallRules(options.rules).script
    run_nft("-c", "-f", "-", text=REPLACE_TABLE + table)
    before, (reading, writing) = list_table(), os.pipe()
    guard = os.fork()
    if guard == 0:
        try:
            os.setsid()  # it outlives the command's timeout
            os.close(writing)
            kept = select.select([reading], [], [], options.within + 5)[0] and os.read(reading, 4)
            if kept != b"keep":
                run_nft("-f", "-", text=REPLACE_TABLE + before)
        finally:
            os._exit(0)
    os.close(reading)
    deadline = boot_clock() + options.within
    try:
        change_own_table(REPLACE_TABLE + table)
        while not is_reachable(gateway):
            if boot_clock() >= deadline:
                raise AgentError("the platform was not reachable within %d s; the rules from before are back" %
                                 options.within)
            time.sleep(0.5)
        os.write(writing, b"keep")
    finally:
        os.close(writing)
        os.waitpid(guard, 0)
    write_json(os.path.join(folder, "firewall.json"), {
        "rules_sha256": sha256(options.rules.encode()).hex(),
        "observed_sha256": sha256(list_table().encode()).hex()})
    say("The rules are in force, and the platform is reachable.")


def is_reachable(gateway):
    """Returns True where a new connection gets any answer."""
    try:
        gateway.close()
        gateway.exchange("HEAD", gateway.path("/"), None, {}, 2)
        return True
    except (OSError, http.client.HTTPException):
        return False



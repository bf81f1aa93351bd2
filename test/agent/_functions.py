"""Calls functions of the agent for tests: one JSON object a line, {"call": name, ...}; answers {"result"} or {"error"}."""
import json
import sys

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import sealoop_agent as agent  # noqa: E402


def keys_of(fields):
    return [agent.parse_ledger_key(key) for key in fields]


def verify(request):
    parts = (bytes.fromhex(request[name]) for name in ("key", "message", "signature"))
    return agent.verify_ed25519(*parts)


def sign(request):
    seed, message = bytes.fromhex(request["seed"]), bytes.fromhex(request["message"])
    key, fast = agent.Key(seed), agent.open_libcrypto()
    signatures = {agent.sign_in_python(seed, message).hex(), key.sign(message).hex()}
    return {"public": key.hex, "signatures": sorted(signatures), "fast": fast is not None}


def canonicalize(request):
    return agent.canonical(agent.parse(request["json"])).decode()


def verify_record(request):
    return agent.verify_record(request["record"], keys_of(request["keys"]))["id"]


def follow_chain(request):
    """Verifies records of a chain one by one, following rotations. Answers the keys, and where it ended."""
    keys = keys_of(request["keys"])
    for position, record in enumerate(request["records"]):
        if position < keys[0].start:
            continue
        try:
            if agent.parse(record).get("category") == "key_rotated":
                keys = agent.follow_rotation(record, keys)
            elif agent.verify_record(record, keys)["chain_position"] != position:
                raise ValueError("it is elsewhere")
        except ValueError:
            return {"breaks_at": position, "keys": [agent.format_ledger_key(key) for key in keys]}
    return {"breaks_at": None, "keys": [agent.format_ledger_key(key) for key in keys]}


def judge_checkpoint(request):
    trust = dict(request["trust"], approvers={"signatures_required": 0, "keys": []})
    try:
        checkpoint = agent.Trust(trust).check_checkpoint(request["note"])
        return {"size": checkpoint.size}
    except agent.Refusal as refusal:
        return {"code": refusal.code}


def cosign(request):
    key = agent.Key(bytes.fromhex(request["seed"]))
    return {"line": agent.cosign(request["name"], key, request["text"], request["time"]), "public": key.hex}


def root_of_inclusion(request):
    proof = [bytes.fromhex(item) for item in request["proof"]]
    root = agent.inclusion_root(bytes.fromhex(request["leaf"]), request["index"], request["size"], proof)
    return root and root.hex()


def is_consistent(request):
    proof = [bytes.fromhex(item) for item in request["proof"]]
    roots = bytes.fromhex(request["old_root"]), bytes.fromhex(request["new_root"])
    return agent.is_consistent(request["old_size"], roots[0], request["new_size"], roots[1], proof)


def parse_time(request):
    return agent.parse_time(request["text"])


def read_constants(request):
    names = ("REFUSALS", "MAX_OUTPUT_BYTES", "MAX_TIMEOUT_SECONDS", "MAX_ARGUMENTS", "MAX_ARGUMENT_BYTES")
    return {name: getattr(agent, name) for name in names}


def render_firewall(request):
    try:
        return {"script": agent.FirewallRules(request["rules"]).script}
    except agent.AgentError as error:
        return {"refused": str(error)}


def run_nft(request):
    return agent.run_nft(*request.get("arguments", ["-f", "-"]), text=request.get("script", ""))


def change_own_table(request):
    try:
        return {"done": agent.change_own_table(request["script"])}
    except agent.AgentError as error:
        return {"refused": str(error)}


def take_inventory(request):
    inventory = agent.take_inventory("user")
    return {"inventory": inventory, "sha256": agent.sha256(agent.canonical(inventory)).hex()}


for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"result": globals()[request["call"]](request)}
    except ValueError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)

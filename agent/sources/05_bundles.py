# ---------------------------------------------------------------------------------------------------------------------
# Bundles: the checks before a command runs, in their order
# ---------------------------------------------------------------------------------------------------------------------

COMMAND_FIELDS = {
    "command_id", "device_id", "sequence", "argv", "user", "timeout_seconds", "output_bytes", "read_only", "script",
    "expires_at", "approval"}
BUNDLE_FIELDS = {"command", "salt", "records", "proofs", "approvals"}


def is_list(value, kind, least, most):
    return isinstance(value, list) and least <= len(value) <= most and all(isinstance(item, kind) for item in value)


def is_hex(value, digits):
    return isinstance(value, str) and len(value) == digits and re.fullmatch("[0-9a-f]+", value) is not None


def check_log_shape(log):
    if not isinstance(log, dict) or set(log) != {"checkpoint", "consistency"} or not isinstance(log["checkpoint"], str):
        raise Refusal("bad_shape", "log must have checkpoint and consistency")
    hashes = log["consistency"]
    if len(log["checkpoint"]) > 65536 or not is_list(hashes, str, 0, MAX_HASHES * 2):
        raise Refusal("bad_shape", "the checkpoint or its consistency proof is too long")
    if not all(is_hex(item, 64) for item in hashes):
        raise Refusal("bad_shape", "hashes must be 64 lowercase hex digits")


def check_shape(bundle):
    """Check 1: everything is there, of its type, and within its limits."""
    if not isinstance(bundle, dict) or set(bundle) - {"release"} != BUNDLE_FIELDS or not is_hex(bundle["salt"], 64):
        raise Refusal("bad_shape", "a bundle has " + ", ".join(sorted(BUNDLE_FIELDS)))
    records, proofs, approvals = bundle["records"], bundle["proofs"], bundle["approvals"]
    if not is_list(records, str, 1, MAX_RECORDS) or not is_list(proofs, dict, len(records), len(records)):
        raise Refusal("bad_shape", "records and proofs must be lists of one length, records as texts")
    for proof in proofs:
        if set(proof) != {"leaf", "hashes"} or not is_list(proof["hashes"], str, 0, MAX_HASHES):
            raise Refusal("bad_shape", "a proof has leaf and hashes")
        if not all(is_hex(item, 64) for item in proof["hashes"]):
            raise Refusal("bad_shape", "hashes must be 64 lowercase hex digits")
    if not is_list(approvals, dict, 0, MAX_APPROVALS):
        raise Refusal("bad_shape", "approvals must be a list")
    for item in approvals:
        by_key = set(item) == {"key", "signature"} and is_hex(item["key"], 64) and is_hex(item["signature"], 128)
        if not by_key and not is_passkey_approval(item):
            raise Refusal("bad_shape", "an approval has key and signature, as hex, or what a passkey has signed")
    check_command_shape(bundle["command"])


def check_command_shape(command):
    if not isinstance(command, dict) or set(command) != COMMAND_FIELDS:
        raise Refusal("bad_shape", "a command has " + ", ".join(sorted(COMMAND_FIELDS)))
    texts = all(isinstance(command[name], str) for name in ("command_id", "device_id", "user", "expires_at"))
    numbers = all(type(command[name]) is int for name in ("sequence", "timeout_seconds", "output_bytes"))
    if not texts or not numbers or type(command["read_only"]) is not bool:
        raise Refusal("bad_shape", "a field of the command is of another type")
    if not COMMAND_ID.fullmatch(command["command_id"]) or not is_list(command["argv"], str, 1, MAX_ARGUMENTS):
        raise Refusal("bad_shape", "the command's id or arguments are none")
    script, approval = command["script"], command["approval"]
    if script is not None and not (isinstance(script, dict) and set(script) == {"id", "version", "sha256"}):
        raise Refusal("bad_shape", "a script has id, version and sha256")
    if approval is not None:
        fields = {"approval_id", "action_sha256", "needed"}
        if not isinstance(approval, dict) or set(approval) != fields or type(approval["needed"]) is not int:
            raise Refusal("bad_shape", "an approval has approval_id, action_sha256 and needed")
        if not isinstance(approval["approval_id"], str) or not is_hex(approval["action_sha256"], 64):
            raise Refusal("bad_shape", "a field of the approval is of another type")
    try:
        parse_time(command["expires_at"])
    except ValueError:
        raise Refusal("bad_shape", "expires_at is no time with offset")


def check_records(records, keys):
    """Check 4. Returns the fields of all records, and the keys of the ledger with those that the records introduce."""
    entries = []
    for text in records[1:]:
        try:
            keys = follow_rotation(text, keys)
            entries.append(parse(text))
        except ValueError as error:
            raise Refusal("succession_invalid", "a receipt does not hand over to the next key: %s" % error)
    try:
        return [verify_record(records[0], keys)] + entries, keys
    except ValueError as error:
        raise Refusal("record_invalid", "the receipt does not verify: %s" % error)


def check_inclusion(records, entries, proofs, checkpoint):
    """Check 5: each record is in the log."""
    for text, entry, proof in zip(records, entries, proofs):
        record = sha256(canonical(parse(text))).hex()
        leaf = canonical({"chain_position": entry["chain_position"], "id": entry["id"], "record_sha256": record})
        hashes = [unhex(item, 64) for item in proof["hashes"]]
        root = inclusion_root(hash_leaf(leaf), entry["chain_position"], checkpoint.size, hashes)
        if proof["leaf"] != leaf.decode() or root != checkpoint.root:
            raise Refusal("not_included", "receipt %s is not in the log of %d" % (entry["id"], checkpoint.size))


def commitment_of(salt, value):
    return sha256(unhex(salt, 64), canonical(value)).hex()


def committed(entry, name):
    """Returns the commitment that a receipt has to a private text, or None."""
    details = entry.get("details")
    commitments = details.get("commitments") if isinstance(details, dict) else None
    return commitments.get(name) if isinstance(commitments, dict) else None


def check_commitment(entry, salt, command):
    """Check 6: the receipt was made for exactly this command."""
    if committed(entry, "command") != commitment_of(salt, command):
        raise Refusal("commitment_mismatch", "receipt %s was issued for another command" % entry["id"])


def action_of(command):
    """Returns the command as it was asked for, before it was numbered and issued."""
    return {name: value for name, value in command.items() if name not in ("sequence", "approval")}


def action_sha256(command):
    """Returns the hash that approvers sign."""
    return sha256(canonical(action_of(command))).hex()


def approval_text(command):
    """Returns the bytes that an approver signs."""
    return b"sealoop-approval-v1\n" + canonical({
        "action_sha256": action_sha256(command),
        "approval_id": command["approval"]["approval_id"],
        "command_id": command["command_id"],
        "device_id": command["device_id"],
    })


def valid_approvers(bundle, trust):
    """Returns the fingerprints of the pinned approvers who have signed this command, by their keys or their passkeys."""
    command = bundle["command"]
    if command["approval"] is None:
        return set()
    text = approval_text(command)
    by_key = {
        fingerprint(item["key"]) for item in bundle["approvals"]
        if item.get("key") in trust.approvers and verify_ed25519(
            unhex(item["key"], 64), text, unhex(item["signature"], 128))}
    by_passkey = {
        passkey_approver(item, command, trust.passkeys) for item in bundle["approvals"] if "assertion" in item}
    return by_key | by_passkey - {None}


def find_label_fault(bundle, keys, checkpoint):
    """Returns why a command is not the script that it is labelled with; None: the ledger has released this script."""
    command, release = bundle["command"], bundle.get("release")
    if command["script"] is None:
        return "its arguments are no script's"
    try:
        entry = verify_record(release["record"], keys)
        check_inclusion([release["record"]], [entry], [release["proof"]], checkpoint)
        if entry["category"] != "script_release":
            raise ValueError("receipt %s releases no script" % entry["id"])
        if commitment_of(release["salt"], release["script"]) not in entry["details"]["commitments"].values():
            raise ValueError("receipt %s releases another script" % entry["id"])
        check_label(command, release["script"])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError, re.error, Refusal) as error:
        return "it is labelled %s without being that: %s" % (json.dumps(command["script"]), error)


def check_label(command, script):
    """Checks that a command is a script with values for its parameters. Raises ValueError."""
    label = {name: script[name] for name in ("id", "version", "sha256")}
    same = all(command[name] == script[name] for name in ("user", "output_bytes", "read_only"))
    if command["script"] != label or not same or command["timeout_seconds"] > script["timeout_seconds"]:
        raise ValueError("the released script has another hash, user or limit")
    if len(command["argv"]) != len(script["argv"]) or command["argv"][0] != script["argv"][0]:
        raise ValueError("the released script has another program or number of arguments")
    values = {}
    for argument, template in zip(command["argv"][1:], script["argv"][1:]):
        match = re.fullmatch(pattern_of(template, script["parameters"]), argument, re.ASCII)
        if not match:
            raise ValueError("the released script has no such argument: %s" % json.dumps(argument))
        for name, value in match.groupdict().items():
            odd = "\0\r" if script["parameters"][name]["lines"] else "\0\r\n"
            if values.setdefault(name, value) != value or value.startswith("-") or set(value) & set(odd):
                raise ValueError("%s can't be a value of %s" % (json.dumps(value), name))


def pattern_of(template, parameters):
    """Returns what matches an argument of a script. In a pattern, each name stands once."""
    parts, seen = re.split(r"\{([a-z0-9_]+)\}", template), set()
    for n in range(len(parts)):
        if n % 2 == 0:
            parts[n] = re.escape(parts[n])
        elif parts[n] in seen:
            parts[n] = "(?P=%s)" % parts[n]
        else:
            seen.add(parts[n])
            parts[n] = "(?P<%s>(?:%s))" % (parts[n], parameters[parts[n]]["pattern"])
    return "".join(parts)


def check_approvals(bundle, trust, label_fault):
    """Check 11: where signatures are pinned, enough pinned approvers have signed this very command."""
    if not trust.required:
        return
    command = bundle["command"]
    required = max(trust.required, 2 if label_fault else 1)
    if command["approval"] and command["approval"]["action_sha256"] != action_sha256(command):
        raise Refusal("approval_missing", "another action was approved than this command")
    found = len(valid_approvers(bundle, trust))
    if found < required:
        raise Refusal("approval_missing", "the command needs %d signatures of pinned approvers and has %d%s" % (
            required, found, ", as " + label_fault if label_fault else ""))


def check_bounds(command, may_switch_user):
    """Check 12: the user exists and may be used, the arguments and limits are sane."""
    size = sum(len(item.encode("utf-8", "replace")) for item in command["argv"])
    if not command["argv"][0] or size > MAX_ARGUMENT_BYTES or any("\0" in item for item in command["argv"]):
        raise Refusal("out_of_bounds", "the arguments are too long, or the program has no name")
    remote = sorted(name for name, one in COMMANDS.items() if one.is_remote)
    if command["argv"][0] == "sealoop-agent" and command["argv"][1:2] not in [[name] for name in remote]:
        raise Refusal("out_of_bounds", "the agent does this alone for others: %s" % ", ".join(remote))
    seconds, output = command["timeout_seconds"], command["output_bytes"]
    if not 1 <= seconds <= MAX_TIMEOUT_SECONDS or not 0 <= output <= MAX_OUTPUT_BYTES:
        raise Refusal("out_of_bounds", "timeout_seconds is at most %d, output_bytes at most %d" % (
            MAX_TIMEOUT_SECONDS, MAX_OUTPUT_BYTES))
    name = command["user"]
    if name == "agent":
        return
    try:
        account = pwd.getpwnam(name) if USER.fullmatch(name) else None
    except KeyError:
        account = None
    if account is None:
        raise Refusal("out_of_bounds", "there is no user %s on this machine" % name)
    if account.pw_uid != os.geteuid() and not may_switch_user:
        raise Refusal("out_of_bounds", "the agent may not run commands as %s" % name)


def check_issued(entry, command):
    """Check 10: the receipt is one that issues a command."""
    if entry.get("category") != "device_command" or entry.get("action") != "issued":
        raise Refusal("wrong_receipt", "receipt %s does not issue a command" % entry["id"])
    if entry["details"].get("command_id", command["command_id"]) != command["command_id"]:
        raise Refusal("wrong_receipt", "receipt %s names another command" % entry["id"])



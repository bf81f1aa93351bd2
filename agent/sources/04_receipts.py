# ---------------------------------------------------------------------------------------------------------------------
# Receipts and the succession of the ledger's keys
# ---------------------------------------------------------------------------------------------------------------------

NOT_SIGNED = {"canonical_bytes", "signature", "hash_sha256"}
SIGNATURE_FIELDS = {"algorithm", "public_key", "value", "signs"}

# A key of the ledger, trusted from a position on; recovery: the key that may replace it, or None
LedgerKey = collections.namedtuple("LedgerKey", "start public recovery")


def parse_ledger_key(fields):
    start, recovery = fields["from_position"], fields.get("recovery_key")
    if type(start) is not int or start < 0 or set(fields) - {"public_key", "from_position", "recovery_key"}:
        raise ValueError("no ledger key")
    unhex(fields["public_key"], 64)
    if recovery is not None:
        unhex(recovery, 64)
    return LedgerKey(start, fields["public_key"], recovery)


def format_ledger_key(key):
    fields = {"public_key": key.public, "from_position": key.start}
    return dict(fields, recovery_key=key.recovery) if key.recovery else fields


def key_index(position, keys):
    return max((n for n, key in enumerate(keys) if key.start <= position), default=-1)


def verify_record(text, keys):
    """Verifies one receipt of era 3 by itself, where it says it stands. Returns its fields; raises ValueError."""
    entry = parse(text)
    if not isinstance(entry, dict) or entry.get("schema_version") != "3.0":
        raise ValueError("it is no receipt of schema version 3.0")
    try:
        stored, position, signature = unhex(entry["canonical_bytes"]), entry["chain_position"], entry["signature"]
        if canonical({name: value for name, value in entry.items() if name not in NOT_SIGNED}) != stored:
            raise ValueError("the stored fields do not give the canonical bytes")
        if sha256(stored).hex() != entry["hash_sha256"]:
            raise ValueError("the hash is not that of the canonical bytes")
        if type(position) is not int or position < 0 or not isinstance(entry["id"], str):
            raise ValueError("its position or id is none")
        if signature["algorithm"] != "Ed25519" or signature.get("signs", "canonical_bytes") != "canonical_bytes":
            raise ValueError("it is said to be signed in another way")
        index = key_index(position, keys)
        if set(signature) - SIGNATURE_FIELDS or index < 0 or signature["public_key"] != keys[index].public:
            raise ValueError("it is signed by another key than the one in force at its position")
        if not verify_ed25519(unhex(keys[index].public, 64), stored, unhex(signature["value"], 128)):
            raise ValueError("the signature does not verify")
        parse_time(entry["timestamp"])
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("a field that a receipt needs is missing or of another type: %s" % error)
    return entry


def follow_rotation(text, keys):
    """Returns the keys after a receipt that hands over to the next key. Raises ValueError."""
    claimed = parse(text)
    try:
        position, details, signer = claimed["chain_position"], claimed["details"], claimed["signature"]["public_key"]
        if claimed["category"] != "key_rotated" or type(position) is not int:
            raise ValueError("it introduces no key")
        new = parse_ledger_key({
            "public_key": details["new_key"], "from_position": position + 1, "recovery_key": details["recovery_key"]})
        if new in keys:
            return keys  # it is known already
        if position < keys[-1].start:
            raise ValueError("it is older than the newest key that is known")
        recovers = signer != details["old_key"] and signer == keys[-1].recovery
        after = list(keys) + ([LedgerKey(position, signer, signer)] if recovers else []) + [new]
        entry = verify_record(text, after)
        check_rotation(entry["details"], entry["prev_hash"], position, after, recovers)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("a field that it needs is missing or of another type: %s" % error)
    return after


def check_rotation(details, prev_hash, position, keys, recovers):
    old, new = keys[-3] if recovers else keys[-2], keys[-1]
    if not old.recovery or not new.recovery:
        raise ValueError("it changes the key of a ledger that has none of its own")
    if details["old_key"] != old.public:
        raise ValueError("it replaces another key than the one in force")
    if new.public in (old.public, old.recovery, new.recovery):
        raise ValueError("its new key is one that is in use already")
    if not recovers and new.recovery != old.recovery:
        raise ValueError("it changes the recovery key, which only the recovery key itself may")
    first = next(key.public for key in keys if key.recovery)
    statement = {
        "statement": "sealoop key_rotated",
        "first_key": details["first_key"],
        "from_position": position + 1,
        "new_key": new.public,
        "old_key": old.public,
        "position": position,
        "prev_hash": prev_hash,
    }
    same = details["first_key"] == first and details["from_position"] == position + 1
    proof = unhex(details["new_key_signature"], 128)
    if not same or not verify_ed25519(unhex(new.public, 64), canonical(statement), proof):
        raise ValueError("its new key has not signed that it takes over here")


class Trust:
    """What is pinned on this device: keys of the ledger, log, witnesses with quorum, approvers. Raises ValueError."""

    FIELDS = {"ledger_keys", "log_key", "witnesses", "quorum", "approvers"}

    def __init__(self, fields):
        try:
            named = set(fields["approvers"]) - {"version", "passkeys"}
            if set(fields) != self.FIELDS or named != {"signatures_required", "keys"}:
                raise ValueError("its fields must be " + ", ".join(sorted(self.FIELDS)))
            self.fields = fields
            self.keys = [parse_ledger_key(key) for key in fields["ledger_keys"]]
            starts = [key.start for key in self.keys]
            if not self.keys or starts != sorted(set(starts)):
                raise ValueError("ledger_keys must be in the order of their positions, at least one")
            self.log_key = NoteKey(fields["log_key"], "log")
            self.witnesses = [NoteKey(text, "witness") for text in fields["witnesses"]]
            if len({key.public_key for key in self.witnesses}) < len(self.witnesses):
                raise ValueError("two witnesses have the same key")
            self.quorum = self.count(fields["quorum"], len(self.witnesses))
            self.approvers = list(fields["approvers"]["keys"])
            for key in self.approvers:
                unhex(key, 64)
            self.passkeys = list(fields["approvers"].get("passkeys", []))
            for passkey in self.passkeys:
                check_passkey(passkey)
            number = len(set(self.approvers)) + len({passkey["credential_id"] for passkey in self.passkeys})
            self.required = self.count(fields["approvers"]["signatures_required"], number)
            self.version = fields["approvers"].get("version", 0)
            if type(self.version) is not int:
                raise ValueError("the version of the approvers must be an integer")
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("a field is missing or of another type: %s" % error)

    @staticmethod
    def count(value, most):
        if type(value) is not int or not 0 <= value <= most:
            raise ValueError("a number of signatures must be from 0 to %d" % most)
        return value

    def check_checkpoint(self, note):
        """Returns the checkpoint of a note that the pinned log has signed and enough pinned witnesses have cosigned."""
        try:
            checkpoint = Checkpoint(note)
        except ValueError as error:
            raise Refusal("checkpoint_signature", str(error))
        if checkpoint.origin != self.log_key.name or not self.log_key.find_signature(checkpoint):
            raise Refusal("checkpoint_signature", "the checkpoint is not signed by the pinned key of the log")
        results = [witness.find_signature(checkpoint) for witness in self.witnesses]
        if False in results:
            raise Refusal("checkpoint_quorum", "a cosignature of a pinned witness does not verify")
        if results.count(True) < self.quorum:
            raise Refusal("checkpoint_quorum", "the checkpoint needs %d cosignatures of pinned witnesses and has %d" % (
                self.quorum, results.count(True)))
        return checkpoint


def follow_checkpoint(trust, accepted, log):
    """Returns the checkpoint of a log that begins with the accepted one. Raises Refusal."""
    checkpoint = trust.check_checkpoint(log["checkpoint"])
    if checkpoint.size < accepted.size:
        raise Refusal("checkpoint_older", "the checkpoint is of %d, and one of %d was accepted" % (
            checkpoint.size, accepted.size))
    if checkpoint.size == accepted.size:
        if checkpoint.root != accepted.root:
            raise Refusal("checkpoint_inconsistent", "two checkpoints of %d contradict each other" % accepted.size)
        return checkpoint
    proof = [unhex(item, 64) for item in log["consistency"]]
    if not is_consistent(accepted.size, accepted.root, checkpoint.size, checkpoint.root, proof):
        raise Refusal("checkpoint_inconsistent", "the log does not begin with the checkpoint that was accepted")
    return checkpoint



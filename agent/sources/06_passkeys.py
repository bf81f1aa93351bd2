# ---------------------------------------------------------------------------------------------------------------------
# Passkeys of approvers: what they have signed about a command
# ---------------------------------------------------------------------------------------------------------------------


def signed_by(public_key, signature, message):
    return verify_ed25519(public_key, message, signature)


# {{answers of passkeys}}


PASSKEY_FIELDS = {"credential_id", "public_key", "rp_id", "origin"}
KEY_FIELDS = {"EC": ("kty", "crv", "x", "y"), "OKP": ("kty", "crv", "x"), "RSA": ("kty", "n", "e")}
CURVES = {"EC": "P-256", "OKP": "Ed25519", "RSA": None}
PASSKEY_APPROVAL_FIELDS = {"salt", "statement", "assertion"}
STATEMENT_FIELDS = {"version", "approval", "cycle", "move", "act", "shown_sha256", "nonce"}
LIST_FIELDS = {"version", "move", "size", "root", "nonce"}
ASSERTION_FIELDS = {"credential_id", "client_data", "authenticator_data", "signature"}


def is_texts(value, names):
    """Returns True for an object that has exactly these fields, all of them texts."""
    return isinstance(value, dict) and set(value) == set(names) and all(isinstance(item, str) for item in value.values())


def check_passkey(fields):
    """Checks the form of a passkey that is to be pinned. Raises ValueError."""
    if not isinstance(fields, dict) or set(fields) != PASSKEY_FIELDS:
        raise ValueError("a passkey has " + ", ".join(sorted(PASSKEY_FIELDS)))
    key = fields["public_key"]
    kind = key.get("kty") if isinstance(key, dict) else None
    if kind not in KEY_FIELDS or not is_texts(key, KEY_FIELDS[kind]) or key.get("crv") != CURVES[kind]:
        raise ValueError("a passkey's public key is one of P-256, Ed25519 or RSA, as a JWK")
    if not all(isinstance(fields[name], str) for name in ("credential_id", "rp_id", "origin")):
        raise ValueError("a field of a passkey is of another type")


def is_passkey_approval(item):
    """Returns True for what has the form of a passkey's approval: its statement, alone or in a list, and its answer."""
    if set(item) - {"list"} != PASSKEY_APPROVAL_FIELDS or not is_hex(item["salt"], 64):
        return False
    return is_statement(item["statement"]) and is_texts(item["assertion"], ASSERTION_FIELDS) and (
        "list" not in item or is_place(item["list"]))


def is_statement(value):
    if not isinstance(value, dict) or set(value) != STATEMENT_FIELDS or type(value["cycle"]) is not int:
        return False
    texts = all(isinstance(value[name], str) for name in STATEMENT_FIELDS - {"version", "cycle"})
    return texts and type(value["version"]) is int and value["version"] == 1 and value["move"] == "approved"


def is_place(value):
    if not isinstance(value, dict) or set(value) != {"statement", "index", "path"} or type(value["index"]) is not int:
        return False
    one = value["statement"]
    if not isinstance(one, dict) or set(one) != LIST_FIELDS or type(one["size"]) is not int or not is_hex(one["root"], 64):
        return False
    if type(one["version"]) is not int or one["version"] != 1 or one["move"] != "approved":
        return False
    return isinstance(one["nonce"], str) and is_list(value["path"], str, 0, MAX_HASHES) and all(
        is_hex(item, 64) for item in value["path"])


def passkey_approver(item, command, passkeys):
    """Returns the fingerprint of the pinned passkey that has signed exactly this command, or None.

    Its person was verified, on a page of the pinned origin. Public key, site and origin are what was pinned, whatever
    comes with the command; so is what the statement has to be about.
    """
    statement, answer = item["statement"], item["assertion"]
    passkey = next((one for one in passkeys if one["credential_id"] == answer["credential_id"]), None)
    act = sha256(unhex(item["salt"], 64), canonical(action_of(command))).hex()
    if passkey is None or statement["approval"] != command["approval"]["approval_id"] or statement["act"] != act:
        return None
    try:
        check_answer(dict(item, rp_id=passkey["rp_id"], origin=passkey["origin"], public_key=passkey["public_key"]))
    except Answer:
        return None
    return passkey_fingerprint(passkey)


def passkey_fingerprint(passkey):
    return sha256(canonical(passkey)).hex()



"""Checks the vectors of opened evidence with the standard library alone. Usage: check_vectors.py PROGRAM VECTORS"""
import base64
import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile

sys.modules["cryptography"] = None  # as where it is not installed
spec = importlib.util.spec_from_file_location("verify_ledger", sys.argv[1])
ledger = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ledger)


def check(case, trusts):
    """Exit code and output for a file, as the program gives them."""
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
        path = os.path.join(folder, "evidence.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(case["file"], file)
        trust = ledger.Trust(trusts.get(case["trust"]))
        try:
            code = ledger.verify_evidence(path, trust)
        except (ledger.CannotTell, ledger.Wrong) as error:
            code = 2
            print(f"Cannot verify: {error}")
    return {"exit": code, "says": said.getvalue().rstrip("\n").split("\n")}


def flips(case):
    """How many changes of one bit of each byte of an answer count, of how many."""
    opened = case["file"]["receipts"][-1]["opened"]
    signed, counted, tried = json.loads(opened["statement"]["content"]), 0, 0
    for field in ("client_data", "authenticator_data", "signature"):
        text = signed["assertion"][field]
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        for at in range(len(data)):
            changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
            assertion = {**signed["assertion"], field: ledger.to_base64url(changed)}
            tried += 1
            try:
                ledger.check_answer({**signed, "assertion": assertion})
                counted += 1
            except ledger.Answer:
                pass
    ledger.check_answer(signed)
    return [counted, tried]


with open(sys.argv[2], encoding="utf-8") as file:
    vectors = json.load(file)
results = [check(case, vectors["trust"]) for case in vectors["cases"]]
json.dump({"results": results, "flips": [flips(case) for case in vectors["cases"][:3]]}, sys.stdout)

"""Writes a C2PA manifest into a file, or reads the one that is in it.

Request {act: "sign", source, target, media_type, title, generated, receipt_id, version, keys}: `keys` is a folder, in which
the first call makes a certificate authority and a key of its own. Answer: {}.
Request {act: "read", source, media_type}: {state, issuer, receipt_id}; state is `none`, `invalid`, `untrusted` (the
manifest fits the file, and nobody vouches for the authority) or `trusted`.
"""

import datetime
import json
import os

import c2pa

RECEIPT = "com.sealoop.receipt"
SOURCES = "http://cv.iptc.org/newscodes/digitalsourcetype/"
SETTINGS = {
    "verify": {"remote_manifest_fetch": False, "ocsp_fetch": False},
    "builder": {"thumbnail": {"enabled": False}},
}


def make_keys(folder):
    """Makes the authority and the key. The authority's own key is thrown away: it vouches for this one key alone."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    now = datetime.datetime.now(datetime.timezone.utc)
    until = now + datetime.timedelta(days=3650)
    uses = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip

    def name(text):
        organization = x509.NameAttribute(NameOID.ORGANIZATION_NAME, "sealoop")
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text), organization])

    def certificate(subject, key, issuer, issuer_key, *allowed):
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now)
            .not_valid_after(until)
            .add_extension(x509.KeyUsage(**{use: use in allowed for use in uses}), True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False)
        )

    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root_name = name("sealoop media authority")
    root = (
        certificate(root_name, root_key, root_name, root_key, "key_cert_sign", "crl_sign")
        .add_extension(x509.BasicConstraints(True, 0), True)
        .sign(root_key, hashes.SHA256())
    )
    leaf = (
        certificate(name("sealoop media"), key, root_name, root_key, "digital_signature")
        .add_extension(x509.BasicConstraints(False, None), True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), True)
        .sign(root_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    os.makedirs(folder, mode=0o700, exist_ok=True)
    both = os.path.join(folder, f"new-{os.getpid()}.pem")
    with os.fdopen(os.open(both, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(private + leaf.public_bytes(pem) + root.public_bytes(pem))
    try:
        os.link(both, os.path.join(folder, "media.pem"))  # fails where another process was first
    except FileExistsError:
        pass
    os.unlink(both)


def read_keys(folder):
    path = os.path.join(folder, "media.pem")
    if not os.path.exists(path):
        make_keys(folder)
    with open(path, "rb") as file:
        private, end, chain = file.read().partition(b"-----END PRIVATE KEY-----\n")
    return private + end, chain


def sign(request):
    agent = {"name": "sealoop", "version": request["version"]}
    source = "trainedAlgorithmicMedia" if request["generated"] else "digitalCreation"
    action = {"action": "c2pa.created", "digitalSourceType": SOURCES + source, "softwareAgent": agent}
    manifest = {
        "claim_generator_info": [agent],
        "title": request["title"],
        "assertions": [
            {"label": "c2pa.actions.v2", "data": {"actions": [action]}},
            {"label": RECEIPT, "data": {"receipt_id": request["receipt_id"]}},
        ],
    }
    private, chain = read_keys(request["keys"])
    signer = c2pa.Signer.from_info(c2pa.C2paSignerInfo("es256", chain, private, None))
    builder = c2pa.Builder(manifest, context=c2pa.Context.from_dict(SETTINGS))
    with open(request["source"], "rb") as source, open(request["target"], "w+b") as target:
        builder.sign(signer, request["media_type"], source, target)
    return {}


def read(request):
    context = c2pa.Context.from_dict(SETTINGS)
    with open(request["source"], "rb") as file:
        try:
            reader = c2pa.Reader(request["media_type"], file, context=context)
        except c2pa.C2paError.ManifestNotFound:
            return {"state": "none", "issuer": None, "receipt_id": None}
        except c2pa.C2paError:
            return {"state": "invalid", "issuer": None, "receipt_id": None}
        state = reader.get_validation_state()
        manifest = reader.get_active_manifest() or {}
        text = json.loads(reader.json())
    codes = [status["code"] for status in text.get("validation_status") or []]
    receipts = [a["data"].get("receipt_id") for a in manifest.get("assertions", []) if a["label"] == RECEIPT]
    trusted = "untrusted" if "signingCredential.untrusted" in codes else "trusted"
    return {
        "state": trusted if state in ("Valid", "Trusted") else "invalid",
        "issuer": (manifest.get("signature_info") or {}).get("common_name"),
        "receipt_id": receipts[0] if receipts else None,
    }


def answer(request):
    return sign(request) if request["act"] == "sign" else read(request)

import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../../config.ts";
import { verifyEd25519 } from "../../../ledger/crypto/mod.ts";
import { NOBLE } from "../../../ledger/page/checks/mod.ts";
import { findPython } from "../../_python.ts";

/** Public key, message and signature of RFC 8032 §7.1, tests 1 to 3. */
const RFC_8032 = [
  [
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
] as const;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

const bytes = (hex: string) => Buffer.from(hex, "hex");

/** Verifies as the command and the page do, which share no code of the curve. */
function agree(key: string, message: Uint8Array, signature: Uint8Array): boolean {
  const ours = verifyEd25519(key, message, signature);
  const second = NOBLE.verifyEd25519(key, message, signature);
  assert.equal(second, ours, "the two implementations differ");
  return ours;
}

/** A signature about which implementations differ. */
interface Edge {
  readonly name: string;
  readonly key: string;
  readonly message: string;
  readonly signature: string;
  readonly valid: boolean;
}

/** Calls the verifier in Python for each signature of a file. */
const IN_PYTHON = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("verifier", sys.argv[1])
verifier = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verifier)
print(json.dumps([verifier.signed_by(*(bytes.fromhex(edge[name]) for name in ("key", "signature", "message")))
    for edge in json.load(open(sys.argv[2]))]))`;

describe("verifyEd25519()", () => {
  RFC_8032.forEach(([key, message, signature], n) => {
    it(`accepts test ${n + 1} of RFC 8032, and no bit of it changed`, async () => {
      assert.equal(agree(key, bytes(message), bytes(signature)), true);
      for (let bit = 0; bit < 512; bit += 7) {
        const flipped = bytes(signature);
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        assert.equal(agree(key, bytes(message), flipped), false);
      }
      assert.equal(
        agree(key, Buffer.concat([bytes(message), bytes("00")]), bytes(signature)),
        false,
      );
    });
  });

  it("refuses a signature whose S has the order added to it", async () => {
    const [key, message, signature] = RFC_8032[1];
    const s = BigInt(`0x${bytes(signature.slice(64)).reverse().toString("hex")}`) + L;
    const forged = signature.slice(0, 64) +
      bytes(s.toString(16).padStart(64, "0")).reverse().toString("hex");
    assert.equal(agree(key, bytes(message), bytes(forged)), false);
  });

  for (
    const key of [
      "0100000000000000000000000000000000000000000000000000000000000000",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ]
  ) {
    it(`refuses the key of small order ${key.slice(0, 8)}…, which would sign anything`, async () => {
      const forged = Buffer.concat([bytes(key), Buffer.alloc(32)]);
      assert.equal(agree(key, bytes("00"), forged), false);
    });
  }

  it("accepts the same of all edges in the command, the page and Python", async () => {
    const path = join(ROOT, "test/vectors/ed25519-edges.json");
    const edges: Edge[] = JSON.parse(await readFile(path, "utf8"));
    for (const { name, key, message, signature, valid } of edges) {
      assert.equal(agree(key, bytes(message), bytes(signature)), valid, name);
    }
    const python = await findPython("cryptography", "cryptography");
    if ("missing" in python) return console.log(`      Python is not run: ${python.missing}`);
    const script = join(ROOT, "ledger/verify_ledger.py");
    const { stdout } = await promisify(execFile)(python.program, [
      "-B",
      "-c",
      IN_PYTHON,
      script,
      path,
    ]);
    const found: boolean[] = JSON.parse(stdout);
    assert.deepEqual(edges.filter(({ valid }, n) => found[n] !== valid), []);
    assert.equal(edges.filter(({ valid }) => valid).length, 3);
  });

  it("agrees with the second implementation on Node's signatures", () => {
    for (let n = 0; n < 50; n++) {
      const { privateKey, publicKey } = generateKeyPairSync("ed25519");
      const key = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url").toString("hex");
      const message = randomBytes(n * 7);
      assert.equal(agree(key, message, sign(null, message, privateKey)), true);
    }
  });

  it("refuses keys and signatures of another length", () => {
    assert.equal(verifyEd25519("00", bytes(""), Buffer.alloc(64)), false);
    assert.equal(verifyEd25519(RFC_8032[0][0], bytes(""), Buffer.alloc(63)), false);
  });
});

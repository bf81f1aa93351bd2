import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  computeFingerprint,
  readPublicKey,
  selectTrustedKeys,
} from "../../../ledger/crypto/mod.ts";
import { testFolder } from "../../_run.ts";

describe("public keys", () => {
  const { publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  const hex = raw.toString("hex");
  const other = "ab".repeat(32);

  it("are read in all their common forms", async () => {
    const path = join(await testFolder(), "key");
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    const der = publicKey.export({ type: "spki", format: "der" }).toString("base64");
    writeFileSync(path, `${pem}\n`);
    for (const form of [hex, hex.toUpperCase(), raw.toString("base64"), pem, der, path]) {
      assert.equal(readPublicKey(form), hex, form);
    }
  });

  it("of another kind, and other texts, are refused", () => {
    const { publicKey: x25519 } = generateKeyPairSync("x25519");
    const pem = x25519.export({ type: "spki", format: "pem" }).toString();
    for (const text of ["", "key", hex.slice(1), pem, "/nonexistent", ".", `${hex} ${hex}`]) {
      assert.throws(() => readPublicKey(text), { name: "BadPublicKey" }, text);
    }
  });

  it("are trusted where they are published, or where the reader knows them", () => {
    const keys = [
      { public_key: hex, from_position: 0 },
      { public_key: other, from_position: 7 },
    ];
    const both = selectTrustedKeys({ keys, public_key: other }, []);
    assert.deepEqual(both, [
      { publicKey: hex, fromPosition: 0 },
      { publicKey: other, fromPosition: 7 },
    ]);
    const [first, second] = both.map((key) => ({ ...key, isPinned: true }));
    assert.deepEqual(selectTrustedKeys({ how_to_verify: { keys } }, [other]), [both[0], second]);
    assert.deepEqual(selectTrustedKeys({ public_key: hex }, []), [{
      publicKey: hex,
      fromPosition: 0,
    }]);
    assert.deepEqual(selectTrustedKeys({ how_to_verify: "https://x" }, [hex]), [first]);
    assert.deepEqual(selectTrustedKeys({ keys }, [computeFingerprint(hex)]), [first, both[1]]);
    assert.deepEqual(selectTrustedKeys({}, []), []);
    assert.throws(() => selectTrustedKeys({ public_key: hex }, [other]), { name: "BadPublicKey" });
    assert.throws(() => selectTrustedKeys({ keys: [{ public_key: hex }] }, []), {
      name: "BadPublicKey",
    });
    assert.throws(() => selectTrustedKeys({ public_key: "x" }, []), { name: "BadPublicKey" });
  });
});

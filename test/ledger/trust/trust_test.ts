import assert from "node:assert/strict";
import { NODE_PRIMITIVES } from "../../../ledger/crypto/mod.ts";
import { formatTrust, mergePins, NOTHING_PINNED, parseTrust } from "../../../ledger/trust/mod.ts";
import { readVectors } from "../hostile/_vectors.ts";

const { trust } = readVectors();
const all = trust.all as Record<string, unknown>;
const parse = (fields: unknown) => parseTrust(JSON.stringify(fields), NODE_PRIMITIVES);

describe("parseTrust()", () => {
  it("reads what formatTrust() writes", () => {
    for (const fields of Object.values(trust)) {
      const text = formatTrust(parse(fields), NODE_PRIMITIVES);
      assert.deepEqual(JSON.parse(text), { min_era: 2, ...fields });
      assert.deepEqual(parseTrust(text, NODE_PRIMITIVES), parse(fields));
    }
  });

  it("refuses files that pin nothing, or that it may misunderstand", () => {
    const { checkpoint, witnesses, log_key, ledger_keys } = all as {
      checkpoint: string;
      witnesses: string[];
      log_key: string;
      ledger_keys: Record<string, unknown>[];
    };
    const key = ledger_keys[0]!;
    const cases: [fields: unknown, message: RegExp][] = [
      [{}, /pins nothing/],
      [{ min_era: 3 }, /pins nothing/],
      [[], /no JSON object/],
      [{ ...all, logkey: 1 }, /has the field logkey; known are ledger_keys, log_key/],
      [{ ledger_keys: [] }, /no list of keys/],
      [{ ledger_keys: [{ ...key, public_key: "AB" }] }, /public_key .* lowercase hex/],
      [{ ledger_keys: [{ ...key, from_position: -1 }] }, /from_position/],
      [{ ledger_keys: [{ ...key, until: 9 }] }, /has the field until/],
      [{ ledger_keys: [key, key] }, /not in the order/],
      [{ ...all, log_key: witnesses[0] }, /no key of a log/],
      [{ ...all, log_key: log_key.replace(/\+\w{8}\+/, "+00000000+") }, /belongs to another key/],
      [{ ...all, witnesses: [log_key] }, /no key of a witness/],
      [{ ...all, witnesses: [witnesses[0], witnesses[0]] }, /the same key/],
      [{ ...all, witness_quorum: 4 }, /witness_quorum is 4, of 3 witnesses/],
      [{ ...all, witness_quorum: undefined }, /no witness_quorum/],
      [{ ledger_keys, witnesses, witness_quorum: 1 }, /no log_key/],
      [{ ...all, min_era: 0 }, /min_era/],
      [{ ledger_keys, checkpoint }, /no log_key/],
      [{ ...all, checkpoint: checkpoint.replace("\n8\n", "\n9\n") }, /not signed by the key/],
      [{ ...all, checkpoint: "none" }, /can't be read/],
    ];
    for (const [fields, message] of cases) {
      assert.throws(() => parse(fields), { name: "BadTrust", message }, JSON.stringify(fields));
    }
    const twice = `{"min_era":3,"min_era":1,"ledger_keys":${JSON.stringify(ledger_keys)}}`;
    assert.throws(() => parseTrust(twice, NODE_PRIMITIVES), /is there twice/);
  });
});

describe("mergePins()", () => {
  const a = { publicKey: "aa", fromPosition: 0 };
  const b = { publicKey: "bb", fromPosition: 0 };
  const c = { publicKey: "cc", fromPosition: 9 };

  it("lets no published key take the place of a pinned one", () => {
    assert.deepEqual(mergePins({ ledgerKeys: [a] }, [b, c]), [{ ...a, isPinned: true }, c]);
    assert.deepEqual(mergePins({ ledgerKeys: [a, c] }, []).map(({ isPinned }) => isPinned), [
      true,
      true,
    ]);
  });

  it("takes the recovery key of a pinned key from the ledger, if the pin has none", () => {
    const published = { ...a, recoveryKey: "dd" };
    assert.equal(mergePins({ ledgerKeys: [a] }, [published])[0]!.recoveryKey, "dd");
    const pinned = { ...a, recoveryKey: "ee" };
    assert.equal(mergePins({ ledgerKeys: [pinned] }, [published])[0]!.recoveryKey, "ee");
  });

  it("leaves the published keys where nothing is pinned", () => {
    assert.deepEqual(mergePins(NOTHING_PINNED, [a, c]), [a, c]);
  });
});

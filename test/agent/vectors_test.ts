import assert from "node:assert/strict";
import { createPrivateKey, hash, randomBytes, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import * as noble from "@noble/ed25519";
import { DEVICE_LIMITS, REFUSAL_CODES } from "../../domain/mod.ts";
import { NODE_PRIMITIVES, sha256, verifyEd25519 } from "../../ledger/crypto/mod.ts";
import { buildConsistencyProof, buildInclusionProof } from "../../ledger/log/mod.ts";
import {
  findSignature,
  formatVerifierKey,
  parseNote,
  parseVerifierKey,
} from "../../ledger/notes/mod.ts";
import {
  canonicalize,
  canonicalizeText,
  computeRoot,
  type Hash,
  hashLeaf,
  nameKey,
  type TrustedKey,
  verifyRecord,
} from "../../ledger/rules/mod.ts";
import { judgeCheckpoint, parseTrust } from "../../ledger/trust/mod.ts";
import { faultyChains, mixedChain, vectorKeys } from "../ledger/_chains.ts";
import { makeKey } from "../ledger/hostile/_chain.ts";
import { readVectors, recordsOf } from "../ledger/hostile/_vectors.ts";
import { FAULTY_CASES, VALID_CASES } from "../ledger/succession/_cases.ts";
import { judgeDevice, readFacts, shippedShieldPolicy } from "../../shield/mod.ts";
import { AGENT } from "./_device.ts";
import { AgentFunctions } from "./_functions.ts";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), "utf8"));

const SUCCESSION = new Set(["ledger_genesis", "ledger_adopted", "key_rotated"]);

/** Rotations that are valid, where the ledger publishes other keys: a device reads no published list. */
const PUBLISHED_WRONGLY =
  /^a rotation (after which the old key goes on|whose new key is published later)/;

interface ChainResult {
  readonly breaks_at: number | null;
  readonly keys: readonly unknown[];
}

describe("the agent's own", function () {
  this.timeout(60_000);
  let agent: AgentFunctions;
  before(() => void (agent = new AgentFunctions()));
  after(() => agent.stop());
  const verify = (key: string, message: string, signature: string) =>
    agent.result<boolean>("verify", { key, message, signature });

  describe("Ed25519", () => {
    const tests: Record<"id" | "comment" | "key" | "message" | "signature" | "result", string>[] =
      read("wycheproof-ed25519.json").tests;

    it(`decides as Wycheproof, the platform and noble do on ${tests.length} cases of Wycheproof`, async () => {
      for (const { id, comment, key, message, signature, result } of tests) {
        const [text, value] = [Buffer.from(message, "hex"), Buffer.from(signature, "hex")];
        const verdicts = {
          agent: await verify(key, message, signature),
          platform: verifyEd25519(key, text, value),
          noble: await noble.verifyAsync(value, text, Buffer.from(key, "hex"), { zip215: false })
            .catch(() => false),
        };
        const valid = result === "valid";
        assert.deepEqual(
          verdicts,
          { agent: valid, platform: valid, noble: valid },
          `${id} ${comment}`,
        );
      }
    });

    it("refuses keys and R of small order, and encodings that are not canonical, as the platform does", async () => {
      const P = 2n ** 255n - 19n;
      const encode = (y: bigint, sign: bigint) => {
        const hex = (y | sign << 255n).toString(16).padStart(64, "0");
        return Buffer.from(hex, "hex").reverse().toString("hex");
      };
      const ORDER_8 = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7n;
      const ys = [0n, 1n, P - 1n, ORDER_8, P - ORDER_8, P, P + 1n];
      const { hex: honest, privateKey } = makeKey("honest");
      const genuine = sign(null, Buffer.from("00", "hex"), privateKey).toString("hex");
      for (const point of ys.flatMap((y) => [encode(y, 0n), encode(y, 1n)])) {
        for (
          const [key, signature] of [
            [point, point + "00".repeat(32)],
            [point, genuine],
            [honest, point + "00".repeat(32)],
            [honest, point + genuine.slice(64)],
          ] as const
        ) {
          assert.equal(await verify(key, "00", signature), false, `${key} ${signature}`);
          assert.equal(
            verifyEd25519(key, Buffer.from("00", "hex"), Buffer.from(signature, "hex")),
            false,
          );
        }
      }
    });

    it("agrees with the platform on signatures with a bit changed, and refuses other lengths", async () => {
      const { hex, privateKey } = makeKey("bits");
      const message = randomBytes(40);
      const signature = sign(null, message, privateKey);
      assert.equal(await verify(hex, message.toString("hex"), signature.toString("hex")), true);
      for (let bit = 0; bit < 512; bit += 5) {
        const changed = Buffer.from(signature);
        changed[bit >> 3]! ^= 1 << (bit & 7);
        const ours = await verify(hex, message.toString("hex"), changed.toString("hex"));
        assert.equal(ours, verifyEd25519(hex, message, changed), `bit ${bit}`);
      }
      assert.equal(await verify(hex, "", signature.toString("hex").slice(2)), false);
      assert.equal(await verify(hex.slice(2), "", signature.toString("hex")), false);
    });

    it("signs the same bytes as Node, in Python and through libcrypto", async () => {
      for (let n = 0; n < 20; n++) {
        const [seed, message] = [randomBytes(32), randomBytes(n * 11)];
        const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
        const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
        const fields = { seed: seed.toString("hex"), message: message.toString("hex") };
        const { signatures } = await agent.result<{ signatures: string[] }>("sign", fields);
        assert.deepEqual(signatures, [sign(null, message, key).toString("hex")]);
      }
    });
  });

  describe("canonical JSON", () => {
    const vectors: { json: string; canonical: string }[] = read("canonical-json.json");
    it(`gives the same bytes for ${vectors.length} vectors`, async () => {
      for (const { json, canonical } of vectors) {
        assert.equal(await agent.result("canonicalize", { json }), canonical);
      }
    });

    for (
      const json of [
        '{"a":1,"a":2}',
        '"\\ud800"',
        '"\\u0000"',
        "1e999",
        "NaN",
        "Infinity",
        "1".repeat(4301),
        "[".repeat(65) + "]".repeat(65),
        "[".repeat(100_000),
        "01",
        "[1,]",
        "1 2",
        '"\n"',
        "",
      ]
    ) {
      it(`refuses ${json.slice(0, 20) || "nothing"}, as the platform does`, async () => {
        assert.throws(() => canonicalizeText(json));
        assert.notEqual((await agent.call("canonicalize", { json })).error, undefined);
      });
    }
  });

  describe("rules for receipts", () => {
    it("decide on every receipt of era 3 of the vectors as the platform does, and take no earlier era", async () => {
      let accepted = 0;
      for (const { name, records } of [mixedChain, ...faultyChains]) {
        for (const record of records) {
          const { schema_version, chain_position, prev_hash } = JSON.parse(record);
          const place = { position: chain_position, previousHash: prev_hash };
          const { verified } = verifyRecord(record, place, vectorKeys, NODE_PRIMITIVES).verdict;
          const keys = vectorKeys.map(nameKey);
          const { error } = await agent.call("verify_record", { record, keys });
          const expected = verified && schema_version === "3.0";
          assert.equal(error === undefined, expected, `${name} ${chain_position}: ${error}`);
          if (expected) accepted++;
        }
      }
      assert.ok(accepted > 300);
    });

    it("decide on the receipts that hostile servers show as the platform does", async () => {
      const vectors = readVectors();
      for (const server of vectors.servers) {
        const trusted = vectors.trust[server.trust]!.ledger_keys as
          | Record<string, never>[]
          | undefined;
        if (!trusted) continue;
        const keys = trusted.map(({ public_key, from_position, recovery_key }): TrustedKey => ({
          publicKey: public_key!,
          fromPosition: from_position!,
          ...(recovery_key === undefined ? {} : { recoveryKey: recovery_key }),
        }));
        for (const record of recordsOf(vectors, server)) {
          let fields: Record<string, unknown>;
          try {
            fields = JSON.parse(record);
          } catch {
            fields = {};
          }
          if (fields?.schema_version !== "3.0" || SUCCESSION.has(String(fields.category))) continue;
          const place = {
            position: Number(fields.chain_position),
            previousHash: String(fields.prev_hash),
          };
          const { verified } = verifyRecord(record, place, keys, NODE_PRIMITIVES).verdict;
          const { error } = await agent.call("verify_record", { record, keys: trusted });
          assert.equal(error === undefined, verified, `${server.name}: ${error}`);
        }
      }
    });

    for (const { name, records, keys } of VALID_CASES) {
      const own = keys.filter(({ recoveryKey }) => recoveryKey !== undefined);
      it(`follow ${name}`, async () => {
        const pinned = own.filter(({ isPinned }, n) => n === 0 || isPinned);
        const start = { keys: pinned.map(nameKey), records };
        const { breaks_at, keys: found } = await agent.result<ChainResult>("follow_chain", start);
        assert.deepEqual([breaks_at, found], [null, own.map(nameKey)]);
      });
    }

    for (const { name, records, keys, breaksAt } of FAULTY_CASES) {
      if (JSON.parse(records[breaksAt!] ?? "{}").category !== "key_rotated") continue;
      if (PUBLISHED_WRONGLY.test(name)) continue;
      it(`stop at ${name}`, async () => {
        const start = { keys: keys.slice(0, 1).map(nameKey), records };
        assert.equal((await agent.result<ChainResult>("follow_chain", start)).breaks_at, breaksAt);
      });
    }

    it("take no key from a genesis or an adoption, which only an enrolment pins", async () => {
      for (const { records, keys } of FAULTY_CASES) {
        if (records.some((record) => JSON.parse(record).category === "key_rotated")) continue;
        const start = { keys: keys.slice(0, 1).map(nameKey), records };
        const { keys: found } = await agent.result<ChainResult>("follow_chain", start);
        assert.deepEqual(found, start.keys);
      }
    });
  });

  describe("rules for checkpoints", () => {
    it("judge the checkpoints of hostile servers as the platform does", async () => {
      const { servers, trust } = readVectors();
      const { checkpoint: _, ...all } = parseTrust(JSON.stringify(trust.all), NODE_PRIMITIVES);
      const { ledger_keys, log_key, witnesses, witness_quorum: quorum } = trust.all!;
      const pins = { ledger_keys, log_key, witnesses, quorum };
      const outcomes = new Set<string>();
      for (const { name, checkpoint: note } of servers) {
        if (note === null) continue;
        const shown = { note, verifierKey: undefined };
        const judged = judgeCheckpoint({ ...all, checkpoint: undefined }, shown, NODE_PRIMITIVES);
        const found = await agent.result<{ size?: number; code?: string }>("judge_checkpoint", {
          trust: pins,
          note,
        });
        const isValid = judged.faults.length === 0 && judged.absent.length === 0;
        assert.equal(found.code === undefined, isValid, `${name}: ${found.code}`);
        outcomes.add(found.code ?? "valid");
      }
      assert.deepEqual([...outcomes].sort(), [
        "checkpoint_quorum",
        "checkpoint_signature",
        "valid",
      ]);
    });

    it("make cosignatures that the platform verifies", async () => {
      const text = `ledger.example\n7\n${Buffer.alloc(32, 7).toString("base64")}\n`;
      const { line, public: publicKey } = await agent.result<{ line: string; public: string }>(
        "cosign",
        { seed: "07".repeat(32), name: "DEV-0123456789ab", text, time: 1_782_907_200 },
      );
      const key = {
        name: "DEV-0123456789ab",
        publicKey: Buffer.from(publicKey, "hex"),
        kind: "witness",
      } as const;
      const parsed = parseVerifierKey(formatVerifierKey(key, NODE_PRIMITIVES), NODE_PRIMITIVES);
      const note = parseNote(`${text}\n${line}`);
      assert.equal(findSignature(note, parsed, NODE_PRIMITIVES), "valid");
    });
  });

  describe("Merkle proofs", () => {
    const MAX_SIZE = 20;
    const leaves: Hash[] = Array.from(
      { length: MAX_SIZE },
      (_, n) => hashLeaf(Buffer.from(`leaf ${n}`), sha256),
    );
    const readHashes = (_: number, from: number, to: number) =>
      Promise.resolve(leaves.slice(from, to));
    const hex = (bytes: Hash) => Buffer.from(bytes).toString("hex");
    const rootOf = (size: number) => hex(computeRoot(leaves.slice(0, size), sha256));

    it(`lead to the root from every leaf of trees up to ${MAX_SIZE}, and from no other`, async () => {
      for (let size = 1; size <= MAX_SIZE; size++) {
        for (let index = 0; index < size; index++) {
          const proof = (await buildInclusionProof(index, size, readHashes, sha256)).map(hex);
          const prove = (fields: object) =>
            agent.result("root_of_inclusion", {
              leaf: hex(leaves[index]!),
              index,
              size,
              proof,
              ...fields,
            });
          assert.equal(await prove({}), rootOf(size));
          assert.equal(await prove({ proof: [...proof, "00".repeat(32)] }), null);
          assert.equal(await prove({ index: size }), null);
          if (size > 1) assert.notEqual(await prove({ index: (index + 1) % size }), rootOf(size));
        }
      }
    });

    it(`show that every tree up to ${MAX_SIZE} begins with every smaller one, and with no other`, async () => {
      for (let new_size = 1; new_size <= MAX_SIZE; new_size++) {
        for (let old_size = 1; old_size <= new_size; old_size++) {
          const hashes = await buildConsistencyProof(old_size, new_size, readHashes, sha256);
          const proof = hashes.map(hex);
          const prove = (fields: object) =>
            agent.result("is_consistent", {
              old_size,
              new_size,
              old_root: rootOf(old_size),
              new_root: rootOf(new_size),
              proof,
              ...fields,
            });
          assert.equal(await prove({}), true);
          assert.equal(await prove({ old_root: "00".repeat(32) }), false);
          assert.equal(await prove({ new_root: "00".repeat(32) }), false);
          assert.equal(await prove({ proof: [...proof, "00".repeat(32)] }), false);
          if (proof.length > 0) assert.equal(await prove({ proof: proof.slice(1) }), false);
        }
      }
    });
  });

  it("list of refusals and limits is the platform's", async () => {
    const constants = await agent.result<Record<string, unknown>>("read_constants");
    assert.deepEqual(constants, {
      REFUSALS: REFUSAL_CODES,
      MAX_OUTPUT_BYTES: DEVICE_LIMITS.outputBytes,
      MAX_TIMEOUT_SECONDS: DEVICE_LIMITS.timeoutSeconds,
      MAX_ARGUMENTS: DEVICE_LIMITS.argumentCount,
      MAX_ARGUMENT_BYTES: DEVICE_LIMITS.argumentBytes,
    });
  });

  it("clock reads the times that receipts have, and no others", async () => {
    const times = [
      "2026-07-01T12:00:00.123456+00:00",
      "2026-07-01T12:00:00Z",
      "2024-02-29T23:59:59.5-11:30",
      "2030-12-31T23:59:59.123456789+14:00",
    ];
    for (const text of times) {
      const seconds = await agent.result<number>("parse_time", { text });
      assert.ok(Math.abs(seconds - Date.parse(text) / 1000) < 0.002, text);
    }
    for (
      const text of [
        "",
        "2026-07-01",
        "2026-07-01T12:00:00",
        "2026-13-01T12:00:00Z",
        " 2026-07-01T12:00:00Z",
      ]
    ) {
      assert.notEqual((await agent.call("parse_time", { text })).error, undefined, text);
    }
  });

  it("inventory has every section, and hashes as the platform hashes what it is sent", async () => {
    const { inventory, sha256: own } = await agent.result<
      { inventory: Record<string, unknown>; sha256: string }
    >("take_inventory");
    assert.deepEqual(Object.keys(inventory).sort(), [
      "agent",
      "cpu",
      "disks",
      "interfaces",
      "listeners",
      "memory",
      "os",
      "packages_sha256",
      "posture",
      "services",
    ]);
    assert.equal(hash("sha256", canonicalize(inventory)), own);
    if (process.platform !== "linux") return;
    assert.match(String(inventory.packages_sha256), /^[0-9a-f]{64}$/);
    const interfaces = inventory.interfaces as { name: string; addresses: string[] }[];
    const posture = inventory.posture as Record<string, unknown>;
    assert.ok((posture.uid_0 as string[]).includes("root"));
    assert.ok([true, false, null].includes(posture.disk_encrypted as boolean | null));
    const facts = readFacts({ platform: "linux", lastSeenAt: new Date() }, inventory, null);
    const context = { now: new Date(), agentSha256: own, desiredFirewall: undefined };
    const judged = judgeDevice(shippedShieldPolicy(), facts, context)
      .map(({ policy, result }) => [policy.id, result]);
    const results: Record<string, string> = Object.fromEntries(judged);
    assert.equal(results["root-accounts"], "pass", "the shield reads what the agent writes");
    assert.equal(results["agent-unchanged"], "fail");
    assert.notEqual(results["plain-text-services"], "unknown");
    assert.notEqual(results["ssh-root"], "unknown");
    assert.ok(interfaces.find(({ name }) => name === "lo")?.addresses.includes("127.0.0.1"));
  });

  it("program reads the wall clock nowhere", () => {
    const source = readFileSync(AGENT, "utf8");
    for (
      const call of [
        "time.time",
        "time.time_ns",
        "gmtime",
        "localtime",
        "strftime",
        "datetime",
        "CLOCK_REALTIME",
      ]
    ) {
      assert.ok(!source.includes(call), call);
    }
  });
});

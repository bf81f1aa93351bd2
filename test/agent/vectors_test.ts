import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { DEVICE_LIMITS, REFUSAL_CODES } from "../../contract/domain/mod.ts";
import { NODE_PRIMITIVES } from "../../ledger/crypto/mod.ts";
import {
  findSignature,
  formatVerifierKey,
  parseNote,
  parseVerifierKey,
} from "../../ledger/notes/mod.ts";
import { canonicalize, nameKey, type TrustedKey, verifyRecord } from "../../ledger/rules/mod.ts";
import { judgeCheckpoint, parseTrust } from "../../ledger/trust/mod.ts";
import { faultyChains, mixedChain, vectorKeys } from "../ledger/_chains.ts";
import { readVectors, recordsOf } from "../ledger/hostile/_vectors.ts";
import { FAULTY_CASES, VALID_CASES } from "../ledger/succession/_cases.ts";
import { judgeDevice, readFacts, shippedShieldPolicy } from "../../judgement/shield/mod.ts";
import { AGENT } from "./_device.ts";
import { AgentFunctions } from "./_functions.ts";

const SUCCESSION = new Set(["ledger_genesis", "ledger_adopted", "key_rotated"]);

/** Rotations that are valid, where the ledger publishes other keys: a device reads no published list. */
const PUBLISHED_WRONGLY =
  /^a rotation (after which the old key goes on|whose new key is published later)/;

interface ChainResult {
  readonly breaks_at: number | null;
  readonly keys: readonly unknown[];
}

describe("the agent's own", () => {
  let agent: AgentFunctions;
  before(() => void (agent = new AgentFunctions()));
  after(() => agent.stop());

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
          const { verdict: { verified }, places } = verifyRecord(
            record,
            place,
            keys,
            NODE_PRIMITIVES,
          );
          if (places.fault) continue; // no device reads what places do
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

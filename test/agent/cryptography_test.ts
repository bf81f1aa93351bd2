import assert from "node:assert/strict";
import { createPrivateKey, randomBytes, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import * as noble from "@noble/ed25519";
import { sha256, verifyEd25519 } from "../../ledger/crypto/mod.ts";
import { buildConsistencyProof, buildInclusionProof } from "../../ledger/log/mod.ts";
import { canonicalizeText, computeRoot, type Hash, hashLeaf } from "../../ledger/rules/mod.ts";
import { makeKey } from "../ledger/hostile/_chain.ts";
import { AgentFunctions } from "./_functions.ts";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), "utf8"));

describe("the agent's own", () => {
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
});

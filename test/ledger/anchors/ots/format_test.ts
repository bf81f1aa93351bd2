import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  BadTimestamp,
  bitcoinAttestation,
  listAttestations,
  mergeTimestamps,
  parseProof,
  pendingAttestation,
  prependOps,
  serializeProof,
  verifyTimestamp,
} from "../../../../ledger/anchors/ots/mod.ts";
import { readExample, skipWithoutExamples } from "./_examples.ts";

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));
const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());
const HEAD = "004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e892 94";
const BITCOIN = "0588960d73d71901";
const DIGEST = "08" + "11".repeat(32);

describe("parseProof() on the official client's examples", () => {
  before(skipWithoutExamples);
  const names = [
    "hello-world.txt",
    "bad-stamp.txt",
    "empty",
    "different-blockchains.txt",
    "incomplete.txt",
    "two-calendars.txt",
    "merkle1.txt",
    "known-and-unknown-notary.txt",
  ];
  for (const name of names) {
    it(`reads ${name}.ots with the digest of its file, and writes the same bytes`, () => {
      const bytes = readExample(`${name}.ots`);
      const parsed = parseProof(bytes);
      assert.deepEqual(parsed.digest, sha256(readExample(name)));
      assert.deepEqual(serializeProof(parsed), bytes);
    });
  }

  const header = () => hex(Buffer.from(readExample("block-358391.header.hex")).toString().trim());
  const states = (name: string, headers: ReadonlyMap<number, Uint8Array> = new Map()) => {
    const { timestamp, digest } = parseProof(readExample(`${name}.ots`));
    return verifyTimestamp(timestamp, digest, headers).map(({ attestation, state }) =>
      `${attestation.kind} ${state}`
    );
  };

  it("verifies hello-world against the real header of its block", () => {
    const { timestamp, digest } = parseProof(readExample("hello-world.txt.ots"));
    const [finding] = verifyTimestamp(timestamp, digest, new Map([[358_391, header()]]));
    assert.equal(finding?.state, "verified");
    assert.equal(new Date(finding.time! * 1000).toISOString(), "2015-05-28T15:41:18.000Z");
  });

  it("refuses bad-stamp, which claims the same block", () => {
    assert.deepEqual(states("bad-stamp.txt", new Map([[358_391, header()]])), ["bitcoin failed"]);
  });

  it("reports blocks without headers as claimed", () => {
    assert.deepEqual(states("hello-world.txt"), ["bitcoin claimed"]);
    assert.ok(states("empty").includes("bitcoin claimed"));
    const kinds = states("different-blockchains.txt");
    assert.ok(kinds.includes("bitcoin claimed") && kinds.length > 1, kinds.join());
    assert.ok(!kinds.some((state) => /verified|failed/.test(state)));
    const { timestamp, digest } = parseProof(readExample("empty.ots"));
    const heights = listAttestations(timestamp, digest).map(({ attestation: a }) =>
      a.kind === "bitcoin" ? a.height : undefined
    );
    assert.ok(heights.includes(129_405));
  });

  for (const name of ["incomplete.txt", "two-calendars.txt", "merkle1.txt"]) {
    it(`reports ${name} as pending at calendars only`, () => {
      assert.deepEqual(new Set(states(name)), new Set(["pending pending"]));
    });
  }

  it("keeps an attestation of an unknown kind, and ignores it", () => {
    assert.deepEqual(
      new Set(states("known-and-unknown-notary.txt")),
      new Set([
        "pending pending",
        "unknown unknown",
      ]),
    );
  });

  for (
    const [name, fault, says] of [
      ["bad-major-version", "version", /major version/],
      ["exceeds-max-msg-length", "too_long", /4096/],
      ["invalid-file-digest-type", "digest_type", /unknown type 0x/],
    ] as const
  ) {
    it(`refuses invalid/${name}.ots as ${fault}`, () => {
      assert.throws(() => parseProof(readExample(`invalid/${name}.ots`)), (error) => {
        assert.ok(error instanceof BadTimestamp);
        assert.equal(error.fault, fault);
        assert.match(error.message, says);
        return true;
      });
    });
  }
});

describe("parseProof()", () => {
  const valid = `${HEAD} 01 ${DIGEST} 00 ${BITCOIN} 03 f7ef15`;
  it("reads a digest attested by a block", () => {
    const { hash, timestamp } = parseProof(hex(valid));
    assert.equal(hash, "sha256");
    assert.deepEqual(timestamp, { branches: [{ attestation: bitcoinAttestation(358_391) }] });
  });

  const refused: Record<string, [fault: string, file: string]> = {
    "nothing": ["magic", ""],
    "other bytes": ["magic", "25504446"],
    "another version": ["version", `${HEAD} 02 ${DIGEST} 00 ${BITCOIN} 01 01`],
    "an unknown digest": ["digest_type", `${HEAD} 01 09 ${"11".repeat(32)} 00 ${BITCOIN} 01 01`],
    "append as its digest's type": ["digest_type", `${HEAD} 01 f0 0101 00 ${BITCOIN} 01 01`],
    "a digest cut short": ["truncated", `${HEAD} 01 08 1111`],
    "no timestamp": ["truncated", `${HEAD} 01 ${DIGEST}`],
    "a fork with one arm": ["truncated", `${HEAD} 01 ${DIGEST} ff 00 ${BITCOIN} 01 01`],
    "something after its end": ["trailing", `${valid} 00`],
    "an unknown operation": ["operation", `${HEAD} 01 ${DIGEST} 55 00 ${BITCOIN} 01 01`],
    "an empty argument": ["too_long", `${HEAD} 01 ${DIGEST} f0 00 00 ${BITCOIN} 01 01`],
    "an argument over 4,096": ["too_long", `${HEAD} 01 ${DIGEST} f0 8120 ${"00".repeat(4097)}`],
    "a payload over 8,192": ["too_long", `${HEAD} 01 ${DIGEST} 00 ${"ab".repeat(8)} 8140`],
    "a number without end": ["varuint", `${HEAD} ${"ff".repeat(12)}`],
    "a number with needless zeros": ["varuint", `${HEAD} 8100`],
    "a height with more behind it": ["trailing", `${HEAD} 01 ${DIGEST} 00 ${BITCOIN} 02 0101`],
    "an address with a space": ["attestation", `${HEAD} 01 ${DIGEST} 00 83dfe30d2ef90c8e 02 0120`],
    "an address over 1,000": [
      "too_long",
      `${HEAD} 01 ${DIGEST} 00 83dfe30d2ef90c8e eb07 e907 ${"61".repeat(1001)}`,
    ],
    "257 levels": ["too_deep", `${HEAD} 01 ${DIGEST} ${"08".repeat(256)} 00 ${BITCOIN} 01 01`],
    "over 256 KiB": ["too_long", `${HEAD} ${"00".repeat(256 * 1024)}`],
    "hexlify on 2,049 bytes": [
      "too_long",
      `${HEAD} 01 ${DIGEST} f0 e10f ${"00".repeat(2017)} f3 00 ${BITCOIN} 01 01`,
    ],
  };
  for (const [name, [fault, bytes]] of Object.entries(refused)) {
    it(`refuses ${name}`, () => {
      assert.throws(() => parseProof(hex(bytes)), { name: "BadTimestamp", fault });
    });
  }

  it("reads 256 levels, 1,000 characters of an address and 4,096 bytes of a message", () => {
    const address = `00 83dfe30d2ef90c8e ea07 e807 ${"61".repeat(1000)}`;
    for (
      const rest of [
        `${"08".repeat(255)} 00 ${BITCOIN} 01 01`,
        address,
        `f0 e01f ${"00".repeat(4064)} 08 00 ${BITCOIN} 01 01`,
      ]
    ) {
      const bytes = hex(`${HEAD} 01 ${DIGEST} ${rest}`);
      assert.deepEqual(serializeProof(parseProof(bytes)), bytes);
    }
  });

  it("throws only typed errors for 2,000 mutated files", () => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
    console.log(`      seed ${seed}`);
    const random = mulberry32(seed);
    const samples = [hex(valid), serializeProof(branched())];
    let read = 0;
    for (let i = 0; i < 2000; i++) {
      const bytes = mutate(samples[i % samples.length]!, random);
      try {
        const parsed = parseProof(bytes);
        assert.deepEqual(serializeProof(parsed), bytes);
        verifyTimestamp(parsed.timestamp, parsed.digest, new Map([[358_391, bytes.slice(0, 80)]]));
        read++;
      } catch (error) {
        if (!(error instanceof BadTimestamp)) throw error;
      }
    }
    assert.ok(read > 50, `only ${read} mutated files could be read, which tests too little`);
  });

  it("refuses a small file that would cause endless work", () => {
    const arm = `ff ${"f2".repeat(200)} 00 ${BITCOIN} 01 01`;
    const grown = `f0 e01f ${"00".repeat(4064)}`;
    const file = parseProof(
      hex(`${HEAD} 01 ${DIGEST} ${grown} ${arm.repeat(200)} 00 ${BITCOIN} 01 01`),
    );
    assert.throws(() => listAttestations(file.timestamp, file.digest), { name: "BadTimestamp" });
  });
});

function branched() {
  const digest = hex("11".repeat(32));
  const timestamp = mergeTimestamps(
    prependOps([{ kind: "append", arg: hex("0102") }, { kind: "sha256" }], {
      branches: [{ attestation: pendingAttestation("https://a.example") }],
    }),
    prependOps([{ kind: "prepend", arg: hex("0304") }, { kind: "hexlify" }, { kind: "sha1" }], {
      branches: [{ attestation: bitcoinAttestation(358_391) }],
    }),
  );
  return { hash: "sha256" as const, digest, timestamp };
}

function mutate(sample: Uint8Array, random: () => number): Uint8Array {
  const bytes = [...sample];
  const place = () => Math.floor(random() * bytes.length);
  for (let n = 1 + Math.floor(random() * 3); n > 0; n--) {
    const kind = random();
    if (kind < 0.6) bytes[place()] = Math.floor(random() * 256);
    else if (kind < 0.75) bytes.splice(place(), 1 + Math.floor(random() * 8));
    else if (kind < 0.9) bytes.splice(place(), 0, Math.floor(random() * 256));
    else bytes.push(...bytes.slice(place()));
  }
  return Uint8Array.from(bytes);
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

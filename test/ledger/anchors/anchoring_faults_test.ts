import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { setInterval } from "node:timers";
import {
  bitcoinAttestation,
  openBitcoinSources,
  pendingAttestation,
  prependOps,
  SourceFailed,
  submitDigest,
  type Timestamp,
} from "../../../ledger/anchors/ots/mod.ts";
import { advanceAnchor, type AnchorProgress } from "../../../ledger/mod.ts";
import { type AnchorSetup, startAnchoring } from "./_setup.ts";
import { sendTimestamp } from "./ots/_calendar.ts";
import {
  sha256,
  startServer,
  type TestChain,
  testChain,
  type TestServer,
  TOO_EASY_BITS,
  withoutWork,
} from "./ots/_chain.ts";

/** A response in place of the right one. */
type Fault = (response: ServerResponse) => unknown;

const text = (size: number): Fault => (response) => response.end("<".repeat(size));
const refuse: Fault = (response) => response.destroy();
const unavailable: Fault = (response) => response.writeHead(503).end("<h1>Sorry</h1>");
const redirect: Fault = (response) =>
  response.writeHead(302, { location: "https://calendar.example/digest" }).end();
const sendSlowly: Fault = (response) => {
  const timer = setInterval(() => response.write("0"), 500);
  response.on("close", () => clearInterval(timer));
};
const promise = (uri: string): Timestamp => ({
  branches: [{ attestation: pendingAttestation(uri) }],
});
const block = (height: number): Timestamp => ({
  branches: [{ attestation: bitcoinAttestation(height) }],
});
const hashChain = (times: number, then: Timestamp) =>
  prependOps(Array.from({ length: times }, () => ({ kind: "sha256" }) as const), then);

describe("anchoring with faulty servers", () => {
  let setup: AnchorSetup;
  let slow: TestServer;
  let slowCalendar: Promise<AnchorProgress>;
  let slowSource: Promise<AnchorProgress>;

  before(async () => {
    [setup, slow] = await Promise.all([
      startAnchoring(),
      startServer((_, response) => void sendSlowly(response)),
    ]);
    const { parts, chain } = setup;
    // These two wait for a time limit, so they run beside the other tests.
    const first = await setup.openBatch(1);
    await advanceAnchor(parts, first);
    slowCalendar = advanceAnchor({
      ...parts,
      calendars: [...parts.calendars, slow.url],
      sources: [],
    }, first);
    const second = await setup.openBatch(1);
    await advanceAnchor(parts, second);
    setup.confirmAll();
    chain.bury(5);
    const sources = [parts.sources[1]!, ...openBitcoinSources([slow.url])];
    slowSource = advanceAnchor({ ...parts, calendars: [ownUrl()], sources }, second);
    slowCalendar.catch(() => {}), slowSource.catch(() => {}); // awaited in a test below
  });
  after(async () => {
    slow?.stop();
    await setup?.stop();
  });
  afterEach(() => setup.heal());

  const ownUrl = () => setup.calendars[0].url;
  const SUBMIT_FAULTS: Record<string, [respond: Fault, message: RegExp]> = {
    "is unavailable": [unavailable, /calendar 127\.0\.0\.1:\d+: status 503 for a digest/],
    "closes the connection": [refuse, /unreachable \(UND_ERR_SOCKET\)/],
    "returns noise": [text(100), /its response is no timestamp/],
    "returns nothing": [text(0), /its response is no timestamp: The data ends/],
    "returns 10 MB": [text(10_000_000), /its response is over 10000 bytes/],
    "redirects": [redirect, /it redirects, and redirects are not followed/],
    "promises in the name of another": [
      (response) => sendTimestamp(response, promise("http://127.0.0.1:1")),
      /its response has no promise of an allowed calendar/,
    ],
    "attests a block at once": [
      (response) => sendTimestamp(response, block(1)),
      /its response has no promise of an allowed calendar/,
    ],
  };
  for (const [fault, [respond, message]] of Object.entries(SUBMIT_FAULTS)) {
    it(`uses the other calendar while one ${fault}, reports it, and tries again`, async () => {
      const { calendars, parts } = setup;
      calendars[0].faults.digest = respond;
      const batch = await setup.openBatch(1);
      const { state, error } = await advanceAnchor(parts, batch);
      assert.equal(state, "pending");
      assert.match(error!, message);
      const row = await setup.readRow(batch);
      assert.match(row.last_error, message);
      assert.deepEqual(row.calendars, [calendars[1].url]);
      setup.heal();
      await advanceAnchor(parts, batch);
      assert.equal((await setup.readRow(batch)).calendars.length, 2);
      setup.confirmAll();
      assert.equal((await advanceAnchor(parts, batch)).state, "confirmed");
    });
  }

  it("keeps a proof readable when a calendar nests deeper than readers allow", async () => {
    const { calendars: [faulty, honest], chain, parts } = setup;
    faulty.faults.digest = (response) => sendTimestamp(response, hashChain(190, promise(ownUrl())));
    const batch = await setup.openBatch(1);
    await advanceAnchor(parts, batch);
    let message: Uint8Array = (await setup.readRow(batch)).root;
    for (let i = 0; i < 380; i++) message = sha256(message);
    const height = chain.mine(message);
    chain.bury(5);
    faulty.faults.timestamp = (response) => sendTimestamp(response, hashChain(190, block(height)));
    const { state, error } = await advanceAnchor(parts, batch);
    assert.equal(state, "pending");
    assert.match(error!, /nests deeper than the 256 levels/);
    honest.commit(chain);
    chain.bury(5);
    assert.equal((await advanceAnchor(parts, batch)).state, "confirmed");
    await setup.verifyProof(batch);
  });

  const FETCH_FAULTS: Record<string, [respond: Fault, message: RegExp]> = {
    "is unavailable": [unavailable, /status 503 for a commitment/],
    "returns noise": [text(100), /its response is no timestamp/],
    "returns 10 MB": [text(10_000_000), /its response is over 10000 bytes/],
    "redirects": [redirect, /it redirects/],
    "names a block with another merkle root": [
      (response) => sendTimestamp(response, hashChain(1, block(2))),
      /it attests block 2, whose merkle root is another/,
    ],
    "names a future block": [
      (response) => sendTimestamp(response, hashChain(1, block(10_000))),
      /block 10000 has 0 confirmations of 6/,
    ],
    "names an impossible height": [
      (response) => sendTimestamp(response, hashChain(1, block(2 ** 53 - 1))),
      /block 9007199254740991 has 0 confirmations of 6/,
    ],
    "returns only a promise": [
      (response) => sendTimestamp(response, hashChain(1, promise(ownUrl()))),
      /its response attests no Bitcoin block/,
    ],
  };
  for (const [fault, [respond, message]] of Object.entries(FETCH_FAULTS)) {
    it(`stays pending while the only calendar ${fault}, and reports it`, async () => {
      const alone = { ...setup.parts, calendars: [ownUrl()] };
      const batch = await setup.openBatch(1);
      await advanceAnchor(alone, batch);
      setup.confirmAll();
      setup.calendars[0].faults.timestamp = respond;
      const { state, error } = await advanceAnchor(alone, batch);
      assert.equal(state, "pending");
      assert.match(error!, message);
      setup.heal();
      assert.equal((await advanceAnchor(alone, batch)).state, "confirmed");
    });
  }

  const SOURCE_FAULTS: Record<string, [apply: (setup: AnchorSetup) => void, message: RegExp]> = {
    "is unavailable": [
      ({ faults }) => faults.respond = unavailable,
      /Only one source responded.*status 503/,
    ],
    "returns noise": [({ faults }) => faults.respond = text(50), /it returned no height/],
    "returns 10 MB": [({ faults }) => faults.respond = text(10_000_000), /over 65536 bytes/],
    "redirects": [({ faults }) => faults.respond = redirect, /it redirects/],
    "lags behind": [
      ({ faults, chain }) => faults.chain = testChain(chain.headers.slice(0, -1)),
      /has 5 confirmations of 6/,
    ],
    "returns another block": [
      ({ faults, chain }) => faults.chain = fork(chain),
      /The sources disagree about block/,
    ],
    "returns blocks with too little work": [
      ({ faults, chain }) => faults.chain = fork(chain, TOO_EASY_BITS),
      /bits 0x207fffff\) is easier than the test network can have had/,
    ],
    "returns a block without work": [
      ({ faults, chain }) => faults.chain = chainWithoutWork(chain),
      /does not meet its target/,
    ],
    "returns blocks that are not linked": [
      ({ faults, chain }) => faults.chain = unlinked(chain),
      /is not built on its block/,
    ],
  };
  for (const [fault, [apply, message]] of Object.entries(SOURCE_FAULTS)) {
    it(`stays pending while one of two sources ${fault}, and reports it`, async () => {
      const batch = await setup.openBatch(1);
      await advanceAnchor(setup.parts, batch);
      setup.calendars[0].commit(setup.chain);
      setup.chain.bury(5);
      apply(setup);
      const { state, error } = await advanceAnchor(setup.parts, batch);
      assert.equal(state, "pending");
      assert.match(error!, message);
      setup.heal();
      assert.equal((await advanceAnchor(setup.parts, batch)).state, "confirmed");
    });
  }

  it("gives up on a slow calendar or source after ten seconds, and reports it", async () => {
    const calendar = await slowCalendar;
    assert.match(calendar.error!, /calendar 127.*no complete response within 10000 ms/);
    const { state, error } = await slowSource;
    assert.equal(state, "pending");
    assert.match(error!, /Only one source responded.*no complete response within 10000 ms/);
  });

  it("sends nothing unencrypted to other machines", async () => {
    const failed = (error: unknown) =>
      error instanceof SourceFailed && /neither https nor http on loopback/.test(error.reason);
    const digest = new Uint8Array(32);
    for (
      const address of ["http://calendar.example", "ftp://127.0.0.1", "http://127.0.0.1.nip.io"]
    ) {
      await assert.rejects(submitDigest(address, digest), failed);
    }
    const [source] = openBitcoinSources(["core+http://rpc:secret@10.0.0.1:8332"]);
    await assert.rejects(source!.tip(), failed);
  });
});

/** Replaces the last six blocks by others with the same merkle roots. */
function fork({ headers }: TestChain, bits?: number): TestChain {
  const other = testChain(headers.slice(0, -6));
  for (const header of headers.slice(-6)) other.mine(header.subarray(36, 68), bits);
  return other;
}

function unlinked({ headers }: TestChain): TestChain {
  return testChain([...headers.slice(0, -3), testChain().headers[0]!, ...headers.slice(-2)]);
}

/** Replaces the sixth block from the end by one without work. */
const chainWithoutWork = ({ headers }: TestChain): TestChain =>
  testChain(headers.with(-6, withoutWork(headers.at(-6)!)));

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { setInterval } from "node:timers";
import { advanceAnchor, type AnchorProgress } from "../../../ledger/mod.ts";
import {
  bitcoinAttestation,
  openBitcoinSources,
  pendingAttestation,
  prependOps as following,
  SourceFailed,
  submitDigest,
  type Timestamp,
} from "../../../ledger/anchors/ots/mod.ts";
import { type AnchorBench, anchorBench } from "./_anchoring.ts";
import { give } from "./ots/_calendar.ts";
import {
  serveTest,
  sha256,
  type TestChain,
  testChain,
  type TestServer,
  TOO_EASY_BITS,
  workless,
} from "./ots/_chain.ts";

/** What a server does in place of its work. */
type Fault = (response: ServerResponse) => unknown;

const text = (size: number): Fault => (response) => response.end("<".repeat(size));
const refuse: Fault = (response) => response.destroy();
const away: Fault = (response) => response.writeHead(503).end("<h1>Sorry</h1>");
const redirect: Fault = (response) =>
  response.writeHead(302, { location: "https://calendar.example/digest" }).end();
const drip: Fault = (response) => {
  const timer = setInterval(() => response.write("0"), 500);
  response.on("close", () => clearInterval(timer));
};
const promise = (uri: string): Timestamp => ({
  branches: [{ attestation: pendingAttestation(uri) }],
});
const block = (height: number): Timestamp => ({
  branches: [{ attestation: bitcoinAttestation(height) }],
});
const hashed = (times: number, then: Timestamp) =>
  following(Array.from({ length: times }, () => ({ kind: "sha256" }) as const), then);

describe("anchoring, while others fail or lie", () => {
  let bench: AnchorBench;
  let slow: TestServer;
  let slowCalendar: Promise<AnchorProgress>;
  let slowSource: Promise<AnchorProgress>;

  before(async () => {
    [bench, slow] = await Promise.all([
      anchorBench(),
      serveTest((_, response) => void drip(response)),
    ]);
    const { anchoring, chain } = bench;
    // These take as long as a server is waited for, so they run beside the other tests.
    const first = await bench.batchOf(1);
    await advanceAnchor(anchoring, first);
    slowCalendar = advanceAnchor({
      ...anchoring,
      calendars: [...anchoring.calendars, slow.url],
      sources: [],
    }, first);
    const second = await bench.batchOf(1);
    await advanceAnchor(anchoring, second);
    bench.commitAll();
    chain.bury(5);
    const sources = [anchoring.sources[1]!, ...openBitcoinSources([slow.url])];
    slowSource = advanceAnchor({ ...anchoring, calendars: [mine()], sources }, second);
    slowCalendar.catch(() => {}), slowSource.catch(() => {}); // waited for below
  });
  after(async () => {
    slow?.stop();
    await bench?.stop();
  });
  afterEach(() => bench.heal());

  const mine = () => bench.calendars[0].url;
  const submitting: Record<string, [fault: Fault, says: RegExp]> = {
    "is away": [away, /calendar 127\.0\.0\.1:\d+: status 503 to a digest/],
    "hangs up": [refuse, /unreachable \(UND_ERR_SOCKET\)/],
    "answers with noise": [text(100), /its answer is no timestamp/],
    "answers with nothing": [text(0), /its answer is no timestamp: It ends/],
    "answers with 10 MB": [text(10_000_000), /its answer is over 10000 bytes/],
    "redirects": [redirect, /it redirects, which is not followed/],
    "promises in another's name": [
      (response) => give(response, promise("http://127.0.0.1:1")),
      /it promises nothing of a calendar that may be asked/,
    ],
    "attests a block at once": [
      (response) => give(response, block(1)),
      /it promises nothing of a calendar that may be asked/,
    ],
  };
  for (const [what, [fault, says]] of Object.entries(submitting)) {
    it(`goes on with the other calendar while one ${what}, says so, and tries again`, async () => {
      const { calendars, anchoring } = bench;
      calendars[0].faults.digest = fault;
      const batch = await bench.batchOf(1);
      const { state, error } = await advanceAnchor(anchoring, batch);
      assert.equal(state, "pending");
      assert.match(error!, says);
      const row = await bench.rowOf(batch);
      assert.match(row.last_error, says);
      assert.deepEqual(row.calendars, [calendars[1].url]);
      bench.heal();
      await advanceAnchor(anchoring, batch);
      assert.equal((await bench.rowOf(batch)).calendars.length, 2);
      bench.commitAll();
      assert.equal((await advanceAnchor(anchoring, batch)).state, "confirmed");
    });
  }

  it("does not let one calendar spoil a proof by nesting deeper than readers go", async () => {
    const { calendars: [liar, honest], chain, anchoring } = bench;
    liar.faults.digest = (response) => give(response, hashed(190, promise(mine())));
    const batch = await bench.batchOf(1);
    await advanceAnchor(anchoring, batch);
    let message: Uint8Array = (await bench.rowOf(batch)).root;
    for (let i = 0; i < 380; i++) message = sha256(message);
    const height = chain.mine(message);
    chain.bury(5);
    liar.faults.timestamp = (response) => give(response, hashed(190, block(height)));
    const { state, error } = await advanceAnchor(anchoring, batch);
    assert.equal(state, "pending");
    assert.match(error!, /nests deeper than the 256 levels/);
    honest.commit(chain);
    chain.bury(5);
    assert.equal((await advanceAnchor(anchoring, batch)).state, "confirmed");
    await bench.findings(batch);
  });

  const asking: Record<string, [fault: Fault, says: RegExp]> = {
    "is away": [away, /status 503 to a question/],
    "answers with noise": [text(100), /its answer is no timestamp/],
    "answers with 10 MB": [text(10_000_000), /its answer is over 10000 bytes/],
    "redirects": [redirect, /it redirects/],
    "names a block that is not ours": [
      (response) => give(response, hashed(1, block(2))),
      /it attests block 2, whose merkle root is another/,
    ],
    "names a block to come": [
      (response) => give(response, hashed(1, block(10_000))),
      /block 10000 has 0 confirmations of 6/,
    ],
    "names a block beyond reason": [
      (response) => give(response, hashed(1, block(2 ** 53 - 1))),
      /block 9007199254740991 has 0 confirmations of 6/,
    ],
    "only promises again": [
      (response) => give(response, hashed(1, promise(mine()))),
      /it attests no Bitcoin block/,
    ],
  };
  for (const [what, [fault, says]] of Object.entries(asking)) {
    it(`stays pending while the only calendar ${what}, and says so`, async () => {
      const alone = { ...bench.anchoring, calendars: [mine()] };
      const batch = await bench.batchOf(1);
      await advanceAnchor(alone, batch);
      bench.commitAll();
      bench.calendars[0].faults.timestamp = fault;
      const { state, error } = await advanceAnchor(alone, batch);
      assert.equal(state, "pending");
      assert.match(error!, says);
      bench.heal();
      assert.equal((await advanceAnchor(alone, batch)).state, "confirmed");
    });
  }

  const lying: Record<string, [lie: (bench: AnchorBench) => void, says: RegExp]> = {
    "is away": [({ lies }) => lies.answer = away, /Only one source could be asked.*status 503/],
    "answers with noise": [({ lies }) => lies.answer = text(50), /it gave no height/],
    "answers with 10 MB": [({ lies }) => lies.answer = text(10_000_000), /over 65536 bytes/],
    "redirects": [({ lies }) => lies.answer = redirect, /it redirects/],
    "lags behind": [
      ({ lies, chain }) => lies.chain = testChain(chain.headers.slice(0, -1)),
      /has 5 confirmations of 6/,
    ],
    "tells of another block": [
      ({ lies, chain }) => lies.chain = fork(chain),
      /The sources disagree about block/,
    ],
    "tells of blocks that took little work": [
      ({ lies, chain }) => lies.chain = fork(chain, TOO_EASY_BITS),
      /bits 0x207fffff\) is easier than the test network can have had/,
    ],
    "tells of a block without work": [
      ({ lies, chain }) => lies.chain = worklessChain(chain),
      /does not meet its target: no work/,
    ],
    "tells of blocks that are not linked": [
      ({ lies, chain }) => lies.chain = unlinked(chain),
      /is not built on its block/,
    ],
  };
  for (const [what, [lie, says]] of Object.entries(lying)) {
    it(`stays pending while one of two sources ${what}, and says so`, async () => {
      const batch = await bench.batchOf(1);
      await advanceAnchor(bench.anchoring, batch);
      bench.calendars[0].commit(bench.chain);
      bench.chain.bury(5);
      lie(bench);
      const { state, error } = await advanceAnchor(bench.anchoring, batch);
      assert.equal(state, "pending");
      assert.match(error!, says);
      bench.heal();
      assert.equal((await advanceAnchor(bench.anchoring, batch)).state, "confirmed");
    });
  }

  it("waits ten seconds for a calendar or a source that drips, and says so", async () => {
    const calendar = await slowCalendar;
    assert.match(calendar.error!, /calendar 127.*no whole answer within 10000 ms/);
    const { state, error } = await slowSource;
    assert.equal(state, "pending");
    assert.match(error!, /Only one source could be asked.*no whole answer within 10000 ms/);
  });

  it("sends nothing in the clear further than this machine", async () => {
    const failed = (error: unknown) =>
      error instanceof SourceFailed && /only https is asked/.test(error.reason);
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

/** The chain, with the last six blocks replaced by others that hold the same. */
function fork({ headers }: TestChain, bits?: number): TestChain {
  const other = testChain(headers.slice(0, -6));
  for (const header of headers.slice(-6)) other.mine(header.subarray(36, 68), bits);
  return other;
}

function unlinked({ headers }: TestChain): TestChain {
  return testChain([...headers.slice(0, -3), testChain().headers[0]!, ...headers.slice(-2)]);
}

/** The chain, with a block that nobody has worked for. */
const worklessChain = ({ headers }: TestChain): TestChain =>
  testChain(headers.with(-6, workless(headers.at(-6)!)));

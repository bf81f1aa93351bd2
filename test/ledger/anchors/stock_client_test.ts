import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { advanceAnchor } from "../../../ledger/mod.ts";
import { testFolder } from "../../_run.ts";
import { serveLedger } from "../_ledger.ts";
import { type AnchorSetup, startAnchoring } from "./_setup.ts";
import { startBitcoinCore, type TestServer } from "./ots/_chain.ts";

/** The official client and its library. */
const CLIENT = ["opentimestamps-client==0.7.2", "opentimestamps==0.4.5"];
const INSTALL_MS = 60_000;

/** Reads a proof, prints its attestations, and checks that it writes the same bytes. */
const ROUND_TRIP = `
import sys
from opentimestamps.core.serialize import BytesDeserializationContext, BytesSerializationContext
from opentimestamps.core.timestamp import DetachedTimestampFile
raw = sys.stdin.buffer.read()
proof = DetachedTimestampFile.deserialize(BytesDeserializationContext(raw))
again = BytesSerializationContext()
proof.serialize(again)
assert again.getbytes() == raw, "other bytes"
for _, attestation in proof.timestamp.all_attestations(): print(type(attestation).__name__)
`;

/** The result of a program. */
interface ProgramResult {
  readonly code: number;
  readonly text: string;
}

describe("the stock OpenTimestamps client", () => {
  let setup: AnchorSetup;
  let server: Awaited<ReturnType<typeof serveLedger>>;
  let node: TestServer;
  let folder: string;
  let height: number;

  before(async function () {
    const [[place, why], ready] = await Promise.all([installClient(), startAnchoring()]);
    setup = ready;
    if (!place) {
      console.error(`      skipped: cannot install the stock client: ${why}`);
      return this.skip();
    }
    folder = place;
    node = await startBitcoinCore(setup.chain, "secret");
    server = await serveLedger(setup.ledger.database);
    const batch = await setup.openBatch(5);
    await advanceAnchor(setup.parts, batch);
    height = setup.calendars[1].commit(setup.chain);
    setup.chain.bury(5);
    assert.equal((await advanceAnchor(setup.parts, batch)).state, "confirmed");
    await advanceAnchor(setup.parts, await setup.openBatch(1));
    for (const n of [3, 5]) {
      for (const ending of ["bin", "bin.ots"]) {
        await writeFile(
          join(folder, `${n}.${ending}`),
          await download(n, ending.replace("bin.", "")),
        );
      }
    }
  });
  after(async () => {
    node?.stop();
    await server?.stop();
    await setup?.stop();
  });

  async function download(n: number, ending: string): Promise<Uint8Array> {
    const path = `/api/receipt/receipt-00000${n}.${ending}`;
    const answer = await fetch(server.address.replace(/\/$/, "") + path);
    assert.equal(answer.status, 200);
    return new Uint8Array(await answer.arrayBuffer());
  }
  const ots = (...args: string[]): Promise<ProgramResult> =>
    runProgram(
      join(folder, "venv", "bin", "ots"),
      ["--no-cache", "--bitcoin-node", node.url.replace("core+", ""), ...args],
      folder,
    );

  it("verifies a receipt's bytes against a Bitcoin node", async () => {
    const { code, text } = await ots("verify", "3.bin.ots");
    assert.match(text, new RegExp(`Success! Bitcoin block ${height} attests existence as of`));
    assert.equal(code, 0);
  });

  it("refuses other bytes", async () => {
    await writeFile(join(folder, "other.bin"), "other");
    const { code, text } = await ots("verify", "-f", "other.bin", "3.bin.ots");
    assert.match(text, /File does not match original!/);
    assert.equal(code, 1);
  });

  it("refuses a proof whose block has another merkle root", async () => {
    const header = setup.chain.headers[height]!;
    setup.chain.headers[height] = setup.chain.headers[height + 1]!;
    const { code, text } = await ots("verify", "3.bin.ots").finally(() =>
      setup.chain.headers[height] = header
    );
    assert.match(text, /Bitcoin verification failed/);
    assert.equal(code, 1);
  });

  it("reports a proof without a block as pending at its calendars", async () => {
    const { code, text } = await ots("info", "5.bin.ots");
    assert.equal(code, 0);
    for (const { url } of setup.calendars) assert.ok(text.includes(url), text);
    assert.equal((await ots("verify", "5.bin.ots")).code, 1);
  });

  it("upgrades a pending proof by its calendar", async () => {
    setup.confirmAll();
    await copyFile(join(folder, "5.bin"), join(folder, "later.bin"));
    await copyFile(join(folder, "5.bin.ots"), join(folder, "later.bin.ots"));
    const [{ url }] = setup.calendars;
    assert.equal((await ots("-l", url, "upgrade", "later.bin.ots")).code, 0);
    const { code, text } = await ots("verify", "later.bin.ots");
    assert.match(text, /Success! Bitcoin block \d+ attests/);
    assert.equal(code, 0);
  });

  it("has a library that reads proofs and writes the same bytes", async () => {
    const python = join(folder, "venv", "bin", "python3");
    for (const [n, kind] of [[3, "BitcoinBlockHeaderAttestation"], [5, "PendingAttestation"]]) {
      const { code, text } = await runProgram(python, ["-c", ROUND_TRIP], folder, `${n}.bin.ots`);
      assert.equal(code, 0, text);
      assert.ok(text.includes(String(kind)), text);
    }
  });
});

/** Installs the client into a virtual environment. @returns the folder, or why it failed */
async function installClient(): Promise<[string] | [undefined, string]> {
  const folder = await testFolder();
  const venv = join(folder, "venv");
  const limit = { timeout: INSTALL_MS };
  try {
    await promisify(execFile)("python3", ["-m", "venv", venv], limit);
    const quietly = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input"];
    await promisify(execFile)(join(venv, "bin", "python3"), [...quietly, ...CLIENT], limit);
    await promisify(execFile)(join(venv, "bin", "ots"), ["--version"], limit);
    return [folder];
  } catch (error) {
    const { message } = error as Error;
    return [undefined, message.split("\n").filter(Boolean).slice(0, 2).join(" ")];
  }
}

/** Runs a program. @param input file of the folder for its standard input */
function runProgram(
  program: string,
  args: string[],
  folder: string,
  input?: string,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: folder };
    const child = execFile(
      program,
      args,
      { cwd: folder, env },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, text: out + err }),
    );
    if (input) createReadStream(join(folder, input)).pipe(child.stdin!);
  });
}

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { newPage } from "../../_browser.ts";
import { program } from "../../_programs.ts";
import { findPython } from "../../_python.ts";
import { testFolder } from "../../_run.ts";
import { sized } from "../../_size.ts";
import { makeVectors, printVectors } from "./_make.ts";
import { startVectorServer, type VectorServer } from "./_server.ts";
import { textOf } from "../page/_pages.ts";
import { readVectors, recordsOf, VECTORS_FILE } from "./_vectors.ts";

/** Result of one verifier. */
interface Verdict {
  readonly exit: number;
  readonly says: string;
}

/** An element that takes files, which the types of Node lack. */
interface FileInput {
  uploadFile(path: string): Promise<void>;
}

const WAIT = { timeout: 120_000 };
/** A break is shown when it is found, and others may follow while the page checks on. */
const DECIDED = ":is(.verdict.intact, .verdict.broken, .verdict.unproven):not([data-checking])";

describe("a server that lies to somebody with a trust file", () => {
  const vectors = readVectors();
  let server: VectorServer;
  let folder: string;
  let command: string;
  let python: string | undefined;
  before(async () => {
    server = await startVectorServer();
    folder = await testFolder();
    command = await program("processes/commands/verify.ts");
    const found = await findPython("cryptography", "cryptography");
    if ("program" in found) python = found.program;
    else console.log(`    the verifier in Python is not run: ${found.missing}`);
  });
  after(() => server?.stop());

  const run = (file: string, args: readonly string[]): Promise<Verdict> =>
    new Promise((resolve) => {
      execFile(file, args, { cwd: ROOT }, (error, out, err) => {
        resolve({ exit: Number(error?.code ?? 0), says: out + err });
      });
    });

  async function checkInBrowser(trust: string): Promise<Verdict> {
    const { page, close } = await newPage();
    try {
      await page.goto(server.address, { waitUntil: "load" });
      const input = (await page.waitForSelector("input#file", WAIT))! as unknown as FileInput;
      await Promise.all([page.waitForNavigation(WAIT), input.uploadFile(trust)]);
      await page.waitForFunction(
        `document.querySelector("${DECIDED}") ??
          document.querySelector("#verdict .big")?.textContent === "Stopped"`,
        WAIT,
      );
      const look = await page.$eval("#verdict", (element) => element.className);
      const says = await textOf(page, "#verdict");
      return { exit: / intact/.test(look) ? 0 : / broken/.test(look) ? 1 : 2, says };
    } finally {
      await close();
    }
  }

  // A browser takes seconds for each, so that in the daily run it sees a tenth, each time another.
  const step = Math.round(vectors.servers.length / sized(vectors.servers.length));
  const first = randomInt(step);
  for (const [n, vector] of vectors.servers.entries()) {
    const isSeen = n % step === first;
    it(`${vector.exit === 0 ? "accepts" : `ends with ${vector.exit} for`} ${vector.name}`, async () => {
      server.show(vector, recordsOf(vectors, vector));
      const trust = join(folder, "sealoop.trust.json");
      writeFileSync(trust, JSON.stringify(vectors.trust[vector.trust]));
      const verdicts: Record<string, Verdict> = {
        command: await run(process.execPath, [
          command,
          "--threads",
          "1",
          server.address,
          "--trust",
          trust,
        ]),
        ...(python && {
          python: await run(python, [
            join(ROOT, "ledger", "verify_ledger.py"),
            server.address,
            trust,
          ]),
        }),
        ...(isSeen && { page: await checkInBrowser(trust) }),
      };
      for (const [verifier, { exit, says }] of Object.entries(verdicts)) {
        const said = `${verifier} ends with ${exit} and says:\n${says}`;
        assert.equal(exit, vector.exit, said);
        if (vector.reason) assert.match(says, new RegExp(vector.reason, "is"), said);
        assert.ok(!says.includes("\u001b"), said);
      }
    });
  }

  it("is of vectors that can be made again", () => {
    assert.equal(printVectors(makeVectors()), readFileSync(VECTORS_FILE, "utf8"));
  });
});

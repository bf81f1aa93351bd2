import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { testFolder } from "../../_run.ts";
import { readVectors } from "../opened/_vectors.ts";
import { findBarriers, textOf, usePages, WAIT } from "./_pages.ts";

/** An element that takes files, which the types of Node lack. */
interface FileInput {
  uploadFile(path: string): Promise<void>;
}

describe("the page of a ledger that is given opened evidence", () => {
  const pages = usePages();
  const { cases } = readVectors();

  async function check(name: string): Promise<string> {
    const { file } = cases.find((one) => one.name === name)!;
    const path = join(await testFolder(), "opened.json");
    writeFileSync(path, JSON.stringify(file, undefined, 2));
    await pages.open("/");
    const { page } = pages.tab;
    const input = (await page.waitForSelector("input#file", WAIT))! as unknown as FileInput;
    await input.uploadFile(path);
    await page.waitForSelector("#report .result", WAIT);
    return await textOf(page, "#report");
  }

  it("says exactly what is claimed, with the lines that were signed", async () => {
    const said = await check("two people, one with ES256 and one with RS256");
    assert.match(said, /opened evidence; it holds/);
    assert.match(said, /this credential, with user verification, signed exactly this text/);
    assert.match(said, /\| asks for {4}Restart shop/);
    assert.match(said, /not claimed: what eyes saw/);
    assert.deepEqual(await findBarriers(pages.tab.page), []);
    pages.assertQuiet();
  });

  it("says what does not hold", async () => {
    const said = await check("another text than was shown");
    assert.match(said, /it does not hold/);
    assert.match(said, /WRONG #2: what was signed is over another text/);
    assert.ok(!said.includes("signed exactly this text"));
  });

  it("says what can't be told", async () => {
    const said = await check("a decision whose text is not opened");
    assert.match(said, /can't be told/);
    assert.match(said, /UNKNOWN #2: what the passkey signed is not opened: shown/);
  });
});

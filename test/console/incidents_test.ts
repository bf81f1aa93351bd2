import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HTTPRequest } from "puppeteer-core";
import { openPeople, type People } from "../api/_people.ts";
import { type ConsoleTab, openConsole, SCHEMES, WIDTHS } from "./_console.ts";
import { isLookedAt } from "../_size.ts";

const MARK = `<img src=x onerror="document.title='stolen'">`;

describe("the console's pages of incidents", () => {
  let people: People;
  let tab: ConsoleTab;
  /** The ticket of a drill that was healed. */
  let healed: string;
  before(async () => {
    people = await openPeople();
    tab = await openConsole(people);
    await people.call("POST", "/v1/itsm/test", "program", {});
    healed = await people.eventually(async () => {
      const path = "/v1/itsm/incidents/search?query=test-&status=resolved";
      return (await people.call("GET", path, "program")).body.tickets[0]?.ticket_id;
    });
    await tab.signIn();
  });
  after(async () => {
    await tab?.close();
    await people?.stop();
  });

  async function ticket(fields: Record<string, string>): Promise<string> {
    const { body } = await people.call("POST", "/v1/itsm/tickets", "program", fields);
    return body.ticket_id;
  }

  it("tell a healed incident: its steps with durations, its story, cause and receipts", async () => {
    const text = await tab.open(`/console/incidents/${healed}`, /checked in this browser: hash/);
    assert.match(text, /Verify[^]*\d (?:ms|s)/);
    assert.match(text, /What happened[^]*check found[^]*The ticket was opened[^]*The check passed/);
    assert.match(text, /Why[^]*by observation/);
    assert.match(text, /Post-mortem/);
    const [, checked, all] = /(\d+) of (\d+) checked in this browser/.exec(
      await tab.shows(/(\d+) of \1 checked in this browser/),
    )!;
    assert.ok(Number(checked) >= 4 && checked === all, text);
    const [number] = await tab.page.$$eval(
      "a[href^='#observation-']",
      (links) => links.map((link) => link.getAttribute("href")!),
    );
    assert.ok(await tab.page.$(number!), "the number of an observation leads to it");
  });

  it("say which receipt is broken, and which is not sealed yet", async () => {
    await tab.page.setRequestInterception(true);
    const id = await (await tab.page.$eval(".receipts > li", ({ id }) => id));
    const tamper = async (request: HTTPRequest) => {
      if (!request.url().endsWith("/receipts")) return await request.continue();
      const cookie = (await tab.page.cookies()).map((one) => `${one.name}=${one.value}`).join();
      const answer = await fetch(request.url(), {
        headers: { cookie, "sec-fetch-site": "same-origin" },
      });
      // deno-lint-ignore no-explicit-any -- the test changes it
      const proofs = await answer.json() as any;
      const [first] = proofs.receipts;
      first.record = first.record.replace(
        /"outcome":"\w/,
        (text: string) => text.slice(0, -1) + (text.endsWith("x") ? "y" : "x"),
      );
      proofs.waiting = ["0123456789abcdef"];
      await request.respond({ body: JSON.stringify(proofs), contentType: "application/json" });
    };
    tab.page.on("request", tamper);
    try {
      const text = await tab.open(`/console/incidents/${healed}`, /BROKEN/);
      assert.match(await tab.page.$eval(`[id="${id}"]`, (one) => one.textContent!), /BROKEN/);
      assert.match(text, /1 broken[^]*1 not sealed yet/);
    } finally {
      tab.page.off("request", tamper);
      await tab.page.setRequestInterception(false);
    }
  });

  it("give all of it as one file, whose receipts are those that the ledger has", async () => {
    const secret = "Zq8rT2wLm4Xc";
    const id = await ticket({ title: "Disk full", description: `with password=${secret}` });
    const { body } = await people.call("GET", `/v1/itsm/tickets/${id}/bundle`, "program");
    assert.equal(body.ticket.ticket_id, id);
    assert.doesNotMatch(JSON.stringify(body), new RegExp(secret));
    const { body: whole } = await people.call(
      "GET",
      `/v1/itsm/tickets/${healed}/bundle`,
      "program",
    );
    assert.match(whole.postmortem, /## Cause/);
    assert.doesNotMatch(JSON.stringify(whole), /\[secret\]/, "hashes and ids are none");
    for (const { id, record } of whole.receipts.receipts) {
      const { body: receipt } = await people.call("GET", `/v1/receipt/${id}`);
      assert.deepEqual(JSON.parse(record), receipt);
    }
    const other = await people.call("GET", `/v1/itsm/tickets/${id}/bundle`, "rival");
    assert.equal(other.status, 404);
  });

  it("save that file by a click", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bundle-"));
    try {
      await tab.devtools.send("Page.setDownloadBehavior", {
        behavior: "allow",
        downloadPath: folder,
      });
      await tab.open(`/console/incidents/${healed}`, /Download all of it as one file/);
      await tab.press("Download all of it as one file");
      const file = join(folder, `${healed}.json`);
      await people.eventually(async () => existsSync(file) || undefined);
      const saved = JSON.parse(readFileSync(file, "utf8"));
      const { body } = await people.call("GET", `/v1/itsm/tickets/${healed}/bundle`, "program");
      assert.deepEqual(Object.keys(saved), Object.keys(body));
      assert.deepEqual(saved.receipts.receipts, body.receipts.receipts);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("print what happened with all receipts unfolded, and nothing that is to be clicked", async () => {
    await tab.open(`/console/incidents/${healed}`, /(\d+) of \1 checked in this browser/);
    const isShown = (selector: string) =>
      tab.page.$$eval(
        selector,
        (all) => all.map((one) => one.checkVisibility({ visibilityProperty: true })),
      );
    const told = ["h1", ".rail", "#postmortem", "[id='receipts']"];
    const folded = ".receipts > li > details > ul";
    const clicked = ["header nav", ".badge", ".actions", "main button", "main form"];
    const each = async (selectors: readonly string[]) =>
      (await Promise.all(selectors.map(isShown))).flat();
    assert.ok((await each(clicked)).includes(true) && (await isShown(folded)).includes(false));
    await tab.page.emulateMediaType("print");
    try {
      for (const selector of [...told, folded]) {
        const shown = await isShown(selector);
        assert.ok(shown.length > 0 && !shown.includes(false), selector);
      }
      for (const selector of clicked) {
        assert.ok(!(await isShown(selector)).includes(true), selector);
      }
      const wide = "document.documentElement.scrollWidth - innerWidth";
      assert.equal(await tab.page.evaluate(wide), 0);
    } finally {
      await tab.page.emulateMediaType();
    }
  });

  it("list what matches, and keep the question in the address", async () => {
    for (let n = 0; n < 51; n++) await ticket({ title: `Printer ${n} jams`, severity: "low" });
    await ticket({ title: "The boiler sticks", severity: "critical" });
    await tab.open("/console/incidents", /The boiler sticks/);
    await tab.page.locator("input[type=search]").fill("printer jams");
    await tab.keys("Enter");
    await tab.shows(/^(?![^]*boiler)[^]*Printer 50 jams/);
    await tab.press("Older");
    await tab.shows(/^(?![^]*Printer 50 jams)[^]*Printer 0 jams/);
    const address = await tab.page.evaluate("location.search");
    assert.match(String(address), /query=printer\+jams&older_than=INC-/);
    await tab.page.reload();
    await tab.shows(/Printer 0 jams/);
    await tab.press("Newer");
    await tab.shows(/Printer 50 jams/);
    await tab.page.goBack();
    await tab.shows(/Printer 0 jams/);
    await tab.open("/console/incidents?severity=critical", /The boiler sticks/);
    assert.equal((await tab.page.$$(".rows tbody tr")).length, 1);
    await tab.open("/console/incidents?to=2001-01-01", /No incident matches/);
  });

  it("run no script of others", async () => {
    const id = await ticket({ title: MARK, description: `${MARK} [a](javascript:alert(1))` });
    await people.call("POST", `/v1/itsm/tickets/${id}/close`, "program", { resolution: MARK });
    for (const path of ["/console/incidents", `/console/incidents/${id}`]) {
      await tab.open(path, /<img src=x/);
      assert.doesNotMatch(await tab.page.title(), /stolen/);
      assert.deepEqual(await tab.page.$$("main img"), []);
      assert.deepEqual(await tab.page.$$("a[href^=javascript]"), []);
    }
  });

  for (const [row, scheme] of SCHEMES.entries()) {
    it(`have no barriers, and fit, ${scheme}`, async () => {
      await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      const pages = [
        ["/console/incidents", /Severity/],
        [`/console/incidents/${healed}`, /(\d+) of \1 checked in this browser/],
      ] as const;
      for (const [column, width] of WIDTHS.entries()) {
        if (!isLookedAt(row, column)) continue;
        await tab.page.setViewport({ width, height: 800 });
        for (const [path, text] of pages) {
          await tab.open(path, text);
          assert.deepEqual(await tab.barriers(), [], `${path} at ${width}`);
        }
      }
    });
  }
});

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { eventually } from "../../_time.ts";
import { tamper } from "../scrub/_scrub.ts";
import {
  changeRecords,
  contentWidth,
  findBarriers,
  press,
  removeRecord,
  swapRecords,
  textOf,
  usePages,
  WAIT,
} from "./_pages.ts";

describe("the overview of the ledger", () => {
  const pages = usePages();
  const text = (selector: string) => textOf(pages.tab.page, selector);

  it("reports an intact chain once the browser has checked every receipt", async () => {
    assert.equal(await pages.open("/"), "Intact");
    assert.match(await text("#verdict-count"), /^(\d+) of \1 receipts checked/);
    assert.match(await text("#server-says"), /^Intact/);
    pages.assertQuiet();
  });

  it("shows and checks receipts as they are sealed", async () => {
    await pages.open("/?kind=all");
    await pages.seal({ id: "while-you-look", action: "look" });
    await pages.tab.page.waitForSelector(`a[href="/receipt/while-you-look"]`, WAIT);
    const row = await eventually(async () => {
      const row = await text("#rows li");
      return /^[✓✕]/.test(row) ? row : undefined;
    });
    assert.match(row, /^✓\s*valid/);
    assert.match(row, /A receipt of the category test \(look: ok\)/);
    assert.equal(await pages.waitForVerdict(), "Intact");
    pages.assertQuiet();
  });

  /** Changes to the raw records on the way, and the verdict that they must cause. */
  const CHANGES: Readonly<Record<string, [RegExp, (exported: string) => string]>> = {
    "a changed field": [
      /^Broken at #5$/,
      (exported) => exported.replace(`"id":"receipt-000004"`, `"id":"receipt-00000x"`),
    ],
    "a removed receipt": [/^Broken at #9$/, (exported) => removeRecord(exported, 9)],
    "two swapped receipts": [/^Broken at #11$/, (exported) => swapRecords(exported, 11, 12)],
    "a removed newest receipt": [/^Broken at #\d+$/, (exported) => removeRecord(exported, -1)],
    "no receipts": [/^Broken at \d+ positions$/, (exported) => changeRecords(exported, () => [])],
    "one receipt in place of all": [
      /^Broken at \d+ positions$/,
      (exported) => changeRecords(exported, (records) => records.map(() => records[0]!)),
    ],
    "pages of another count": [
      /^Broken at #0$/,
      (exported) => exported.replace(/"count":\d+/, `"count":7`),
    ],
    "pages of a total that is smaller": [
      /^Broken at #0$/,
      (exported) => exported.replace(/"total":\d+/, `"total":7`),
    ],
  };
  for (const [name, [verdict, change]] of Object.entries(CHANGES)) {
    it(`reports ${name}, whatever the server reports`, async () => {
      // The genesis, which proves the key, is fetched alone.
      pages.proxy.change = (path, text) =>
        path.startsWith("/api/export") && !path.endsWith("from=0&to=1") ? change(text) : text;
      assert.match(await pages.open("/", pages.proxy.url), verdict);
      assert.match(await text("#server-says"), /^Intact/);
    });
  }

  it("reports another newest hash than the server's", async () => {
    pages.proxy.change = (path, text) =>
      path === "/api/stats"
        ? text.replace(/"last_hash":"\w+"/, `"last_hash":"${"0".repeat(64)}"`)
        : text;
    assert.match(await pages.open("/", pages.proxy.url), /^Broken at #\d+$/);
    assert.match(await text("#verdict-breaks"), /the server’s statistics/);
  });

  it("shows that pages contradict themselves", async () => {
    pages.proxy.change = (path, text) =>
      path.startsWith("/api/export") ? text.replace(/"count":\d+/, `"count":7`) : text;
    await pages.open("/", pages.proxy.url);
    assert.match(await text("#verdict-breaks"), /#0 .* contradicts itself: .* has 7 receipts/);
    assert.equal(await pages.open("/receipt/receipt-000003", pages.proxy.url), "Not valid");
    assert.match(await text(".steps"), /Export\s*failed\s*.* contradicts itself/);
  });

  /** Answers that can't be used, by the beginning of their path, and what the page says of them. */
  const UNUSABLE: Readonly<Record<string, [path: string, answer: string, reason: RegExp]>> = {
    "the records cannot be fetched": ["/api/export", "<h1>Bad gateway</h1>", /else than an export/],
    "the server reports nothing": ["/api/stats", "null", /does not report the number/],
    "the number of receipts is none": [
      "/api/stats",
      `{"total_receipts":-1,"last_hash":""}`,
      /does not report the number/,
    ],
    "a published key is none": [
      "/api/how-to-verify",
      `{"keys":[null]}`,
      /published an invalid key/,
    ],
  };
  for (const [name, [begin, answer, reason]] of Object.entries(UNUSABLE)) {
    it(`stops without a verdict, and says why, while ${name}`, async () => {
      pages.proxy.change = (path, text) => path.startsWith(begin) ? answer : text;
      await pages.tab.page.goto(pages.proxy.url);
      const hasStopped = `document.querySelector("#verdict .big").textContent === "Stopped"`;
      await pages.tab.page.waitForFunction(hasStopped, WAIT);
      assert.match(await text("#verdict"), reason);
      assert.match(await text("#verdict-count"), /^0 of/);
    });
  }

  it("remembers the chain, and reports at the next visit that it is shorter", async () => {
    const { proxy, tab, sealing } = pages;
    assert.equal(await pages.open("/", proxy.url), "Intact");
    const [, size] = /of (\d+)/.exec(await text("#verdict-count"))!;
    const { hash } = await sealing.sealer.sealed("receipt-000048");
    proxy.change = (path, text) =>
      path === "/api/stats"
        ? text.replace(`"total_receipts":${size}`, `"total_receipts":50`)
          .replace(/"last_hash":"\w+"/, `"last_hash":"${hash}"`)
        : text;
    assert.equal(await pages.open("/", proxy.url), "Broken at #50");
    assert.match(await text("#verdict-breaks"), /this browser’s visit of/);
    proxy.change = (_, text) => text;
    await Promise.all([tab.page.waitForNavigation(), press(tab.page, `[data-action="forget"]`)]);
    assert.equal(await pages.waitForVerdict(), "Intact");
  });

  it("checks exported files, whole or in part, and reports where they are broken", async () => {
    const { address, tab } = pages;
    const whole = await (await fetch(`${address}/api/export`)).text();
    const part = await (await fetch(`${address}/api/export?from=10&to=20`)).text();
    const files: [name: string, content: string, report: RegExp][] = [
      ["whole.json", whole, /✓ whole.json: \d+ receipts, #0 to #\d+: all valid/],
      ["part.json", part, /✓ part.json: 10 receipts, #10 to #19: all valid/],
      ["one.json", JSON.stringify(JSON.parse(part).receipts[3]), /✓ one.json: 1 receipt, #13/],
      ["bad.json", part.replace(`"outcome":"ok"`, `"outcome":"no"`), /✕ bad.json: .* broken at 1/],
      ["cut.json", removeRecord(part, 4), /✕ cut.json: .* broken at/],
      ["none.json", "hello", /✕ none.json: not checked. No receipt of this ledger names this file/],
      ["page.html", "<p>", /✓ page.html belongs to the receipt published of .*published it: test/],
    ];
    const details = { file_sha256: hash("sha256", "<p>") };
    await pages.seal({ id: "published", details });
    await pages.open("/");
    for (const [name, content, report] of files) {
      await tab.page.evaluate(`{
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}));
        dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
      }`);
      const reported =
        `::-p-xpath(//*[@id="report"][contains(., "${name}") and not(contains(., "Checking"))])`;
      await tab.page.waitForSelector(reported, WAIT);
      assert.match(await text("#report"), report);
    }
    pages.assertQuiet();
  });

  it("can be read without scripts, and says that nothing was checked", async () => {
    const { tab, address } = pages;
    await tab.page.setJavaScriptEnabled(false);
    await tab.page.goto(`${address}/?kind=all`);
    assert.match(await text("#verdict"), /Not checked yet[^]*Scripts are disabled/);
    assert.match(await text("#rows li"), /^○\s*not checked/);
    pages.assertQuiet();
  });

  it("checks the newest part of a long chain, and the rest on request", async () => {
    const { tab, sealing } = pages;
    await sealing.seal(2100);
    assert.equal(await pages.open("/"), "Partly checked");
    assert.match(await text("#verdict-count"), /^1,000 of 2,\d+ receipts checked/);
    await press(tab.page, `[data-action="all"]`);
    await tab.page.waitForSelector(".verdict.intact", WAIT);
    assert.match(await text("#verdict-count"), /^(2,\d+) of \1 receipts checked/);
    pages.assertQuiet();
  });

  describe("lists", () => {
    const INCIDENT = "INC-0000000000aa";
    before(async () => {
      await pages.seal({
        id: "opened",
        category: "ticket_opened",
        action: "ticket.open",
        subject: INCIDENT,
      });
      await pages.seal({
        id: "healed",
        category: "self_heal",
        outcome: "sealed",
        subject: INCIDENT,
      });
      await pages.seal({ id: "read", category: "tool_call", actor: "key:0000000000000001" });
    });
    const says = () =>
      pages.tab.page.$$eval(
        "#rows li .says > p:first-child",
        (found) => found.map((one) => (one as unknown as { innerText: string }).innerText),
      );

    it("what happened, as sentences; what agents read on demand", async () => {
      await pages.open("/");
      await pages.tab.page.waitForSelector("#rows[data-checked]", WAIT);
      assert.deepEqual(await says(), [
        "It was healthy before anything was done.",
        "A check found a fault; a ticket was opened.",
      ]);
      await Promise.all([
        pages.tab.page.waitForNavigation(),
        press(pages.tab.page, ".kinds a:last-child"),
      ]);
      await pages.tab.page.waitForSelector("#rows[data-checked]", WAIT);
      assert.match((await says())[0]!, /^A key called subject/);
      assert.equal((await pages.tab.page.$$("#rows li.pass")).length, 20);
      pages.assertQuiet();
    });

    it("older receipts page by page, by category and by day", async () => {
      const { page } = pages.tab;
      await pages.open("/?kind=all");
      const first = await page.$eval("#rows li", (one) => one.getAttribute("data-position"));
      await Promise.all([page.waitForNavigation(), press(page, `.pages a[rel="next"]`)]);
      const older = await page.$eval("#rows li", (one) => one.getAttribute("data-position"));
      assert.equal(Number(first) - Number(older), 20);
      await pages.waitForVerdict();
      await Promise.all([
        page.waitForNavigation(),
        press(page, `#categories a[href*="self_heal"]`),
      ]);
      assert.match(await text("#receipts-title"), /Receipts of the category self_heal/);
      await pages.waitForVerdict();
      await Promise.all([
        page.waitForNavigation(),
        page.evaluate(`location.assign(document.querySelector("#days a").getAttribute("href"))`),
      ]);
      assert.match(await text("#receipts-title"), /Everything on 20\d\d-/);
      pages.assertQuiet();
    });

    it("marks a receipt that was changed on the way", async () => {
      pages.proxy.change = (path, text) =>
        path.startsWith("/api/export")
          ? text.replace(`"outcome":"sealed"`, `"outcome":"seal"`)
          : text;
      await pages.open("/", pages.proxy.url);
      await pages.tab.page.waitForSelector("#rows[data-checked]", WAIT);
      assert.match(await text("#rows li.fail"), /✕\s*not valid/);
    });
  });

  describe("of a chain that a superuser has changed", () => {
    it("names the broken positions and the reasons", async () => {
      const { tab, sealing } = pages;
      await tamper(
        sealing,
        `UPDATE receipts SET record =
           convert_to(replace(convert_from(record, 'UTF8'), '"ok"', '"no"'), 'UTF8')
           WHERE position = 3;
         DELETE FROM receipts WHERE position = 20;
         UPDATE receipts SET record = 'no JSON', signature = NULL WHERE position = 30;
         UPDATE receipts SET record =
           convert_to('{"subject":"' || repeat('<b>', 1000000) || '"}', 'UTF8')
           WHERE position = 40`,
      );
      assert.equal(await pages.open("/"), "Partly checked");
      await press(tab.page, `[data-action="all"]`);
      await tab.page.waitForSelector("#verdict-breaks ::-p-text(#40)", WAIT);
      assert.equal(await pages.waitForVerdict(), "Broken at 5 positions");
      const breaks = await text("#verdict-breaks");
      assert.match(
        breaks,
        /#3 The hash is not that of the canonical bytes; The signature does not/,
      );
      assert.match(breaks, /#20 The server did not return it/);
      assert.match(breaks, /#30 .*Not JSON/);
      assert.match(breaks, /#31 prev_hash is not the hash of the entry before/);
      assert.deepEqual(await findBarriers(tab.page), []);
    });

    it("leads to the broken receipts, which are shown as not valid", async () => {
      const { tab, address } = pages;
      assert.equal(await pages.open("/at/3"), "Not valid");
      assert.match(await text(".steps"), /Hash\s*failed/);
      assert.equal(await pages.open("/at/30"), "Not valid");
      assert.equal(await pages.open("/at/40"), "Not valid");
      assert.match(await text("h1"), /This receipt can't be read/);
      assert.match(await text(".fields"), /(<b>)+/);
      assert.ok(await contentWidth(tab.page) <= 1400);
      assert.ok((await tab.page.content()).length < 200_000);
      const missing = await tab.page.goto(`${address}/at/20`);
      assert.equal(missing!.status(), 404);
    });
  });
});

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { Page } from "puppeteer-core";
import type { SealRequest } from "../../../ledger/mod.ts";
import { newPage, type TestPage } from "../../_browser.ts";
import { anyRequest, serveLedger, startSealing, type TestSealing } from "../_ledger.ts";
import { barriers, type OnTheWay, press, startOnTheWay, tamper, textOf } from "./_pages.ts";

const PATIENCE = { timeout: 120_000 };
/** Most bytes that a page loads, compressed, all of it together. */
const MOST_BYTES = 150_000;
const DONE = ".verdict.intact, .verdict.broken, .verdict.part";

describe("the ledger's pages", () => {
  let sealing: TestSealing;
  let server: Awaited<ReturnType<typeof serveLedger>>;
  let way: OnTheWay;
  let tab: TestPage;

  before(async () => {
    sealing = await startSealing();
    server = await serveLedger(sealing.database);
    way = await startOnTheWay(server.address);
    const ids = Array.from({ length: 60 }, (_, n) => `receipt-${String(n).padStart(6, "0")}`);
    for (const id of ids) await sealing.sealer.request(anyRequest({ id }));
    await Promise.all(ids.map((id) => sealing.sealer.sealed(id)));
  });
  after(async () => {
    await way.stop();
    await server.stop();
    await sealing.stop();
  });
  beforeEach(async () => {
    way.change = (_, text) => text;
    tab = await newPage();
  });
  afterEach(() => tab.close());

  async function seal(fields: Partial<SealRequest> & { readonly id: string }): Promise<void> {
    await sealing.sealer.request(anyRequest(fields));
    await sealing.sealer.sealed(fields.id);
  }

  /** Opens a page of the ledger and waits until the browser has made up its mind. */
  async function open(path: string, origin = server.address): Promise<string> {
    await tab.page.goto(origin + path, { waitUntil: "load" });
    return await decided(tab.page);
  }

  /** Nothing failed, nothing broke the policy, and nobody but the ledger was asked. */
  function assertQuiet(): void {
    assert.deepEqual(tab.troubles, []);
    const elsewhere = tab.requests.filter((url) => new URL(url).origin !== server.address);
    assert.deepEqual(elsewhere, []);
  }

  it("say that the chain is intact once this browser has checked every receipt", async () => {
    assert.equal(await open("/"), "Intact");
    assert.match(await textOf(tab.page, "#verdict-count"), /^(\d+) of \1 receipts checked/);
    assert.match(await textOf(tab.page, "#server-says"), /^Intact/);
    assertQuiet();
  });

  it("show new receipts as they are sealed, each checked", async () => {
    await open("/");
    await seal({ id: "while-you-look", subject: "sealed while somebody looks" });
    await tab.page.waitForSelector(`a[href="/receipt/while-you-look"]`, PATIENCE);
    const row = await textOf(tab.page, "#rows tbody tr");
    assert.match(row, /checked here: holds/);
    assert.match(row, /sealed while somebody looks/);
    assert.equal(await decided(tab.page), "Intact");
    assertQuiet();
  });

  it("show each check of a receipt, with what was compared", async () => {
    const { hash } = await sealing.sealer.sealed("receipt-000007");
    assert.equal(await open("/receipt/receipt-000007"), "Every check holds");
    const steps = await textOf(tab.page, ".steps");
    for (
      const name of [
        "Identity",
        "Hash",
        "Canonical form",
        "Signature",
        "Link",
        "Next entry",
        "Merkle log",
      ]
    ) {
      assert.match(steps, new RegExp(`${name}\\s*holds`));
    }
    assert.match(steps, /Bitcoin\s*not yet/);
    assert.ok(steps.includes(hash));
    assertQuiet();
  });

  it("lead from a prefix of an id or a hash, and from a position, to the receipt's own address", async () => {
    const { hash } = await sealing.sealer.sealed("receipt-000007");
    for (const q of ["RECEIPT-000007", hash.slice(0, 12).toUpperCase(), "#7", " receipt-000007 "]) {
      await tab.page.goto(server.address, { waitUntil: "load" });
      await tab.page.type("#q", q);
      await Promise.all([tab.page.waitForNavigation(), tab.page.keyboard.press("Enter")]);
      assert.equal(tab.page.url(), `${server.address}/receipt/receipt-000007`, q);
    }
    await Promise.all([tab.page.waitForNavigation(), press(tab.page, `a[rel="next"]`)]);
    assert.equal(tab.page.url(), `${server.address}/receipt/receipt-000008`);
    assertQuiet();
  });

  it("say 404 of an unknown receipt and 422 of what can't be an id, and go on from there", async () => {
    for (const [path, status] of [["/receipt/nobody-knows-it", 404], ["/receipt/short", 422]]) {
      const answer = await tab.page.goto(`${server.address}${path}`);
      assert.equal(answer!.status(), status);
      assert.ok(await tab.page.$("#q"));
    }
  });

  it("are red where a receipt was changed on the way, while the server says it is verified", async () => {
    way.change = (path, text) =>
      path.startsWith("/api/export") ? text.replace(`"outcome":"ok"`, `"outcome":"OK"`) : text;
    assert.equal(await open("/receipt/receipt-000000", way.url), "It does not hold");
    assert.match(await textOf(tab.page, ".steps"), /Canonical form\s*does not hold/);
    assert.match(await textOf(tab.page, "#checks"), /The server says: ✓ verified/);
  });

  /** Another digit of hex, and of base64, than the one that is there. */
  const other = (digit: string) => digit === "0" ? "1" : "0";

  it("are red where the proof, the root, its signature or the size of the Merkle log is another", async () => {
    const changes: ((text: string) => string)[] = [
      (text) => text.replace(/(?<="hashes":\[")./, other),
      (text) => text.replace(/(?<=checkpoint":"[^"]+?\\n\d+\\n)./, other),
      (text) => text.replace(/(?<=— \S+ .{20})./, other),
      (text) => text.replace(/"tree_size":(\d+)/, (_, n) => `"tree_size":${Number(n) + 1}`),
    ];
    for (const change of changes) {
      way.change = (path, text) => path.startsWith("/api/log/inclusion") ? change(text) : text;
      assert.equal(await open("/receipt/receipt-000007", way.url), "It does not hold");
      assert.match(await textOf(tab.page, ".steps"), /Merkle log\s*does not hold/);
    }
  });

  it("are red where the server gives another receipt, itself valid, than was asked for", async () => {
    way.change = (path, text) => path.startsWith("/receipt/") ? swap(text) : text;
    const swap = (text: string) => text.replace(`data-position="7"`, `data-position="8"`);
    assert.equal(await open("/receipt/receipt-000007", way.url), "It does not hold");
    assert.match(await textOf(tab.page, ".steps"), /Identity\s*does not hold/);
  });

  /** What somebody on the way does to the raw records, and what the page must then say. */
  const changes: Readonly<Record<string, [RegExp, (text: string) => string]>> = {
    "a field was changed": [
      /^Broken at #5$/,
      (text) => text.replace(`"id":"receipt-000005"`, `"id":"receipt-00000x"`),
    ],
    "a receipt was left out": [/^Broken at #9$/, (text) => without(text, 9)],
    "two were swapped": [/^Broken at #11$/, (text) => swapped(text, 11, 12)],
    "the newest one was left out": [/^Broken at #\d+$/, (text) => without(text, -1)],
    "nothing is given": [/^Broken at \d+ positions$/, (text) => edited(text, () => [])],
    "the same page is given for every other": [
      /^Broken at \d+ positions$/,
      (text) => edited(text, (records) => records.map(() => records[0]!)),
    ],
  };
  for (const [what, [title, change]] of Object.entries(changes)) {
    it(`never say that the chain is intact where ${what}`, async () => {
      way.change = (path, text) => path.startsWith("/api/export") ? change(text) : text;
      assert.match(await open("/", way.url), title);
      assert.match(await textOf(tab.page, "#server-says"), /^Intact/);
    });
  }

  it("never say that the chain is intact where the server names another newest hash", async () => {
    way.change = (path, text) =>
      path === "/api/stats"
        ? text.replace(/"last_hash":"\w+"/, `"last_hash":"${"0".repeat(64)}"`)
        : text;
    assert.match(await open("/", way.url), /^Broken at #\d+$/);
    assert.match(
      await textOf(tab.page, "#verdict-breaks"),
      /what the server calls its newest hash/,
    );
  });

  it("say that nothing is known while the records can't be had", async () => {
    way.change = (path, text) => path.startsWith("/api/export") ? "<h1>Bad gateway</h1>" : text;
    await tab.page.goto(way.url);
    const stopped = `document.querySelector("#verdict .big").textContent === "Stopped"`;
    await tab.page.waitForFunction(stopped, PATIENCE);
    assert.match(await textOf(tab.page, "#verdict-count"), /^0 of/);
  });

  it("remember what they saw, and report a chain that is shorter at the next visit", async () => {
    assert.equal(await open("/", way.url), "Intact");
    const [, size] = /of (\d+)/.exec(await textOf(tab.page, "#verdict-count"))!;
    const { hash } = await sealing.sealer.sealed("receipt-000049");
    way.change = (path, text) =>
      path === "/api/stats"
        ? text.replace(`"total_receipts":${size}`, `"total_receipts":50`)
          .replace(/"last_hash":"\w+"/, `"last_hash":"${hash}"`)
        : text;
    assert.equal(await open("/", way.url), "Broken at #50");
    assert.match(await textOf(tab.page, "#verdict-breaks"), /this browser saw on/);
    way.change = (_, text) => text;
    await Promise.all([tab.page.waitForNavigation(), press(tab.page, `[data-action="forget"]`)]);
    assert.equal(await decided(tab.page), "Intact");
  });

  it("check an exported file, whole or in part, and say where it is broken", async () => {
    const whole = await (await fetch(`${server.address}/api/export`)).text();
    const part = await (await fetch(`${server.address}/api/export?from=10&to=20`)).text();
    const lines = edited(part, (records) => records);
    const cases: [name: string, text: string, expected: RegExp][] = [
      ["whole.json", whole, /✓ whole.json: \d+ receipts, #0 to #\d+: each of them holds/],
      ["part.json", part, /✓ part.json: 10 receipts, #10 to #19: each of them holds/],
      ["one.json", JSON.stringify(JSON.parse(part).receipts[3]), /✓ one.json: 1 receipt, #13/],
      ["bad.json", part.replace(`"outcome":"ok"`, `"outcome":"no"`), /✕ bad.json: .* broken at 1/],
      ["cut.json", without(lines, 4), /✕ cut.json: .* broken at/],
      ["none.json", "hello", /✕ none.json: not checked/],
    ];
    await open("/");
    for (const [name, text, expected] of cases) {
      await tab.page.evaluate(`{
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
        dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
      }`);
      await tab.page.waitForSelector(
        `::-p-xpath(//*[@id="report"][contains(., "${name}:")])`,
        PATIENCE,
      );
      assert.match(await textOf(tab.page, "#report"), expected);
    }
    assertQuiet();
  });

  it("can be read without scripts, and then say that nothing was checked", async () => {
    await tab.page.setJavaScriptEnabled(false);
    await tab.page.goto(server.address);
    assert.match(await textOf(tab.page, "#verdict"), /Not checked yet[^]*Scripts are off/);
    assert.ok((await tab.page.$$("#rows tbody tr")).length > 0);
    await tab.page.goto(`${server.address}/receipt/receipt-000007`);
    assert.match(await textOf(tab.page, "#checks"), /Not checked[^]*Scripts are off/);
    assert.match(await textOf(tab.page, ".fields"), /receipt-000007/);
    await tab.page.goto(`${server.address}/find?q=receipt-000007`);
    assert.equal(tab.page.url(), `${server.address}/receipt/receipt-000007`);
    assertQuiet();
  });

  it("say of what a key's holder had sealed that it is their word, and not of the platform's own", async () => {
    await seal({ id: "somebodys-word", category: "api_seal", action: "approval.approved" });
    await seal({ id: "platforms-word", category: "approval", action: "approval.approved" });
    const page = async (id: string) =>
      await (await fetch(`${server.address}/receipt/${id}`)).text();
    assert.match(await page("somebodys-word"), /Sealed for somebody: .* in words of their own/);
    assert.doesNotMatch(await page("platforms-word"), /Sealed for somebody/);
  });

  it("show hostile text as text", async () => {
    const hostile = `</title><script>globalThis.harmed = 1</script><img src=x onerror="harmed=1">` +
      `"'\`\u202egnp.exe\u2066\u200b\u{e0041}`;
    await seal({
      id: "hostile",
      category: hostile.slice(0, 60),
      actor: hostile,
      subject: hostile,
      action: hostile,
      outcome: `${"Z\u0351\u0351\u0351".repeat(50)} javascript:harmed=1`,
      details: { [hostile]: hostile, "__proto__": [hostile], constructor: 1 },
    });
    await seal({
      id: "large",
      subject: "M".repeat(100_000) + hostile,
      details: { a: "x".repeat(100_000) },
    });
    for (const path of ["/", "/receipt/hostile", "/receipt/large", "/find?q=%3Cscript%3E%00%FF"]) {
      await tab.page.goto(server.address + path, { waitUntil: "load" });
      if (!path.startsWith("/find")) {
        assert.match(await decided(tab.page), /Intact|Every check holds/);
      }
      assert.equal(await tab.page.evaluate(() => "harmed" in globalThis), false, path);
      assert.equal((await tab.page.$$("main script, main img, title ~ title")).length, 0, path);
      assert.ok(await contentWidth(tab.page) <= 1400, `${path} is wider than the window`);
    }
    await open("/receipt/hostile");
    assert.match(await textOf(tab.page, ".fields"), /<script>globalThis\.harmed = 1<\/script>/);
    assert.match(await textOf(tab.page, "h1"), /U\+202E[^]*U\+2066\s*U\+200B\s*U\+E0041/);
    assert.doesNotMatch(await tab.page.content(), /[\u202a-\u202e\u2066-\u2069]/);
    assert.equal(await textOf(tab.page, ".fields dd").then((text) => text.trim()), "hostile");
  });

  for (
    const path of ["/", "/receipt/receipt-000007", "/receipt/hostile", "/receipt/nobody-knows"]
  ) {
    it(`have no barrier that axe can find at ${path}, light and dark, wide and narrow`, async () => {
      for (const scheme of ["light", "dark"]) {
        for (const [width, height] of [[1400, 900], [320, 640]] as const) {
          await tab.page.setViewport({ width, height });
          await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
          await tab.page.goto(server.address + path, { waitUntil: "load" });
          if (!path.endsWith("nobody-knows")) await decided(tab.page);
          assert.deepEqual(await barriers(tab.page), [], `${scheme}, ${width} px`);
          assert.ok(
            await contentWidth(tab.page) <= width,
            `${path} scrolls sideways at ${width} px`,
          );
        }
      }
    });
  }

  it("load less than the limit, and files that never change under their names", async () => {
    await open("/");
    const html = await (await fetch(server.address)).text();
    const files = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, name]) => name!);
    assert.deepEqual(files.map((name) => name.replace(/-\w+\./, ".")).sort(), [
      "/assets/app.js",
      "/assets/icon.svg",
      "/assets/page.css",
      "/assets/worker.js",
    ]);
    const loaded = tab.requests.map((url) => new URL(url).pathname);
    assert.deepEqual(
      loaded.filter((name) => !/^\/(api\/.*)?$/.test(name) && !files.includes(name)),
      [],
    );
    let bytes = 0;
    for (const name of ["/", ...files]) {
      const answer = await fetch(server.address + name);
      bytes += gzipSync(Buffer.from(await answer.arrayBuffer())).length;
      const control = answer.headers.get("cache-control");
      if (name !== "/") assert.match(control!, /max-age=31536000, immutable/);
      const again = await fetch(server.address + name, {
        headers: { "if-none-match": answer.headers.get("etag")! },
      });
      assert.equal(again.status, 304, name);
    }
    assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
  });

  it("are bound by a policy without exceptions", async () => {
    const answer = await fetch(server.address);
    const policy = answer.headers.get("content-security-policy")!;
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:|blob:/);
    assert.doesNotMatch(
      await answer.text(),
      /<script(?![^>]* src=)|<style|<[a-z][^>]* (on\w+|style)=/,
    );
  });

  it("can be used by keyboard alone", async () => {
    await open("/");
    await tab.page.keyboard.press("Tab");
    assert.equal(await focused(tab.page), "To the content");
    await tab.page.keyboard.press("Enter");
    for (let n = 0; n < 40 && !/^receipt-|^large$/.test(await focused(tab.page)); n++) {
      await tab.page.keyboard.press("Tab");
    }
    await Promise.all([tab.page.waitForNavigation(), tab.page.keyboard.press("Enter")]);
    assert.match(tab.page.url(), /\/receipt\//);
  });

  it("check the newest part of a long chain, say that the rest is not checked, and then check that", async () => {
    await sealing.seal(2100);
    assert.equal(await open("/"), "Not all checked");
    assert.match(await textOf(tab.page, "#verdict-count"), /^1,000 of 2,\d+ receipts checked/);
    await press(tab.page, `[data-action="all"]`);
    await tab.page.waitForSelector(".verdict.intact", PATIENCE);
    assert.match(await textOf(tab.page, "#verdict-count"), /^(2,\d+) of \1 receipts checked/);
    assertQuiet();
  });

  describe("of a stored chain that a superuser has changed", () => {
    it("name the position, and why", async () => {
      await tamper(
        sealing.database,
        `UPDATE receipts SET record = convert_to(replace(convert_from(record, 'UTF8'), '"ok"', '"no"'), 'UTF8')
           WHERE position = 3`,
        `DELETE FROM receipts WHERE position = 20`,
        `UPDATE receipts SET record = 'no JSON', signature = NULL WHERE position = 30`,
        `UPDATE receipts SET record = convert_to('{"subject":"' || repeat('<b>', 1000000) || '"}', 'UTF8')
           WHERE position = 40`,
      );
      assert.equal(await open("/"), "Not all checked");
      await press(tab.page, `[data-action="all"]`);
      await tab.page.waitForSelector("#verdict-breaks ::-p-text(#40)", PATIENCE);
      assert.equal(await decided(tab.page), "Broken at 4 positions");
      const breaks = await textOf(tab.page, "#verdict-breaks");
      assert.match(
        breaks,
        /#3 The hash is not that of the canonical bytes; The signature does not/,
      );
      assert.match(breaks, /#20 The server did not give it/);
      assert.match(breaks, /#30 .*Not JSON/);
      assert.deepEqual(await barriers(tab.page), []);
    });

    it("show the receipt for what it is", async () => {
      assert.equal(await open("/at/3"), "It does not hold");
      assert.match(await textOf(tab.page, ".steps"), /Hash\s*does not hold/);
      assert.equal(await open("/at/30"), "It does not hold");
      assert.equal(await open("/at/40"), "It does not hold");
      assert.match(await textOf(tab.page, "h1"), /^(<b>)+/);
      assert.ok(await contentWidth(tab.page) <= 1400);
      assert.ok((await tab.page.content()).length < 200_000);
      const answer = await tab.page.goto(`${server.address}/at/20`);
      assert.equal(answer!.status(), 404);
    });
  });
});

/** The verdict's title, once there is one. */
async function decided(page: Page): Promise<string> {
  await page.waitForSelector(DONE, PATIENCE);
  return await textOf(page, ".verdict .big");
}

const focused = (page: Page) =>
  page.evaluate("document.activeElement.innerText ?? ''") as Promise<string>;

const contentWidth = (page: Page) =>
  page.evaluate("document.documentElement.scrollWidth") as Promise<number>;

/** Changes the records of an export, each kept as its text. */
function edited(page: string, change: (records: string[]) => string[]): string {
  const start = page.indexOf(`"receipts":[`) + `"receipts":[`.length;
  const records = page.slice(start, -2).split(/(?<="signs":"canonical_bytes"\}\}),/);
  return `${page.slice(0, start)}${change(records).join(",")}]}`;
}

/** Leaves a record out. @param position in the page; negative: from its end */
function without(page: string, position: number): string {
  return edited(
    page,
    (records) => records.filter((_, n) => n !== (position + records.length) % records.length),
  );
}

function swapped(page: string, one: number, other: number): string {
  return edited(page, (records) => records.with(one, records[other]!).with(other, records[one]!));
}

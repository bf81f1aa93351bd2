import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { Page } from "puppeteer-core";
import { asSuperuser } from "../../_superuser.ts";
import { contentWidth, findBarriers, textOf, usePages } from "./_pages.ts";
import { isLookedAt } from "../../_size.ts";

/** Maximum bytes of a page with all its files, compressed. */
const MAX_BYTES = 150_000;

const HOSTILE = `</title><script>globalThis.harmed = 1</script><img src=x onerror="harmed=1">` +
  `"'\`\u202egnp.exe\u2066\u200b\u{e0041}`;

describe("the ledger's pages", () => {
  const pages = usePages();
  const text = (selector: string) => textOf(pages.tab.page, selector);

  it("show hostile text as text", async () => {
    const { tab, address } = pages;
    const category = HOSTILE.slice(0, 60);
    await asSuperuser(pages.sealing.app).execute(
      "INSERT INTO seal_categories (role, category) VALUES ('sealoop_worker', $1)",
      [category],
    );
    await pages.seal({
      id: "hostile",
      category,
      actor: HOSTILE,
      subject: HOSTILE,
      action: HOSTILE,
      outcome: `${"Z\u0351\u0351\u0351".repeat(50)} javascript:harmed=1`,
      details: { [HOSTILE]: HOSTILE, "__proto__": [HOSTILE], constructor: 1 },
    });
    await pages.seal({
      id: "large",
      subject: "M".repeat(100_000) + HOSTILE,
      details: { a: "x".repeat(100_000) },
    });
    for (
      const path of [
        "/?kind=all",
        "/?about=key:0000000000000001",
        "/receipt/hostile",
        "/receipt/large",
        "/find?q=%3Cscript%3E%00%FF",
      ]
    ) {
      await tab.page.goto(address + path, { waitUntil: "load" });
      if (!path.startsWith("/find")) {
        assert.match(await pages.waitForVerdict(), /Intact|All checks passed/);
      }
      assert.equal(await tab.page.evaluate(() => "harmed" in globalThis), false, path);
      assert.equal((await tab.page.$$("main script, main img, title ~ title")).length, 0, path);
      assert.ok(await contentWidth(tab.page) <= 1400, `${path} is wider than the window`);
    }
    await pages.open("/receipt/hostile");
    assert.match(await text(".fields"), /<script>globalThis\.harmed = 1<\/script>/);
    assert.match(await text("h1"), /U\+202E[^]*U\+2066\s*U\+200B\s*U\+E0041/);
    assert.doesNotMatch(await tab.page.content(), /[\u202a-\u202e\u2066-\u2069]/);
    assert.equal(await text(".fields dd"), "hostile");
  });

  for (
    const path of [
      "/?kind=all",
      "/receipt/receipt-000007",
      "/receipt/hostile",
      "/receipt/nobody-knows",
    ]
  ) {
    it(`have no accessibility problem at ${path}, light and dark, wide and narrow`, async () => {
      const { tab: { page }, address } = pages;
      const sizes = [[1400, 900], [768, 900], [360, 640], [320, 640]] as const;
      for (const [row, scheme] of ["light", "dark"].entries()) {
        for (const [column, [width, height]] of sizes.entries()) {
          if (!isLookedAt(row, column)) continue;
          await page.setViewport({ width, height });
          await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
          await page.goto(address + path, { waitUntil: "load" });
          if (!path.endsWith("nobody-knows")) await pages.waitForVerdict();
          assert.deepEqual(await findBarriers(page), [], `${scheme}, ${width} px`);
          const isNarrow = await contentWidth(page) <= width;
          assert.ok(isNarrow, `${path} scrolls sideways at ${width} px`);
        }
      }
    });
  }

  it("load few bytes, in files that never change", async () => {
    const { tab, address } = pages;
    await pages.open("/");
    const html = await (await fetch(address)).text();
    const files = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, name]) => name!);
    assert.deepEqual(files.map((name) => name.replace(/-\w+\./, ".")).sort(), [
      "/assets/app.js",
      "/assets/icon.svg",
      "/assets/page.css",
      "/assets/worker.js",
    ]);
    const loaded = tab.requests.map((url) => new URL(url).pathname);
    const others = loaded.filter((name) => !/^\/(api\/.*)?$/.test(name) && !files.includes(name));
    assert.deepEqual(others, []);
    let bytes = 0;
    for (const name of ["/", ...files]) {
      const response = await fetch(address + name);
      bytes += gzipSync(Buffer.from(await response.arrayBuffer())).length;
      const control = response.headers.get("cache-control");
      if (name !== "/") assert.match(control!, /max-age=31536000, immutable/);
      const again = await fetch(address + name, {
        headers: { "if-none-match": response.headers.get("etag")! },
      });
      assert.equal(again.status, 304, name);
    }
    assert.ok(bytes < MAX_BYTES, `${bytes} bytes`);
  });

  it("have a content security policy without exceptions", async () => {
    const response = await fetch(pages.address);
    const policy = response.headers.get("content-security-policy")!;
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:|blob:/);
    assert.doesNotMatch(
      await response.text(),
      /<script(?![^>]* src=)|<style|<[a-z][^>]* (on\w+|style)=/,
    );
  });

  it("can be used with the keyboard alone", async () => {
    const { page } = pages.tab;
    await pages.open("/?kind=all");
    await page.keyboard.press("Tab");
    assert.equal(await focusedText(page), "Skip to content");
    await page.keyboard.press("Enter");
    for (let n = 0; n < 60 && !/^#\d/.test(await focusedText(page)); n++) {
      await page.keyboard.press("Tab");
    }
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    assert.match(page.url(), /\/receipt\//);
  });
});

const focusedText = (page: Page) =>
  page.evaluate("document.activeElement.innerText ?? ''") as Promise<string>;

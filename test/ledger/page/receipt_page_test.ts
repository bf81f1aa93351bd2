import assert from "node:assert/strict";
import { press, textOf, usePages } from "./_pages.ts";

describe("the page of a receipt", () => {
  const pages = usePages();
  const text = (selector: string) => textOf(pages.tab.page, selector);

  it("shows each check, with the compared values", async () => {
    const { hash } = await pages.sealing.sealer.sealed("receipt-000007");
    assert.equal(await pages.open("/receipt/receipt-000007"), "All checks passed");
    await press(pages.tab.page, "#proofs summary");
    const steps = await text(".steps");
    const names = ["Identity", "Hash", "Canonical form", "Signature", "Link", "Next entry"];
    for (const name of [...names, "Merkle log"]) {
      assert.match(steps, new RegExp(`${name}\\s*passed`));
    }
    assert.match(steps, /Bitcoin\s*pending/);
    assert.ok(steps.includes(hash));
    pages.assertQuiet();
  });

  it("is found by a prefix of an id or a hash, and by a position", async () => {
    const { tab, address, sealing } = pages;
    const { hash } = await sealing.sealer.sealed("receipt-000007");
    for (const q of ["RECEIPT-000007", hash.slice(0, 12).toUpperCase(), "#8", " receipt-000007 "]) {
      await tab.page.goto(address, { waitUntil: "load" });
      await tab.page.type("#q", q);
      await Promise.all([tab.page.waitForNavigation(), tab.page.keyboard.press("Enter")]);
      assert.equal(tab.page.url(), `${address}/receipt/receipt-000007`, q);
    }
    await Promise.all([tab.page.waitForNavigation(), press(tab.page, `a[rel="next"]`)]);
    assert.equal(tab.page.url(), `${address}/receipt/receipt-000008`);
    pages.assertQuiet();
  });

  it("has status 404 for an unknown receipt and 422 for an invalid id, with a search form", async () => {
    const { tab, address } = pages;
    for (
      const [path, status] of [["/find?q=ffffffffffff", 404], ["/find?q=Shop%20Berlin", 404], [
        "/receipt/nobody-knows-it",
        404,
      ], ["/receipt/short", 422]]
    ) {
      const response = await tab.page.goto(`${address}${path}`);
      assert.equal(response!.status(), status);
      assert.ok(await tab.page.$("#q"));
    }
  });

  it("leads from what was typed to what it is, and says what is private", async () => {
    const { address, sealing } = pages;
    const { hash } = await sealing.sealer.sealed("receipt-000007");
    const places: Readonly<Record<string, string | RegExp>> = {
      "inc-0000000000AA": "/incidents/INC-0000000000aa",
      "APR-0000000000aa": "/approvals/APR-0000000000aa",
      "CMD-0000000000aa": "/about/CMD-0000000000aa",
      "key:0000000000000001": "/about/key%3A0000000000000001",
      "Ledger genesis": "/?category=ledger_genesis#receipts",
      "2026-07-01": "/?kind=all&day=2026-07-01#receipts",
      [hash.slice(0, 10)]: "/receipt/receipt-000007",
      shop: /No public field of a receipt is .*shop.* by design/,
      "Berlin shop": /Operators find an incident by its service in the console/,
      "voter:0000000000000001": /There is no receipt/,
    };
    for (const [typed, place] of Object.entries(places)) {
      const url = `${address}/find?q=${encodeURIComponent(typed)}`;
      const response = await fetch(url, { redirect: "manual" });
      if (typeof place === "string") assert.equal(response.headers.get("location"), place, typed);
      else assert.match((await response.text()).replace(/<[^>]+>/g, ""), place, typed);
    }
  });

  it("fails if the receipt was changed on the way, though the server says it is verified", async () => {
    const { proxy } = pages;
    proxy.change = (path, text) =>
      path.startsWith("/api/export") ? text.replace(`"outcome":"ok"`, `"outcome":"OK"`) : text;
    assert.equal(await pages.open("/receipt/receipt-000000", proxy.url), "Not valid");
    assert.match(await text(".steps"), /Canonical form\s*failed[^]*outcome differs[^]*OK[^]*ok/);
    assert.match(
      await text("#checks-says"),
      /Canonical form: .*outcome differs[^]*ask the operator/,
    );
    assert.match(await text("#checks"), /The server says: ✓ verified/);
  });

  /** Replaces a digit of hex or base64. */
  const replaceDigit = (digit: string) => digit === "0" ? "1" : "0";
  const LOG_CHANGES: Readonly<Record<string, (answer: string) => string>> = {
    "proof": (answer) => answer.replace(/(?<="hashes":\[")./, replaceDigit),
    "root": (answer) => answer.replace(/(?<=checkpoint":"[^"]+?\\n\d+\\n)./, replaceDigit),
    "signature": (answer) => answer.replace(/(?<=— \S+ .{20})./, replaceDigit),
    "size": (answer) =>
      answer.replace(/"tree_size":(\d+)/, (_, n) => `"tree_size":${Number(n) + 1}`),
  };
  for (const [name, change] of Object.entries(LOG_CHANGES)) {
    it(`fails if the ${name} of the Merkle log was changed`, async () => {
      const { proxy } = pages;
      proxy.change = (path, text) => path.startsWith("/api/log/inclusion") ? change(text) : text;
      assert.equal(await pages.open("/receipt/receipt-000007", proxy.url), "Not valid");
      assert.match(await text(".steps"), /Merkle log\s*failed/);
    });
  }

  it("fails if the server returns another receipt, though that is valid", async () => {
    const { proxy } = pages;
    proxy.change = (path, text) =>
      path.startsWith("/receipt/") ? text.replace(`data-position="8"`, `data-position="9"`) : text;
    assert.equal(await pages.open("/receipt/receipt-000007", proxy.url), "Not valid");
    assert.match(await text(".steps"), /Identity\s*failed/);
  });

  it("can be read without scripts, and says that nothing was checked", async () => {
    const { tab, address } = pages;
    await tab.page.setJavaScriptEnabled(false);
    await tab.page.goto(`${address}/receipt/receipt-000007`);
    assert.match(await text("#checks"), /Not checked[^]*Scripts are disabled/);
    assert.match(await text(".fields"), /receipt-000007/);
    await tab.page.goto(`${address}/find?q=receipt-000007`);
    assert.equal(tab.page.url(), `${address}/receipt/receipt-000007`);
    pages.assertQuiet();
  });

  it("says of content written by a key holder that it is not the platform's", async () => {
    await pages.seal({ id: "key-holders", category: "api_seal", action: "approval.approved" });
    await pages.seal({ id: "platforms", category: "approval", action: "approval.approved" });
    const page = async (id: string) => await (await fetch(`${pages.address}/receipt/${id}`)).text();
    assert.match(await page("key-holders"), /Sealed for a key holder: the actor wrote this/);
    assert.doesNotMatch(await page("platforms"), /Sealed for a key holder/);
  });
});

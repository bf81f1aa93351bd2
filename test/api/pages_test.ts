import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "puppeteer-core";
import { ledgerOperations } from "../../ledger/mod.ts";
import { operations } from "../../operations/mod.ts";
import { newPage, type TestPage } from "../_browser.ts";
import { serveLedger } from "../ledger/_ledger.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const doorsOf = (all: readonly { readonly rest?: Readonly<Record<string, string>> }[]) =>
  all.flatMap(({ rest = {} }) => Object.entries(rest));
const PATIENCE = { timeout: 120_000 };

describe("documentation pages", () => {
  let gateway: TestGateway;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;
  let tab: TestPage;

  before(async () => {
    gateway = await startGateway();
    ledger = await serveLedger(gateway);
  });
  after(async () => {
    await ledger.stop();
    await gateway.stop();
  });
  beforeEach(async () => {
    tab = await newPage();
  });
  afterEach(() => tab.close());

  const open = (path: string, server = gateway.url) =>
    tab.page.goto(`${server}${path}`, { waitUntil: "networkidle0" });

  /** Nothing failed, nothing broke the policy, and nobody but the server was asked for anything. */
  function assertQuiet(server = gateway.url): void {
    assert.deepEqual(tab.troubles, []);
    const elsewhere = tab.requests.filter((url) => !/^(data|blob):/.test(url))
      .filter((url) => new URL(url).origin !== server);
    assert.deepEqual(elsewhere, []);
  }

  const servers = {
    "of the gateway": { url: () => gateway.url, doors: doorsOf(operations) },
    "of the public ledger": { url: () => ledger.address, doors: doorsOf(ledgerOperations) },
  };
  for (const [whose, { url, doors }] of Object.entries(servers)) {
    it(`/docs ${whose} shows every operation, in quiet`, async () => {
      await open("/docs", url());
      await tab.page.waitForSelector(".opblock", PATIENCE);
      const shown = await texts(tab.page, ".opblock-summary-path");
      const paths = doors.map(([, door]) => door.split(" ")[1]!);
      assert.deepEqual(shown.toSorted(), paths.toSorted());
      assertQuiet(url());
    });

    it(`/redoc ${whose} shows every operation, in quiet`, async () => {
      await open("/redoc", url());
      await tab.page.waitForSelector('[data-section-id*="/operation/"]', PATIENCE);
      const shown = await tab.page.$$eval(
        '[data-section-id*="/operation/"]',
        (all) => all.map((section) => section.getAttribute("data-section-id")!.split("/").at(-1)!),
      );
      assert.deepEqual(shown.toSorted(), doors.map(([id]) => id).toSorted());
      assertQuiet(url());
    });
  }

  it("/docs draws a padlock where a key is needed, and nowhere else", async () => {
    await open("/docs");
    await tab.page.waitForSelector(".opblock .authorization__btn", PATIENCE);
    const locked = await tab.page.$$eval(
      ".opblock:has(.authorization__btn)",
      (all) => all.map(({ id }) => id),
    );
    const needing = operations.filter(({ access }) => access !== "public")
      .flatMap(({ group, rest = {} }) =>
        Object.keys(rest).map((id) => `operations-${group}-${id}`)
      );
    assert.deepEqual(locked.toSorted(), needing.toSorted());
    const unlocked = await tab.page.$$(".opblock .authorization__btn .unlocked");
    assert.equal(unlocked.length, needing.length, "no key was given yet");
  });

  it("/docs takes a key in its dialog, and tries operations out with it", async () => {
    const key = await gateway.key({ tier: "admin" });
    await open("/docs");
    await tab.page.locator(".btn.authorize").click();
    await tab.page.locator(".auth-container input").fill(key);
    await tab.page.locator(".auth-btn-wrapper .authorize").click();
    await tab.page.locator(".auth-btn-wrapper .btn-done").click();

    const { body } = await tryOut("#operations-itsm-itsm_incidents");
    assert.match(body, /tickets/);
    const { sent } = await tryOut("#operations-core-health");
    assert.ok(sent.includes(key), "a key is also sent where none is needed");
    assertQuiet();
  });

  /** Runs an operation that needs no input from its block in the page. */
  async function tryOut(block: string): Promise<{ body: string; sent: string }> {
    await tab.page.locator(`${block} .opblock-summary-control`).click();
    await tab.page.locator(`${block} .try-out__btn`).click();
    await tab.page.locator(`${block} .execute`).click();
    const answer = `${block} .live-responses-table tbody`;
    const status = await tab.page.waitForSelector(`${answer} .response-col_status`, PATIENCE);
    assert.match(await status!.evaluate((cell) => cell.textContent ?? ""), /^\s*200/);
    const [body] = await texts(tab.page, `${answer} .response-col_description`);
    const [sent] = await texts(tab.page, `${block} .curl-command`);
    return { body: body ?? "", sent: sent ?? "" };
  }

  for (const path of ["/docs", "/redoc"]) {
    it(`${path} may not run what a page could be made to hold`, async () => {
      const response = await fetch(gateway.url + path);
      const policy = response.headers.get("content-security-policy") ?? "";
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /script-src 'self'/);
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
      await tab.page.goto(gateway.url + path, { waitUntil: "domcontentloaded" });
      const broken = () => tab.troubles.filter((trouble) => trouble.includes("policy: script"));
      await tab.page.evaluate(`{
        const script = document.createElement("script");
        script.textContent = "globalThis.wasRun = true";
        document.body.append(script);
      }`);
      assert.equal(await tab.page.evaluate("globalThis.wasRun"), undefined);
      while (broken().length === 0) await sleep(20); // it is told a moment later
      assert.equal(broken().length, 1, tab.troubles.join("\n"));
    });
  }
});

function texts(page: Page, selector: string): Promise<string[]> {
  return page.$$eval(
    selector,
    (all) => all.map((element) => (element.textContent ?? "").replaceAll("​", "").trim()),
  );
}

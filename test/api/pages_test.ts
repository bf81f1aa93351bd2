import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { ledgerOperations } from "../../ledger/mod.ts";
import type { Platform } from "../../calls/mod.ts";
import { type Operation, splitByContract } from "../../contract/mod.ts";
import { GROUPS } from "../../contract/domain/mod.ts";
import { operations } from "../../operations/mod.ts";
import { newPage, type TestPage } from "../_browser.ts";
import { serveLedger } from "../ledger/_ledger.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const { own } = splitByContract(operations);
const routesOf = (all: readonly { readonly rest?: Readonly<Record<string, string>> }[]) =>
  all.flatMap(({ rest = {} }) => Object.entries(rest));
const hasRoute = ({ rest = {} }: (typeof own)[number]) => Object.keys(rest).length > 0;
const WAIT = { timeout: 120_000 };

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

  /** Checks that nothing failed or violated the policy, and that nothing was loaded from elsewhere. */
  function assertClean(server = gateway.url): void {
    assert.deepEqual(tab.problems, []);
    const elsewhere = tab.requests.filter((url) => !/^(data|blob):/.test(url))
      .filter((url) => new URL(url).origin !== server);
    assert.deepEqual(elsewhere, []);
  }

  const servers = {
    "of the gateway": { url: () => gateway.url, routes: routesOf(own) },
    "of the public ledger": { url: () => ledger.address, routes: routesOf(ledgerOperations) },
  };
  for (const [whose, { url, routes }] of Object.entries(servers)) {
    it(`/docs ${whose} shows every operation, without errors`, async () => {
      await open("/docs", url());
      const shown = await listBlocks();
      const paths = routes.map(([, route]) => route.split(" ")[1]!);
      assert.deepEqual(shown.map(({ path }) => path).toSorted(), paths.toSorted());
      assertClean(url());
    });

    it(`/redoc ${whose} shows every operation, without errors`, async () => {
      await open("/redoc", url());
      await tab.page.waitForSelector('[data-section-id*="/operation/"]', WAIT);
      const shown = await tab.page.$$eval(
        '[data-section-id*="/operation/"]',
        (all) => all.map((section) => section.getAttribute("data-section-id")!.split("/").at(-1)!),
      );
      assert.deepEqual(shown.toSorted(), routes.map(([id]) => id).toSorted());
      assertClean(url());
    });
  }

  it("/docs draws a padlock only where a key or token is needed", async () => {
    await open("/docs");
    const locked = (await listBlocks()).filter(({ padlock }) => padlock !== "none");
    const isProtected = ({ access, governance }: Operation<Platform>) =>
      access !== "public" && (access !== "device" || governance?.signedByDevice); // a code or a token is in the input
    const protectedIds = own.filter(isProtected)
      .flatMap(({ group, rest = {} }) =>
        Object.keys(rest).map((id) => `operations-${group}-${id}`)
      );
    assert.deepEqual(locked.map(({ id }) => id).toSorted(), protectedIds.toSorted());
    assert.ok(locked.every(({ padlock }) => padlock === "open"), "no key was given yet");
  });

  it("/docs takes a key in its dialog, and sends it with operations", async () => {
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
    assertClean();
  });

  it("/docs lists all groups where the browser's search finds them, and filters by any words", async () => {
    await open("/docs");
    const groups = new Set(own.filter(hasRoute).map(({ group }) => group));
    await tab.page.waitForSelector("#groups a", WAIT);
    assert.deepEqual(new Set(await texts(tab.page, "#groups a")), groups);
    await tab.page.locator(".operation-filter-input").fill("dependencies reach");
    const sections = "document.querySelectorAll('.opblock-tag-section').length";
    await tab.page.waitForFunction(`${sections} === 1`, WAIT);
    const shown = await listBlocks();
    assert.ok(shown.length > 0 && shown.every(({ id }) => id.startsWith("operations-cmdb-")));
    assertClean();
  });

  it("/redoc finds operations by words, and describes each group", async () => {
    await open("/redoc");
    await tab.page.locator('[role="search"] input').fill("postmortem");
    await tab.page.waitForSelector('[role="search"] [role="menuitem"]', WAIT);
    const [text] = await texts(tab.page, "#redoc");
    for (const group of new Set(own.filter(hasRoute).map(({ group }) => group))) {
      assert.ok(text!.includes(GROUPS[group]!), group);
    }
    assertClean();
  });

  for (const [path, part] of [["/docs", ".swagger-ui"], ["/redoc", "body"]] as const) {
    it(`${path} is dark where the reader prefers that`, async () => {
      const shade = async (value: string) => {
        await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
        await open(path);
        await tab.page.waitForSelector(part, WAIT);
        const color = await tab.page.evaluate(`(() => {
          const [body, root] = [document.body, document.documentElement]
            .map((one) => getComputedStyle(one).backgroundColor);
          return body === "rgba(0, 0, 0, 0)" ? root : body;
        })()`) as string;
        return color.match(/\d+/g)!.slice(0, 3).map(Number).reduce((sum, one) => sum + one);
      };
      assert.ok(await shade("dark") < 200);
    });
  }

  /** Lists the operations of the page. */
  async function listBlocks(): Promise<{ id: string; path: string; padlock: string }[]> {
    await tab.page.waitForSelector(".opblock", WAIT);
    const blocks = await scroll(`
      for (const block of document.querySelectorAll(".opblock")) {
        const button = block.querySelector(".authorization__btn");
        seen.set(block.id, {
          id: block.id,
          path: block.querySelector(".opblock-summary-path").textContent.replaceAll("\u200b", ""),
          padlock: !button ? "none" : button.querySelector(".unlocked") ? "open" : "closed",
        });
      }`);
    return blocks as { id: string; path: string; padlock: string }[];
  }

  /** Scrolls through the page, as Swagger UI draws only what is in sight. @param look runs in the page at each stop */
  async function scroll(look: string): Promise<unknown[]> {
    return await tab.page.evaluate(`(async () => {
      const seen = new Map();
      for (let y = 0; y <= document.documentElement.scrollHeight; y += innerHeight / 2) {
        scrollTo(0, y);
        for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
        ${look}
      }
      return [...seen.values()];
    })()`) as unknown[];
  }

  /** Runs an operation without input in its block of the page. */
  async function tryOut(block: string): Promise<{ body: string; sent: string }> {
    await scroll(`if (document.querySelector("${block}")) break;`);
    await tab.page.locator(`${block} .opblock-summary-control`).click();
    await tab.page.locator(`${block} .try-out__btn`).click();
    await tab.page.locator(`${block} .execute`).click();
    const answer = `${block} .live-responses-table tbody`;
    const status = await tab.page.waitForSelector(`${answer} .response-col_status`, WAIT);
    assert.match(await status!.evaluate((cell) => cell.textContent ?? ""), /^\s*200/);
    const [body] = await texts(tab.page, `${answer} .response-col_description`);
    const [sent] = await texts(tab.page, `${block} .curl-command`);
    return { body: body ?? "", sent: sent ?? "" };
  }

  for (const path of ["/docs", "/redoc"]) {
    it(`${path} runs no script that is injected`, async () => {
      const response = await fetch(gateway.url + path);
      const policy = response.headers.get("content-security-policy") ?? "";
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /script-src 'self'/);
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
      await tab.page.goto(gateway.url + path, { waitUntil: "domcontentloaded" });
      const directive = await tab.page.evaluate(`new Promise((resolve) => {
        addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
        const script = document.createElement("script");
        script.textContent = "globalThis.wasRun = true; dispatchEvent(new Event('securitypolicyviolation'))";
        document.body.append(script);
      })`);
      assert.equal(directive, "script-src-elem");
      assert.equal(await tab.page.evaluate("globalThis.wasRun"), undefined);
    });
  }
});

function texts(page: Page, selector: string): Promise<string[]> {
  return page.$$eval(
    selector,
    (all) => all.map((element) => (element.textContent ?? "").replaceAll("​", "").trim()),
  );
}

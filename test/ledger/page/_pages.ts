/** The ledger's pages in a real browser, with a proxy that can change the server's responses. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "puppeteer-core";
import { getPublishedCheckpoint, type SealRequest } from "../../../ledger/mod.ts";
import { newPage, type TestPage } from "../../_browser.ts";
import { anyRequest, serveLedger, startSealing, type TestSealing } from "../_ledger.ts";

/** A busy machine takes long. */
export const WAIT = { timeout: 120_000 };
const RECEIPTS = 60;
/** A break is shown when it is found, and others may follow while the page checks on. */
const DECIDED = ":is(.verdict.intact, .verdict.broken, .verdict.part):not([data-checking])";

/** A ledger of 60 receipts, and a tab for each test. */
export interface Pages {
  readonly sealing: TestSealing;
  /** Address of the ledger, without a slash at the end. */
  readonly address: string;
  readonly proxy: Proxy;
  readonly tab: TestPage;
  seal(fields: Partial<SealRequest> & { readonly id: string }): Promise<void>;
  /** Opens a page, and waits until the browser has checked it. @returns the verdict */
  open(path: string, origin?: string): Promise<string>;
  /** Waits until the browser has checked the page. @returns the verdict */
  waitForVerdict(): Promise<string>;
  /** Asserts that nothing failed, nothing broke the policy, and nothing but the ledger was requested. */
  assertQuiet(): void;
}

/** Starts the ledger before the tests of a suite, and opens a tab before each. */
export function usePages(): Pages {
  let sealing: TestSealing;
  let server: Awaited<ReturnType<typeof serveLedger>>;
  let proxy: Proxy;
  let tab: TestPage;
  before(async () => {
    sealing = await startSealing();
    server = await serveLedger(sealing.database);
    proxy = await startProxy(server.address);
    await sealing.seal(RECEIPTS - 1); // and the genesis
    const hasCheckpoint = async () =>
      (await getPublishedCheckpoint(sealing.app))?.size === RECEIPTS;
    while (!await hasCheckpoint()) await sleep(20);
  });
  after(async () => {
    await proxy?.stop();
    await server?.stop();
    await sealing?.stop();
  });
  beforeEach(async () => {
    proxy.change = (_, text) => text;
    tab = await newPage();
  });
  afterEach(() => tab.close());

  const waitForVerdict = async () => {
    await tab.page.waitForSelector(DECIDED, WAIT);
    return await textOf(tab.page, ".verdict .big");
  };
  return {
    get sealing() {
      return sealing;
    },
    get address() {
      return server.address;
    },
    get proxy() {
      return proxy;
    },
    get tab() {
      return tab;
    },
    async seal(fields) {
      await sealing.sealer.request(anyRequest(fields));
      await sealing.sealer.sealed(fields.id);
    },
    async open(path, origin = server.address) {
      await tab.page.goto(origin + path, { waitUntil: "load" });
      return await waitForVerdict();
    },
    waitForVerdict,
    assertQuiet() {
      assert.deepEqual(tab.problems, []);
      const elsewhere = tab.requests.filter((url) => new URL(url).origin !== server.address);
      assert.deepEqual(elsewhere, []);
    },
  };
}

/** A proxy between browser and ledger. */
interface Proxy {
  /** Without a slash at the end. */
  readonly url: string;
  /** Changes the text of responses. */
  change: (path: string, text: string) => string;
  stop(): Promise<void>;
}

const NOT_FORWARDED = /^(content-(length|encoding)|transfer-encoding|connection|keep-alive|etag)$/;

async function startProxy(ledger: string): Promise<Proxy> {
  const server = createServer(async (req, res) => {
    const accept = req.headers.accept ?? "*/*";
    const response = await fetch(ledger + req.url, { headers: { accept }, redirect: "manual" });
    const text = proxy.change(req.url!, await response.text());
    for (const [name, value] of response.headers) {
      if (!NOT_FORWARDED.test(name)) res.setHeader(name, value);
    }
    res.writeHead(response.status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: Proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    change: (_, text) => text,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: string[]; readonly failureSummary: string }[];
  }[];
}

/** Finds accessibility problems with axe, each as `rule: element`. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate("axe.run(document)") as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`)
  );
}

/** Reads the visible text of an element. */
export const textOf = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText.trim());

/** Clicks an element once it exists, by script: the mouse could miss an element that is drawn again. */
export async function press(page: Page, selector: string): Promise<void> {
  const pressed = `(() => {
    const found = document.querySelector(${JSON.stringify(selector)});
    found?.click();
    return found !== null;
  })()`;
  while (!await page.evaluate(pressed)) await sleep(20);
}

/** Measures the width of the content in pixels. */
export const contentWidth = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth") as Promise<number>;

/** Changes the records of an export, each kept as its text. */
export function changeRecords(
  exported: string,
  change: (records: string[]) => string[],
): string {
  const start = exported.indexOf(`"receipts":[`) + `"receipts":[`.length;
  const records = exported.slice(start, -2).split(/(?<="signs":"canonical_bytes"\}\}),/);
  return `${exported.slice(0, start)}${change(records).join(",")}]}`;
}

/** Removes a record of an export. @param index from the end if negative */
export function removeRecord(exported: string, index: number): string {
  return changeRecords(exported, (records) => records.toSpliced(index, 1));
}

/** Swaps two records of an export. */
export function swapRecords(exported: string, one: number, other: number): string {
  return changeRecords(
    exported,
    (records) => records.with(one, records[other]!).with(other, records[one]!),
  );
}

/** What tests of the ledger's pages need: someone on the way, a superuser, and a judge of who can use a page. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Page } from "puppeteer-core";
import type { TestDatabase } from "../../_servers.ts";

/** Someone between the browser and the ledger, who changes answers. */
export interface OnTheWay {
  /** Without a slash at the end. */
  readonly url: string;
  /** Changes the text of answers; by default nothing. */
  change: (path: string, text: string) => string;
  stop(): Promise<void>;
}

/** Puts someone between. @param ledger address that answers come from */
export async function startOnTheWay(ledger: string): Promise<OnTheWay> {
  const server = createServer(async (req, res) => {
    const accept = req.headers.accept ?? "*/*";
    const answer = await fetch(ledger + req.url, { headers: { accept }, redirect: "manual" });
    const text = way.change(req.url!, await answer.text());
    for (const [name, value] of answer.headers) {
      if (
        !/^(content-(length|encoding)|transfer-encoding|connection|keep-alive|etag)$/.test(name)
      ) {
        res.setHeader(name, value);
      }
    }
    res.writeHead(answer.status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const way: OnTheWay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    change: (_, text) => text,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return way;
}

/** Changes what is stored as only a superuser can, behind the platform's back. */
export async function tamper(
  { superuserUrl }: TestDatabase,
  ...statements: readonly string[]
): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query("SET session_replication_role = replica"); // no triggers
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds that not everybody can use, as `rule: element`. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate("axe.run(document)") as Found;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`)
  );
}

interface Found {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: string[]; readonly failureSummary: string }[];
  }[];
}

/** Text of an element, as it can be read. */
export const textOf = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText.trim());

/**
 * Clicks an element once it is there, in one step and not by the mouse: it may be drawn anew, or elsewhere, between the
 * aim and the click.
 */
export async function press(page: Page, selector: string): Promise<void> {
  const pressed = `(() => {
    const found = document.querySelector(${JSON.stringify(selector)});
    found?.click();
    return found !== null;
  })()`;
  while (!await page.evaluate(pressed)) await sleep(20);
}

/**
 * The console in a real browser: how long its pages take to show what they are about, from the first byte that is asked for,
 * beside a page of one line from a bare server in the same browser.
 *
 * The list of incidents has 10,000 of them. The page of an approval is looked at as a slow phone sees it (a quarter of this
 * processor, 1.6 Mbit/s, 150 ms), with nothing in its cache, until it can be decided on.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { CDPSession, Page } from "puppeteer-core";
import { approvalCalls } from "../test/api/_approvals.ts";
import { openPeople } from "../test/api/_people.ts";
import { openConsole } from "../test/console/_console.ts";
import { asSuperuser } from "../test/_superuser.ts";
import { type Figure, measureInTurns } from "./_figures.ts";
import { rounds } from "./_work.ts";

const ROUNDS = rounds(9);
const INCIDENTS = 10_000;
const ADD_INCIDENTS = `
  INSERT INTO tickets (id, title, description, severity, status, phase, service, category, requested_by, opened_at)
  SELECT 'INC-' || lpad(n::text, 12, '0'), 'shop fails its http check', repeat('It gives no answer. ', 20),
    (ARRAY['critical', 'high', 'medium', 'low'])[n % 4 + 1], CASE WHEN n % 2 = 0 THEN 'open' ELSE 'resolved' END,
    'ticketed', 'service-' || n % 5, 'network', 'test', now() - n * interval '1 minute'
  FROM generate_series(1, ${INCIDENTS}) n`;
const EMPTY = `<!doctype html><html lang="en"><title>Empty</title><p id="there">There</p></html>`;
const PHONE = {
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
  slowdown: 4,
};

/** Measures both pages. */
export async function* run(): AsyncGenerator<Figure> {
  const people = await openPeople();
  const tab = await openConsole(people);
  const empty = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end(EMPTY)
  );
  await new Promise<void>((resolve) => empty.listen(0, "localhost", resolve));
  const emptyUrl = `http://localhost:${(empty.address() as AddressInfo).port}/`;
  const { page, devtools } = tab;
  const gateway = people.platform.urls.gateway;
  const baselineLabel = "a page of one line";
  const shownIn = (url: string, selector: string) => () => showMs(page, url, selector);
  try {
    await asSuperuser(people.store).execute(ADD_INCIDENTS);
    await asSuperuser(people.store).execute("ANALYZE tickets");
    const { approval_id } = await approvalCalls(() => people).ask();
    await tab.addAuthenticator();
    await tab.signIn();
    await tab.open(`/console/you?to=${approval_id}`, /Have two/);
    await tab.press("Enrol a passkey");
    await tab.shows(/Approve with your passkey/);

    const list = await measureInTurns(ROUNDS, {
      baseline: shownIn(emptyUrl, "#there"),
      platform: shownIn(`${gateway}/console/incidents`, "a[href^='/console/incidents/INC-']"),
    });
    const label = `/console/incidents with ${INCIDENTS.toLocaleString("en")}, content, ms`;
    yield { label, ...list, baselineLabel, goal: "≤ 300 ms" };

    await slowDown(devtools);
    const approval = await measureInTurns(ROUNDS, {
      baseline: shownIn(emptyUrl, "#there"),
      platform: shownIn(
        `${gateway}/console/approvals/${approval_id}`,
        ".decide button:not(:disabled)",
      ),
    });
    yield {
      label: "/console/approvals/APR-… on a slow phone, usable, ms",
      ...approval,
      baselineLabel,
      goal: "≤ 1,000 ms",
    };
  } finally {
    await tab.close();
    await people.stop();
    empty.close();
  }
}

async function slowDown(devtools: CDPSession): Promise<void> {
  const { slowdown, ...conditions } = PHONE;
  await devtools.send("Network.enable");
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
  await devtools.send("Network.emulateNetworkConditions", { offline: false, ...conditions });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
}

/** Opens a page. @returns milliseconds until it has an element */
async function showMs(page: Page, url: string, selector: string): Promise<number> {
  const look = `(function look() {
    if (document.querySelector(${JSON.stringify(selector)})) globalThis.shownMs = performance.now();
    else requestAnimationFrame(look);
  })()`;
  const { identifier } = await page.evaluateOnNewDocument(look);
  try {
    await page.goto(url);
    await page.waitForFunction("globalThis.shownMs !== undefined");
    return Number(await page.evaluate("globalThis.shownMs"));
  } finally {
    await page.removeScriptToEvaluateOnNewDocument(identifier);
  }
}

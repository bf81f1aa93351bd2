import assert from "node:assert/strict";
import { approvalCalls } from "../api/_approvals.ts";
import { openPeople, type People } from "../api/_people.ts";
import { freePort } from "../_run.ts";
import { eventually } from "../_time.ts";
import { startProcess, type TestProcess } from "../processes/_process.ts";
import { type ConsoleTab, openConsole } from "./_console.ts";

describe("the console, while its gateway is dead", () => {
  /** A platform whose own gateway goes on: what happens meanwhile happens there. */
  let people: People;
  let address: string;
  let gateway: TestProcess;
  const tabs: ConsoleTab[] = [];

  before(async () => {
    people = await openPeople();
    address = `http://localhost:${await freePort()}`;
    gateway = await startGateway();
  });
  after(async () => {
    for (const tab of tabs) await tab.close();
    await gateway?.kill();
    await people?.stop();
  });
  const { ask } = approvalCalls(() => people);

  async function startGateway(): Promise<TestProcess> {
    const { database, place: temporal, config } = people.loop;
    const started = await startProcess("gateway", {
      database,
      temporal,
      folder: config.dataDir,
      settings: {
        SEALOOP_GATEWAY_PORT: new URL(address).port,
        SEALOOP_GATEWAY_URL: address,
        SEALOOP_LIMIT_CONSOLE: "1000000",
      },
    });
    await started.line(/^ready$/);
    return started;
  }

  /** Opens a tab on the gateway that is killed, with the session of the first one. */
  async function openTab(): Promise<ConsoleTab> {
    const { platform } = people;
    const urls = { ...platform.urls, gateway: address };
    const tab = await openConsole({ ...people, platform: { ...platform, urls } });
    const [first] = tabs;
    tabs.push(tab);
    if (first) await tab.page.setCookie(...await first.page.cookies());
    else await tab.signIn("ann", address);
    return tab;
  }

  const textOf = (tab: ConsoleTab) =>
    tab.page.evaluate("document.body.innerText") as Promise<string>;

  it("says so truly, and once the gateway is back each page is as one that was loaded then", async () => {
    const { approval_id } = await ask({ description: "Drop the old sessions" });
    const opened = await people.call("POST", "/v1/itsm/tickets", "program", {
      title: "The archive is full",
    });
    const { ticket_id } = opened.body;
    const pages = [
      ["/console", /Drop the old sessions/],
      [`/console/approvals/${approval_id}`, /Waits for a person/],
      [`/console/incidents/${ticket_id}`, /Post-mortem/],
      ["/console/incidents", /The archive is full/],
      ["/console/grants", /What may run without asking/],
      ["/console/governance", /By rule/],
      ["/console/setup", /0 of 5 steps[^]*Parts/],
      ["/console/you", /Passkeys/],
    ] as const;
    const followed: ConsoleTab[] = [];
    for (const [path, text] of pages) {
      const tab = await openTab();
      await tab.open(path, text);
      await tab.shows(/\blive\b/);
      followed.push(tab);
    }

    const inbox = followed[0]!;
    const before = Date.now();
    await gateway.kill();
    for (const tab of followed) await tab.shows(/not live\s+\d+ s ago/);
    await inbox.page.evaluate("globalThis.then = Date.now");
    const passed = (ms: number) => inbox.page.evaluate(`Date.now = () => then() + ${ms}`);
    await passed(10_000); // as if they had
    await inbox.shows(/\b[1-9]\d s ago/);
    await people.vote(approval_id, "deny", "bob");
    await people.call("POST", `/v1/itsm/tickets/${ticket_id}/close`, "program", {
      resolution: "It was emptied",
    });
    const { approval_id: other } = await ask({ description: "Rotate the keys" });
    assert.match(await textOf(inbox), /Drop the old sessions/, "it shows what it knew");

    await passed(70_000);
    const [, since] = /offline since (\S+(?: [AP]M)?)/.exec(await inbox.shows(/offline since \S/))!;
    const [earliest, latest] = await inbox.page.evaluate(
      (times) =>
        times.map((ms) => new Date(ms).toLocaleTimeString(undefined, { timeStyle: "short" })),
      [before - 15_000, Date.now()],
    );
    assert.ok([earliest, latest].some((time) => time!.replace(/\s/g, " ") === since), since);
    await inbox.page.evaluate("Date.now = globalThis.then");

    gateway = await startGateway();
    for (const [index, tab] of followed.entries()) {
      await tab.shows(/^(?![^]*not live)[^]*\blive\b/);
      const fresh = await openTab();
      const [path] = pages[index]!;
      await fresh.open(path, /\blive\b/);
      await eventually(async () => {
        const [shown, loaded] = await Promise.all([textOf(tab), textOf(fresh)]);
        return shown === loaded && !/Loading/.test(shown) ? true : undefined;
      }).catch(async (cause) => {
        const [shown, loaded] = [await textOf(tab), await textOf(fresh)];
        const missing = (all: string, of: string) =>
          of.split("\n").filter((line) => !all.split("\n").includes(line)).join("\n");
        throw new Error(
          `${path} has: ${missing(loaded, shown)}\nOne that was loaded now: ${
            missing(shown, loaded)
          }`,
          { cause },
        );
      });
      await tabs.pop()!.close(); // a person has so many streams at once, and no more
    }
    assert.match(await textOf(inbox), /Rotate the keys/);
    assert.doesNotMatch(await textOf(inbox), /Drop the old sessions/);
    assert.match(await textOf(followed[1]!), /Denied/);
    assert.match(await textOf(followed[2]!), /It was emptied/);
    await people.vote(other, "deny", "bob");
  });
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { CDPSession } from "puppeteer-core";
import { setGovernance } from "../_governance.ts";
import { newPage, type TestPage } from "../_browser.ts";
import { isLookedAt } from "../_size.ts";
import { eventually } from "../_time.ts";
import { approvalCalls } from "../api/_approvals.ts";
import { openPeople, type People } from "../api/_people.ts";
import { signInLink } from "../api/_sign_in.ts";

const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

describe("the console", () => {
  let people: People;
  let tab: TestPage;
  let devtools: CDPSession;
  before(async () => {
    people = await openPeople();
    tab = await newPage();
    devtools = await tab.page.createCDPSession();
    await devtools.send("WebAuthn.enable");
  });
  after(async () => {
    await tab?.close();
    await people?.stop();
  });
  const { ask, info } = approvalCalls(() => people);
  const url = (path: string) => people.platform.urls.gateway + path;

  /** Opens a page, and waits until it shows a text. */
  async function open(path: string, text: RegExp): Promise<void> {
    await tab.page.goto(url(path));
    await shows(text);
  }

  async function shows(text: RegExp): Promise<string> {
    return await eventually(async () => {
      const shown = String(await tab.page.evaluate("document.body.innerText").catch(() => ""));
      return text.test(shown) ? shown : undefined;
    });
  }

  const press = (name: string) => tab.page.locator(`::-p-aria(${name})`).click();

  /** Puts an authenticator into the browser, whose person is there and verified. @returns its id */
  async function addAuthenticator(): Promise<string> {
    const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return authenticatorId;
  }

  async function signIn(): Promise<void> {
    await tab.page.goto("about:blank");
    await open(`/console/sign-in#${await signInLink(people, "ann")}`, /Go on only if you asked/);
    await press("Sign in by this link");
    await shows(/waits? for|Nothing waits/);
  }

  /** Returns what hinders people with assistive technology. */
  async function barriers(): Promise<string[]> {
    await tab.page.evaluate(AXE);
    return await tab.page.evaluate(async () => {
      // deno-lint-ignore no-explicit-any -- a script of another project, in the page
      const { violations } = await (globalThis as any).axe.run();
      return violations.map((one: { id: string; nodes: { html: string }[] }) =>
        `${one.id}: ${one.nodes[0]?.html}`
      );
    });
  }

  it("asks people to sign in, and keeps no secret in the address", async () => {
    await open("/console", /npm run console/);
    await signIn();
    assert.equal(await tab.page.evaluate("location.hash"), "");
    assert.equal(await tab.page.evaluate("document.cookie"), "", "scripts can't read it");
    await tab.page.goto("about:blank");
    await open(`/console/sign-in#${"slp_link_".padEnd(52, "x")}`, /Go on only if you asked/);
    await press("Sign in by this link");
    await shows(/was used, has expired, or is none/);
  });

  it("lets a person approve by a passkey, knowing what and why", async () => {
    const authenticatorId = await addAuthenticator();
    const verify = (isUserVerified: boolean) =>
      devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    await signIn();
    const { approval_id } = await ask({ description: "Drop the old sessions" });
    await shows(/1 thing waits for people/);
    await press("Drop the old sessions");
    const text = await shows(/Enrol a passkey to approve/);
    assert.match(text, /"command": "drop"/);
    assert.match(text, /A program asks before it acts/);
    await press("Enrol a passkey to approve");
    await shows(/Have two/);
    await press("Enrol a passkey");
    await shows(/Approve with your passkey/);
    await verify(false);
    await press("Approve with your passkey");
    await shows(/Nothing was signed/);
    assert.equal(
      (await info(approval_id)).status,
      "pending",
      "whoever holds the device is not enough",
    );
    await verify(true);
    await press("Approve with your passkey");
    await shows(/Approved by ann/);
    const refused = tab.problems.filter((problem) => problem.includes("policy"));
    assert.deepEqual(refused, [], "the pages load nothing that their policy refuses");
    assert.equal((await info(approval_id)).status, "approved");
  });

  it("lets a person deny by a click, and reopen", async () => {
    await signIn();
    const { approval_id } = await ask();
    await open(`/console/approvals/${approval_id}`, /Deny/);
    await press("Deny");
    await shows(/Denied/);
    await press("Reopen");
    await shows(/Waits for a person/);
    assert.equal((await info(approval_id)).status, "pending");
    await press("Deny");
    await shows(/Denied/);
  });

  it("says when another person has decided meanwhile", async () => {
    await signIn();
    const { approval_id } = await ask();
    await open(`/console/approvals/${approval_id}`, /Deny/);
    await people.vote(approval_id, "approve", "bob");
    await shows(/Approved by bob/);
  });

  it("shows an incident, and lets a person take it, hand it back and resolve it", async () => {
    await signIn();
    const title = "Website, API and wiki are all unreachable";
    const opened = await people.call("POST", "/v1/itsm/tickets", "program", {
      title,
      description: "Since nine",
      severity: "critical",
    });
    const { ticket_id } = opened.body;
    await open("/console/incidents", /are all unreachable/);
    await press(title);
    await shows(/Nobody has acknowledged it/);
    assert.match(await shows(/Severity\s+critical/), /Timeline/);
    assert.doesNotMatch(await shows(/Post-mortem/), /\| ---|\]\(http/, "no marks of Markdown");
    await press("Take");
    await shows(/ann has it: the platform does nothing/);
    await press("Hand back");
    await shows(/ann has seen it/);
    await tab.page.locator("#note").fill("The router was unplugged");
    await press("Resolve");
    await shows(/Resolved.*[^]*The router was unplugged/);
    const { body } = await people.call("GET", `/v1/itsm/tickets/${ticket_id}`, "program");
    assert.equal(body.status, "resolved");
  });

  it("asks for the passkey where a rule leaves a person's own act to people", async () => {
    await signIn();
    const { body: { ticket_id } } = await people.call("POST", "/v1/itsm/tickets", "program", {
      title: "The disk of the archive is full",
    });
    await setGovernance(people.store, {
      rules: [{ name: "closing", when: { tools: ["tickets.close"] }, then: "needs_approval" }],
    });
    const status = async () =>
      (await people.call("GET", `/v1/itsm/tickets/${ticket_id}`, "program")).body.status;
    await open(`/console/incidents/${ticket_id}`, /Nobody has acknowledged it/);
    await tab.page.locator("#note").fill("It was emptied");
    await press("Resolve");
    assert.match(
      await shows(/Your passkey decides about this call/),
      /"resolution": "It was emptied"/,
    );
    assert.deepEqual(await barriers(), []);
    await press("Leave it");
    await shows(/you have not signed it/);
    assert.equal(await status(), "open");
    await press("Resolve");
    await press("Sign with your passkey");
    await shows(/Resolved.*[^]*It was emptied/);
    assert.equal(await status(), "resolved");
    await setGovernance(people.store, {});
  });

  it("lets a person grant an act for a while, and revoke that by a click", async () => {
    await signIn();
    const webhook = { url: "https://hooks.example.com/tickets", events: ["ticket.opened"] };
    const held = await people.call("POST", "/v1/itsm/webhooks", "program", webhook);
    const { approval_id } = held.body.governance;
    await open(`/console/approvals/${approval_id}`, /Grant this for a while/);
    await press("Grant this for a while");
    await shows(/Let this run without asking/);
    await press("Show what you sign");
    assert.match(await shows(/lets run/), /at most\s+10 times, all of them together/);
    await press("Grant with your passkey");
    const text = await shows(/in force · used 0 of 10 times/);
    const id = /GRN-[0-9a-f]{12}/.exec(text)![0];
    await press(`Revoke ${id}`);
    await shows(/revoked by ann/);
    await people.vote(approval_id, "deny", "bob");
  });

  it("lets a person deny, and offer other arguments instead, which somebody else approves", async () => {
    await signIn();
    await setGovernance(people.store, {
      rules: [{ name: "asks", when: { tools: ["tickets.create"] }, then: "needs_approval" }],
    });
    const title = "Look after the archive";
    const held = await people.call("POST", "/v1/itsm/tickets", "program", {
      title,
      severity: "critical",
    });
    const { approval_id } = held.body.governance;
    await open(
      `/console/approvals/${approval_id}`,
      /Nothing that the platform does: it has to be undone by hand/,
    );
    assert.match(await shows(/How it did before/), /It was not done before/);
    await press("Deny, and offer something else instead");
    await tab.page.locator("textarea").fill(JSON.stringify({ title, severity: "low" }));
    assert.deepEqual(await barriers(), []);
    await press("Deny, and offer this");
    await shows(/was offered instead/);
    const { offered } = await info(approval_id);
    await open(`/console/approvals/${offered}`, /It is offered instead of APR-/);
    assert.match(await shows(/"severity": "low"/), /asked by\s+ann/);
    await people.vote(offered, "approve", "bob");
    await shows(/What came of it[^]*The call: done/);
    await setGovernance(people.store, {});
  });

  it("shows acts that are equal but for their targets together, and decides about them by one gesture", async () => {
    await signIn();
    const restart = (service: string, command = "restart") =>
      ask({ description: `Restart ${service}`, action: { command, service } });
    const asked = await Promise.all(["one", "two", "three", "four"].map((name) => restart(name)));
    const other = await restart("five", "kill");
    await open("/console", /and 3 more that ask for the same/);
    assert.equal((await tab.page.$$("#approvals ~ .cards > li")).length, 2);
    await tab.page.locator("#approvals ~ .cards > li > a").click();
    const text = await shows(/4 ask for the same/);
    assert.match(text, /"command": "restart"/);
    assert.doesNotMatch(text, /five/);
    const kept = asked.find(({ action }) => action.service === "three")!;
    await tab.page.focus(`::-p-aria([name="three"][role="checkbox"])`);
    await tab.page.keyboard.press("Space");
    await shows(/Approve 3 with your passkey/);
    const late = await restart("six");
    await shows(/1 more waits since, and would stay/);
    await people.vote(asked[0].approval_id, "deny", "bob");
    await press("Approve 2 with your passkey");
    await shows(/2 of 2 are decided: approved/);
    const statuses = [];
    for (const { approval_id } of [...asked, late, other]) {
      statuses.push((await info(approval_id)).status);
    }
    assert.deepEqual(statuses.toSorted(), [
      "approved",
      "approved",
      "denied",
      "pending",
      "pending",
      "pending",
    ]);
    assert.equal((await info(kept.approval_id)).status, "pending");
    await press("Show the list anew");
    await tab.page.focus(`::-p-aria([name="three"][role="checkbox"])`);
    await tab.page.keyboard.press("Space");
    await press("Deny 2");
    await shows(/2 of 2 are decided: denied/);
    await people.vote(other.approval_id, "deny", "bob");
    await open("/console", /No approval waits/);
  });

  it("is where browsers are led from the gateway's address, and programs are not", async () => {
    const get = (headers: Record<string, string>) =>
      fetch(url("/"), { headers, redirect: "manual" });
    const browser = await get({ accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    assert.deepEqual([browser.status, browser.headers.get("location")], [303, "/console"]);
    for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }]) {
      const program = await get(headers as Record<string, string>);
      assert.match(await program.text(), /"name":"sealoop"/);
    }
  });

  it("has nothing private in its HTML, and runs no script of others", async () => {
    const description = `<img src=x onerror="document.title='stolen'"><script>alert(1)</script>`;
    const { approval_id } = await ask({ description, action: { text: description } });
    const htmlOf = async (id: string) =>
      (await (await fetch(url(`/console/approvals/${id}`))).text()).replaceAll(id, "ID");
    assert.equal(await htmlOf(approval_id), await htmlOf("APR-5b1e09c77a42"), "as of none");
    assert.doesNotMatch(await htmlOf("%22%3E%3Cb%20onerror=1"), /onerror/);
    await open(`/console/approvals/${approval_id}`, /<img src=x/);
    assert.doesNotMatch(await tab.page.title(), /stolen/);
    const { headers } = await fetch(url("/console"));
    const policy = headers.get("content-security-policy")!;
    for (const part of ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]) {
      assert.ok(policy.includes(part), part);
    }
    await people.vote(approval_id, "deny", "bob");
  });

  for (
    const [path, limit] of [
      ["/console/approvals/APR-5b1e09c77a42", 25],
      ["/console/setup", 25],
      ["/console/governance", 25],
      ["/console", 60],
      ["/console/incidents/INC-5b1e09c77a42", 60],
    ] as const
  ) {
    it(`is small: at most ${limit} KiB at ${path}`, async () => {
      const html = await (await fetch(url(path))).text();
      const loaded = [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)];
      assert.equal(loaded.length, 3, "a script, a style, an icon");
      const files = await Promise.all(loaded.map(async ([, file]) => {
        const response = await fetch(url(file!));
        assert.equal(response.status, 200);
        return gzipSync(Buffer.from(await response.arrayBuffer())).length;
      }));
      const size = files.reduce((sum, one) => sum + one, gzipSync(html).length);
      assert.ok(size <= limit * 1024, `${size} bytes`);
    });
  }

  for (const [row, scheme] of ["light", "dark"].entries()) {
    it(`has no barriers, and fits, ${scheme}`, async () => {
      await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      const { approval_id } = await ask({ description: "A".repeat(300) });
      const alike = await Promise.all(
        ["B", "C"].map((name) => ask({ action: { command: scheme, service: name.repeat(100) } })),
      );
      const { group } = alike[0];
      const { body: ticket } = await people.call("POST", "/v1/itsm/tickets", "program", {
        title: "B".repeat(100),
      });
      await signIn();
      const pages = [
        ["/console", /To decide/],
        ["/console/incidents", /Incidents/],
        ["/console/you", /Passkeys/],
        [`/console/approvals?group=${group}`, /2 ask for the same/],
        [`/console/grants?approval=${approval_id}`, /What may run without asking/],
        [`/console/approvals/${approval_id}`, /Exactly what is decided/],
        [`/console/incidents/${ticket.ticket_id}`, /Post-mortem/],
      ] as const;
      for (const [column, width] of [360, 768, 1400].entries()) {
        if (!isLookedAt(row, column)) continue;
        await tab.page.setViewport({ width, height: 800 });
        for (const [path, text] of pages) {
          await open(path, text);
          assert.deepEqual(await barriers(), [], `${path} at ${width}`);
          const overflow = Number(
            await tab.page.evaluate(
              "document.documentElement.scrollWidth - innerWidth",
            ),
          );
          assert.ok(overflow <= 0, `${path} is ${overflow} px too wide at ${width}`);
        }
      }
    });
  }
});

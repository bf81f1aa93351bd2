import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assertHarmless, HOSTILE, HOSTILE_TEXT } from "../_hostile.ts";
import { setGovernance } from "../_governance.ts";
import { approvalCalls } from "../api/_approvals.ts";
import { openPeople, type People } from "../api/_people.ts";
import { signInLink } from "../api/_sign_in.ts";
import { type ConsoleTab, openConsole } from "./_console.ts";

/** Part of a hostile text that a page shows, wherever it was cut off. */
const SHOWN = /<img src=x onerror=|stolen/;
/** As long as a name of a passkey may be. */
const PASSKEY_NAME = `${HOSTILE[0]}${HOSTILE[2]}`;

describe("what others write, on every page of the console", () => {
  let people: People;
  let tab: ConsoleTab;
  /** Ids of the keys of people whose names are hostile. */
  let keyIds: readonly string[];
  const tickets: string[] = [];
  const approvals: string[] = [];
  let group = "";

  before(async () => {
    people = await openPeople();
    const { ask } = approvalCalls(() => people);
    const by = (key: string) => ({ "x-api-key": key });
    const issued = await Promise.all(
      HOSTILE.slice(0, 3).map(async (principal) => {
        const fields = { tenant: "platform", tier: "partner", principal, may_approve: true };
        const { body } = await people.call("POST", "/v1/keys/generate", "admin", fields);
        return body as { readonly api_key: string; readonly key_id: string };
      }),
    );
    keyIds = issued.map(({ key_id }) => key_id);
    const [ann, ben] = issued.map(({ api_key }) => api_key) as [string, string];
    for (const text of HOSTILE) {
      const fields = { title: text, description: HOSTILE_TEXT, severity: "critical" };
      const { body } = await people.call("POST", "/v1/itsm/tickets", undefined, fields, by(ann));
      tickets.push(body.ticket_id);
      const action = { command: text, [text]: HOSTILE_TEXT, list: HOSTILE };
      const asked = await ask({ description: HOSTILE_TEXT, action });
      approvals.push(asked.approval_id);
    }
    const [acked, closed] = tickets as [string, string];
    await people.call("POST", `/v1/itsm/tickets/${acked}/take`, undefined, {}, by(ben));
    const resolution = { resolution: HOSTILE_TEXT.slice(0, 1_000) };
    await people.call("POST", `/v1/itsm/tickets/${closed}/close`, undefined, resolution, by(ben));
    const reason = { reason: HOSTILE_TEXT.slice(0, 900) };
    const denied = await people.call(
      "POST",
      `/v1/approvals/${approvals.pop()}/deny`,
      undefined,
      reason,
      by(ben),
    );
    assert.equal(denied.status, 200, JSON.stringify(denied.body));
    approvals.unshift(denied.body.approval_id);
    const alike = [];
    for (const service of HOSTILE) {
      alike.push(await ask({ description: HOSTILE_TEXT, action: { command: "restart", service } }));
    }
    group = alike[0].group;
    const flag = { value: true, reason: HOSTILE_TEXT.slice(0, 200) };
    await people.call("POST", "/v1/admin/flags/pause_sweeps", "admin", flag);
    const { dataDir } = people.loop.config;
    await writeFile(join(dataDir, "sealoop.comms.yaml"), JSON.stringify({ [HOSTILE[0]!]: 1 }));

    tab = await openConsole(people);
    await tab.signIn("admin");
  });
  after(async () => {
    await tab?.close();
    await people?.stop();
  });

  /** Opens a page, and fails where a text on it is more than text. */
  async function opensHarmless(path: string, shown: RegExp = SHOWN): Promise<void> {
    await tab.open(path, shown);
    await assertHarmless(tab.page, tab.problems, path);
  }

  it("is text on the lists and the setup", async () => {
    await opensHarmless("/console");
    await opensHarmless("/console/incidents");
    await opensHarmless("/console/governance");
    await opensHarmless("/console/setup", /of 5 steps[^]*Flags/);
  });

  it("is text on the page of each incident, with its story, notes and post-mortem", async () => {
    for (const id of tickets) {
      await opensHarmless(`/console/incidents/${id}`, /Post-mortem[^]*stolen/);
    }
  });

  it("is text on the page of each approval, and of those that ask for the same", async () => {
    for (const id of approvals) await opensHarmless(`/console/approvals/${id}`);
    await opensHarmless(`/console/approvals?group=${group}`);
  });

  it("is text on the pages of passkeys and of standing grants, with who made and revoked them", async () => {
    const own = await openConsole({ ...people, keyId: () => keyIds[0]! });
    try {
      const harmless = async (text: RegExp, where: string) => {
        await own.shows(text);
        await assertHarmless(own.page, own.problems, where);
      };
      await own.addAuthenticator();
      await own.signIn();
      await own.open("/console/you", /Enrol a passkey/);
      await own.page.locator("#name").fill(PASSKEY_NAME);
      await own.press("Enrol a passkey");
      await harmless(/never used/, "passkeys");
      assert.ok((await own.shows(/PKY-/)).includes(PASSKEY_NAME));
      await setGovernance(people.store, {
        rules: [{ name: "asks", when: { tools: ["tickets.create"] }, then: "needs_approval" }],
      });
      const fields = { title: HOSTILE[0], description: HOSTILE_TEXT };
      const held = await people.call("POST", "/v1/itsm/tickets", "program", fields);
      await setGovernance(people.store, {});
      const { approval_id } = held.body.governance;
      await own.open(`/console/grants?approval=${approval_id}`, SHOWN);
      await harmless(/Show what you sign/, "a new grant");
      await own.press("Show what you sign");
      await harmless(/lets run/, "the terms of a grant");
      await own.press("Grant with your passkey");
      const text = await own.shows(/in force/);
      await harmless(SHOWN, "grants");
      await own.press(`Revoke ${/GRN-[0-9a-f]{12}/.exec(text)![0]}`);
      await harmless(/revoked by/, "a revoked grant");
    } finally {
      await own.close();
    }
  });

  it("is text where it comes with the address", async () => {
    const text = encodeURIComponent(HOSTILE_TEXT);
    const [ticket] = tickets;
    for (
      const [path, shown] of [
        [`/console#${text}`, /To decide/],
        [`/console/incidents?query=${text}&service=${text}#${text}`, /Incidents/],
        [`/console/incidents?severity=${text}&from=${text}&older_than=${text}`, /Incidents/],
        [`/console/incidents/${ticket}?x=${text}#${text}`, /Post-mortem/],
        [`/console/approvals?group=${text}&tenant=${text}`, /Equal acts|APR-|group/],
        [`/console/grants?approval=${text}`, /Standing grants/],
        [`/console/governance?rule=${text}&tool=${text}&decision=${text}`, /Governance/],
        [`/console/you?to=${text}#${text}`, /Passkeys/],
        [`/console/sign-in?to=${text}`, /npm run console/],
        [`/console/sign-in/answer?error=${text}&error_description=${text}`, /npm run console/],
      ] as const
    ) {
      await opensHarmless(path, shown);
    }
  });

  it("leads nowhere but to the console after a sign-in", async () => {
    const origin = people.platform.urls.gateway;
    for (
      const to of [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example/console",
        "javascript:document.title='stolen'",
        "/console/../..//evil.example",
        "/console@evil.example",
      ]
    ) {
      await tab.page.goto("about:blank");
      const link = await signInLink(people, "admin");
      await tab.open(`/console/sign-in?to=${encodeURIComponent(to)}#${link}`, /Go on only if/);
      await tab.press("Sign in by this link");
      await tab.shows(/waits? for/);
      assert.equal(await tab.page.evaluate("location.href"), `${origin}/console`, to);
      await assertHarmless(tab.page, tab.problems, to);
    }
  });
});

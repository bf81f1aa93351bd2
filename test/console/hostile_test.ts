import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assertHarmless, HOSTILE, HOSTILE_TEXT } from "../_hostile.ts";
import { approvalCalls } from "../api/_approvals.ts";
import { openPeople, type People } from "../api/_people.ts";
import { type ConsoleTab, openConsole } from "./_console.ts";

/** Part of a hostile text that a page shows, wherever it was cut off. */
const SHOWN = /<img src=x onerror=|stolen/;

describe("what others write, on every page of the console", () => {
  let people: People;
  let tab: ConsoleTab;
  /** Keys of people whose names are hostile. */
  let keys: readonly string[];
  const tickets: string[] = [];
  const approvals: string[] = [];
  let group = "";

  before(async () => {
    people = await openPeople();
    const { ask } = approvalCalls(() => people);
    const by = (key: string) => ({ "x-api-key": key });
    keys = await Promise.all(
      HOSTILE.slice(0, 3).map(async (principal) => {
        const fields = { tenant: "platform", tier: "partner", principal, may_approve: true };
        const { body } = await people.call("POST", "/v1/keys/generate", "admin", fields);
        return body.api_key as string;
      }),
    );
    const [ann, ben] = keys as [string, string];
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
});

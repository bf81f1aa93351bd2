import assert from "node:assert/strict";
import { putPolicyInForce } from "../../integrations/policy_files/mod.ts";
import { readGovernanceFile } from "../../calls/governance/mod.ts";
import { openPeople, type People } from "../api/_people.ts";
import { type ConsoleTab, openConsole, SCHEMES, WIDTHS } from "./_console.ts";
import { isLookedAt } from "../_size.ts";

const POLICY = {
  table: "governance_policies",
  subject: "governance-policy",
  actor: "worker",
  details: () => ({}),
} as const;
const MARK = `<img src=x onerror="document.title='stolen'">`;

describe("the console's page of governance", () => {
  let people: People;
  let tab: ConsoleTab;
  before(async () => {
    people = await openPeople();
    tab = await openConsole(people);
    await tab.signIn("admin");
  });
  after(async () => {
    await tab?.close();
    await people?.stop();
  });

  async function putInForce(text: string): Promise<void> {
    await putPolicyInForce(people.store, POLICY, readGovernanceFile(text).policy);
  }

  const open = (title: string) => people.call("POST", "/v1/itsm/tickets", "program", { title });

  it("stops everything by one click, says so on every page, and resumes", async () => {
    await tab.open("/console/governance", /Stop everything/);
    await tab.press("Stop everything");
    await tab.shows(/Everything that changes something is stopped: Stopped in the console/);
    assert.equal((await open("Printer jams")).status, 403);
    await tab.open("/console/incidents", /Everything that changes something is stopped/);
    await tab.press("Resume");
    await tab.shows(/^(?![^]*is stopped)[^]*Incidents/);
    assert.equal((await open("Printer jams")).status, 200);
  });

  it("counts decisions, and finds those of a key, a rule or a tool", async () => {
    await tab.open("/console/governance", /By rule[^]*tickets-and-loops/);
    await tab.press("tickets-and-loops");
    await tab.shows(/itsm_ticket_create by Program over rest: allowed by tickets-and-loops/);
    assert.equal(await tab.page.evaluate("location.search"), "?rule=tickets-and-loops");
    await tab.open("/console/governance?decision=deny", /denied by stopped/);
    await tab.open("/console/governance?tool=no_tool", /No decision matches/);
  });

  it("shows versions of the policy with what each has changed", async () => {
    await putInForce("rules:\n  - { name: one, when: { tools: [no_such] }, then: deny }\n");
    await putInForce("rules:\n  - { name: two, when: { tools: [no_such] }, then: deny }\n");
    await tab.open("/console/governance", /Version 2-/);
    const [added, removed] = await Promise.all(
      [".added", ".removed"].map((lines) =>
        tab.page.$eval(`details ${lines}`, (one) => one.textContent!)
      ),
    );
    assert.match(added!, /name: two/);
    assert.match(removed!, /name: one/);
  });

  it("tries a changed policy on the last week's calls, and changes nothing", async () => {
    assert.equal((await open("Disk full")).status, 200);
    await people.call("POST", "/v1/admin/flags/pause_sweeps", "admin", { value: false });
    await tab.open("/console/governance", /Try another policy/);
    const text = "rules:\n" +
      "  - { name: no-tickets, when: { tools: [tickets.create], keys: [KEY] }, then: deny }\n" +
      "  - { name: by-words, when: { tools: [admin.set_flag], arguments: { key: ^x } }, then: deny }\n";
    await tab.page.locator("#draft").fill(text.replace("KEY", people.keyId("program")));
    await tab.press("Try it");
    const shown = await tab.shows(/would be decided otherwise/);
    assert.match(shown, /Of \d+ calls since [^]*, [1-9]\d* would be decided otherwise/);
    assert.match(shown, /before: allow by tickets-and-loops · after: deny by no-tickets/);
    assert.match(shown, /[1-9]\d* that depends on arguments/);
    assert.match(shown, /after: deny by by-words, or allow by key-decides/);
    assert.equal((await open("It still works")).status, 200);
    await tab.page.locator("#draft").fill("rules: [{ name: a, then: perhaps }]");
    await tab.press("Try it");
    await tab.shows(/line 1: rule a: then/);
  });

  it("lists keys, and revokes one after a second click", async () => {
    const { body: { key_id } } = await people.call("POST", "/v1/keys/generate", "admin", {
      tenant: "acme",
      tier: "partner",
      principal: MARK,
    });
    await tab.open("/console/governance", new RegExp(key_id));
    assert.doesNotMatch(await tab.page.title(), /stolen/);
    await tab.press(`Revoke the key ${key_id}`);
    await tab.press(`Revoke the key ${key_id} for good`);
    await tab.shows(new RegExp(`^(?![^]*${key_id})[^]*Governance`));
  });

  it("shows the policy and keys to those who may operate alone", async () => {
    await tab.signIn("ann");
    const shown = await tab.open("/console/governance", /By rule/);
    assert.match(shown, /shown to people who may operate/);
    for (const path of ["/v1/keys", "/v1/governance/policies"]) {
      assert.equal((await people.call("GET", path, "ann")).status, 403);
    }
    await tab.signIn("admin");
  });

  for (const [row, scheme] of SCHEMES.entries()) {
    it(`has no barriers, and fits, ${scheme}`, async () => {
      await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      for (const [column, width] of WIDTHS.entries()) {
        if (!isLookedAt(row, column)) continue;
        await tab.page.setViewport({ width, height: 800 });
        await tab.open("/console/governance", /Last used/);
        assert.deepEqual(await tab.barriers(), [], `at ${width}`);
      }
    });
  }
});

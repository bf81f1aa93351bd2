import assert from "node:assert/strict";
import type { Json } from "../calls/_platform.ts";
import { governanceOf, openAgent, type TestAgent } from "../calls/_agent.ts";
import { createDiskWiper } from "../calls/_disk_wiper.ts";
import { setGovernance } from "../_governance.ts";
import { asSuperuser } from "../_superuser.ts";
import { createAuthenticator, type TestAuthenticator } from "../ledger/passkeys/_authenticator.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { type Browser, openBrowser } from "./_browser_session.ts";
import { judgeEvidence } from "./_judge_evidence.ts";

describe("a standing grant", () => {
  const { operation, runs } = createDiskWiper();
  let agent: TestAgent;
  let ann: Browser;
  let phone: TestAuthenticator;
  before(async () => {
    agent = await openAgent([operation]);
    const { people } = agent;
    ann = await openBrowser(people, "ann");
    phone = createAuthenticator("localhost", people.platform.urls.gateway);
    await ann.enrol(phone);
  });
  after(() => agent?.people.stop());
  beforeEach(() => {
    runs.length = 0;
  });

  const wipe = (disk: string) => agent.call("wipe_disk", { disk });

  /** Has people asked about a call, which is approved, run, and collected. */
  async function askedAbout(disk: string): Promise<string> {
    const { approval_id } = await agent.callGoverned("wipe_disk", { disk });
    await agent.decide(approval_id, "approve");
    await agent.waitForEnd(approval_id);
    await wipe(disk); // collects the result
    runs.length = 0;
    return approval_id;
  }

  async function propose(ids: readonly string[], more: object = {}, by = ann): Promise<Json> {
    const wish = { approval_ids: ids, max_uses: 2, expires_in_seconds: 600, ...more };
    const answer = await by.call("POST", "/v1/console/grants/statement", wish);
    return answer;
  }

  async function make(ids: readonly string[], more: object = {}): Promise<Json> {
    const { body } = await propose(ids, more);
    const { challenge_id, challenge } = body;
    const passkey = { challenge_id, assertion: phone.assert(challenge) };
    const made = await ann.call("POST", "/v1/console/grants", { approval_ids: ids, passkey });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body;
  }

  const grantInfo = async (id: string): Promise<Json> =>
    (await ann.call("GET", "/v1/console/grants")).body.grants
      .find(({ grant_id }: Json) => grant_id === id);
  const revoke = (id: string) => ann.call("POST", `/v1/console/grants/${id}/revoke`);
  const isAsked = (result: Awaited<ReturnType<typeof wipe>>) =>
    governanceOf(result)?.decision === "needs_approval";

  it("lets exactly its acts run without asking, so often, and names itself in their receipts", async () => {
    const id = await askedAbout("sda");
    const { grant_id, state } = await make([id]);
    assert.equal(state, "in_force");
    const first = await wipe("sda");
    assert.deepEqual(first.structuredContent, { wiped: "sda", passes: 1 });
    assert.ok(isAsked(await agent.call("wipe_disk", { disk: "sda", passes: 2 })), "another act");
    assert.ok(isAsked(await wipe("sdb")), "another target");
    assert.ok(!isAsked(await wipe("sda")));
    assert.equal(runs.length, 2);
    assert.ok(isAsked(await wipe("sda")), "it is used up");
    assert.deepEqual(
      [(await grantInfo(grant_id)).uses, (await grantInfo(grant_id)).state],
      [2, "used_up"],
    );
    const receipt = await agent.getReceipt(String(first._meta?.receipt_id));
    assert.deepEqual([receipt.details.grant, receipt.details.use], [grant_id, 1]);
    const texts = (await exportReceipts(agent.people.store, { from: 0, to: 10_000 }))
      .map(({ text }) => text).filter((text) => text.includes(grant_id));
    assert.ok(texts.some((text) => text.includes("grant.made")));
    const lines = await judgeEvidence(agent.people.store, grant_id);
    for (const word of ["ann", "sda", phone.credentialId, agent.people.keyId("ann")]) {
      assert.ok(!texts.some((text) => text.includes(word)), `${word} is private`);
    }
    assert.ok(
      lines.some((line) =>
        /the file has 2 uses, 2 of them opened, of acts that it names$/.test(line)
      ),
      lines.join("\n"),
    );
    assert.ok(lines.includes("| made by     ann for platform"), lines.join("\n"));
  });

  it("is never used more often than it says, by calls at once", async () => {
    const { grant_id } = await make([await askedAbout("sdc")], { max_uses: 3 });
    const results = await Promise.all(Array.from({ length: 8 }, () => wipe("sdc")));
    const allowed = results.filter((one) => !isAsked(one));
    assert.ok(allowed.length <= 3);
    assert.equal(runs.length, allowed.length);
    assert.equal((await grantInfo(grant_id)).uses, allowed.length);
    assert.ok(allowed.length > 0);
  });

  it("ends at once where it is revoked, and can't be taken back", async () => {
    const { grant_id } = await make([await askedAbout("sdd")], { max_uses: 100 });
    assert.ok(!isAsked(await wipe("sdd")));
    const revoked = await revoke(grant_id);
    assert.deepEqual([revoked.status, revoked.body.state], [200, "revoked"]);
    assert.ok(isAsked(await wipe("sdd")));
    assert.equal((await revoke(grant_id)).status, 409);
    await assert.rejects(
      asSuperuser(agent.people.store).execute(
        "UPDATE grants SET revoked_at = NULL WHERE id = $1",
        [grant_id],
      ),
      { code: "23001" },
    );
  });

  it("allows nothing after its time, nor what it was changed to say", async () => {
    const id = await askedAbout("sde");
    const superuser = asSuperuser(agent.people.store);
    const changes = [
      `terms = jsonb_set(terms, '{max_uses}', '1000')`,
      `terms = jsonb_set(terms, '{expires_at}', '"2999-01-01T00:00:00.000Z"')`,
      `terms = jsonb_set(terms, '{acts,0,approval_id}', '"APR-000000000000"')`,
      `terms = jsonb_set(terms, '{needed}', '2')`,
      `signed = jsonb_set(signed::jsonb, '{statement,nonce}', '"00"')::json`,
      `made_by_key = '${agent.people.keyId("bob")}'`,
      `expires_at = now() - interval '1 second'`,
    ];
    for (const change of changes) {
      const { grant_id } = await make([id]);
      await superuser.execute(`UPDATE grants SET ${change} WHERE id = $1`, [grant_id]);
      const { approval_id } = await agent.callGoverned("wipe_disk", { disk: "sde" });
      assert.ok(approval_id, change);
      await agent.decide(approval_id, "deny");
      await wipe("sde"); // collects the denial
      await revoke(grant_id);
    }
    assert.equal(runs.length, 0);
  });

  it("stands behind stops, denials, freezes and the guardrails", async () => {
    const { people } = agent;
    const { grant_id } = await make([await askedAbout("sdf")], { max_uses: 100 });
    const booked = await people.call("POST", "/v1/calendar/events", "ann", {
      title: "Year-end closing",
      kind: "freeze",
      start: new Date(Date.now() - 60_000).toISOString(),
      duration_minutes: 60,
    });
    const frozen = governanceOf(await wipe("sdf"));
    assert.equal(frozen.decision, "needs_approval");
    await people.call("DELETE", `/v1/calendar/events/${booked.body.event_id}`, "ann");
    await agent.decide(frozen.approval_id, "deny");
    await wipe("sdf");
    assert.ok(!isAsked(await wipe("sdf")), "the freeze is over");
    await setGovernance(people.store, {
      rules: [{ name: "never", when: { tools: ["wipe_disk"] }, then: "deny" }],
    });
    const denied = await wipe("sdf");
    assert.ok(denied.isError, JSON.stringify(denied));
    await setGovernance(people.store, { rules: [] });
    assert.equal((await grantInfo(grant_id)).uses, 1);
    assert.equal(runs.length, 1);
  });

  it("is made by a passkey over its text, and not by who asked or may not approve", async () => {
    const { people } = agent;
    const id = await askedAbout("sdg");
    const { body } = await propose([id]);
    const strange = createAuthenticator("localhost", people.platform.urls.gateway);
    const { challenge_id, challenge } = body;
    const send = (assertion: object) =>
      ann.call("POST", "/v1/console/grants", {
        approval_ids: [id],
        passkey: { challenge_id, assertion },
      });
    assert.equal((await send(strange.assert(challenge))).status, 403);
    assert.equal((await send(phone.assert(challenge, { flags: 0x01 }))).status, 403);
    assert.equal((await send(phone.assert("AAAA"))).status, 403);
    assert.equal((await send(phone.assert(challenge))).status, 201);
    assert.equal((await send(phone.assert(challenge))).status, 409, "once");

    const click = await people.call("POST", "/v1/console/grants/statement", "ann", {
      approval_ids: [id],
      max_uses: 1,
      expires_in_seconds: 60,
    });
    assert.equal(click.status, 403, "a key makes none");
    const long = await propose([id], { expires_in_seconds: 2_592_001 });
    assert.equal(long.status, 422);
    const program = await openBrowser(people, "program");
    assert.equal((await propose([id], {}, program)).status, 403);
    const { body: own } = await people.call("POST", "/v1/approvals", "program", { action: {} });
    const wrong = await propose([own.approval_id]);
    assert.deepEqual([wrong.status, /tools' calls and about repairs/.test(wrong.body.detail)], [
      409,
      true,
    ]);
    await people.vote(own.approval_id, "deny", "bob");
  });

  it("takes as many people as the acts do, and allows nothing before", async () => {
    const { people } = agent;
    await setGovernance(people.store, {
      rules: [{
        name: "two",
        when: { tools: ["wipe_disk"] },
        then: "needs_approval",
        approvers: 2,
      }],
    });
    const { approval_id } = await agent.callGoverned("wipe_disk", { disk: "sdh" });
    const grant = await make([approval_id]);
    assert.equal(grant.state, "asked");
    await people.vote(approval_id, "deny", "bob");
    await wipe("sdh");
    const again = governanceOf(await wipe("sdh"));
    assert.equal(again.decision, "needs_approval", "nobody else has approved it yet");
    await people.vote(again.approval_id, "deny", "bob");
    await wipe("sdh");
    const own = await people.vote(grant.approval_id, "approve", "ann");
    assert.equal(own.status, 403, "who makes it is not another one");
    const byKey = await people.vote(grant.approval_id, "approve", "bob");
    assert.equal(byKey.status, 403, "it takes a passkey");
    const bob = await openBrowser(people, "bob");
    const laptop = createAuthenticator("localhost", people.platform.urls.gateway);
    await bob.enrol(laptop);
    const path = `/v1/console/approvals/${grant.approval_id}/statement`;
    const { body: given } = await bob.call("POST", path, {});
    const approved = await bob.call("POST", `/v1/approvals/${grant.approval_id}/approve`, {
      passkey: {
        challenge_id: given.challenge_id,
        assertion: laptop.assert(given.challenge),
      },
    });
    assert.equal(approved.body.status, "approved", JSON.stringify(approved.body));
    assert.equal((await grantInfo(grant.grant_id)).state, "in_force");
    const done = await wipe("sdh");
    assert.ok(!isAsked(done));
    await people.sealed(String(done._meta?.receipt_id));
    const lines = await judgeEvidence(people.store, grant.grant_id);
    assert.ok(
      lines.some((line) => /the others that it takes have approved it, by receipt/.test(line)),
      lines.join("\n"),
    );
    assert.ok(lines.some((line) => /has 1 use, 1 of them/.test(line)), lines.join("\n"));
    await setGovernance(people.store, { rules: [] });
  });
});

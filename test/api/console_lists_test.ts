import assert from "node:assert/strict";
import { NODE_PRIMITIVES } from "../../ledger/mod.ts";
import { placesIn, signedChallenge, statementOf } from "../../ledger/passkeys/mod.ts";
import { listWaitingVotes } from "../../store/approvals/mod.ts";
import { createAuthenticator, type TestAuthenticator } from "../ledger/passkeys/_authenticator.ts";
import { sized } from "../_size.ts";
import { eventually } from "../_time.ts";
import { approvalCalls } from "./_approvals.ts";
import { type Browser, openBrowser } from "./_browser_session.ts";
import { openPeople, type People } from "./_people.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

/** Programs that ask for the same, of one service each; three of them with another argument. */
const COUNT = sized(200);
const SERVICES = Array.from({ length: COUNT }, (_, n) => `shop-${String(n).padStart(3, "0")}`);
const DIFFERENT = new Set([7, COUNT / 2, COUNT - 1].map((n) => SERVICES[n]!));
/** Milliseconds in which a person clears 200 waiting acts. */
const CLEARED_MS = 300_000;

describe("approvals that ask for the same", () => {
  let people: People;
  let ann: Browser;
  let phone: TestAuthenticator;
  before(async () => {
    people = await openPeople();
    ann = await openBrowser(people, "ann");
    phone = createAuthenticator("localhost", people.platform.urls.gateway);
    await ann.enrol(phone);
  });
  after(() => people?.stop());
  const { ask, info, becomes, receiptsOf } = approvalCalls(() => people);

  const askTo = (service: string, more: object = {}) =>
    ask({ description: `Restart ${service}`, action: { command: "restart", service, ...more } });
  const askAll = (names: readonly string[], more: object = {}) =>
    Promise.all(names.map((name) => askTo(name, more)));
  const idsOf = (asked: readonly Json[]): string[] => asked.map(({ approval_id }) => approval_id);
  const begun = (ids: readonly string[]) =>
    Promise.all(
      ids.map((id) => eventually(async () => (await info(id)).moves.length > 0 || undefined)),
    );
  const groups = async () => (await ann.call("GET", "/v1/console/approvals/groups")).body;
  const members = async (group: string): Promise<Json[]> =>
    (await ann.call("GET", `/v1/console/approvals/groups/${group}`)).body.approvals;

  async function propose(ids: readonly string[], by = ann): Promise<Json> {
    const answer = await by.call("POST", "/v1/console/approvals/statement", { approval_ids: ids });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  }

  const approve = (ids: readonly string[], passkey: object, by = ann) =>
    by.call("POST", "/v1/console/approvals/approve", { approval_ids: ids, passkey });
  const signed = ({ challenge_id, challenge }: Json, by = phone) => ({
    challenge_id,
    assertion: by.assert(challenge),
  });

  it("are cleared by one gesture, all of them, and the three that differ stand apart", async () => {
    const asked = await Promise.all(
      SERVICES.map((service) =>
        askTo(service, { signal: DIFFERENT.has(service) ? "KILL" : "TERM" })
      ),
    );
    await begun(idsOf(asked));
    const { waiting, groups: found } = await groups();
    assert.deepEqual([waiting, found.map(({ size }: Json) => size)], [COUNT, [COUNT - 3, 3]]);
    const began = performance.now();
    const equal = await members(found[0].group);
    const targets = SERVICES.filter((service) => !DIFFERENT.has(service));
    assert.deepEqual(equal.map(({ target }) => target).toSorted(), targets);
    const apart = await members(found[1].group);
    assert.deepEqual(apart.map(({ target }) => target).toSorted(), [...DIFFERENT]);

    const proposal = await propose(idsOf(equal));
    const own = equal.map((approval, n) => {
      const { cycle, nonce } = proposal.statements[n];
      return statementOf(NODE_PRIMITIVES, approval, { cycle, nonce });
    });
    assert.deepEqual(proposal.statements, own, "each is over what its list shows");
    const late = await askTo("shop-late", { signal: "TERM" });
    await begun([late.approval_id]);
    const answer = await approve(idsOf(equal), signed(proposal));
    const took = performance.now() - began;
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    // On a busy machine the last votes are stored, and the worker delivers them.
    const problems = answer.body.results.filter(({ problem }: Json) =>
      problem !== null && !/is stored, and is delivered soon/.test(problem)
    );
    assert.deepEqual(problems, []);
    await eventually(async () => (await groups()).groups[0].size === 3 || undefined);
    assert.ok(took < CLEARED_MS, `${took} ms`);
    if (process.env.SHOW_TIMES) {
      console.log(`${COUNT - 3} of ${COUNT} cleared in ${Math.round(took)} ms`);
    }

    const left = await groups();
    assert.deepEqual(left.groups.map(({ size }: Json) => size), [3, 1]);
    assert.equal((await info(late.approval_id)).status, "pending", "it was not in the list");
    const one = await info(equal[5]!.approval_id);
    assert.deepEqual([one.status, one.approvers[0].principal], ["approved", "ann"]);
    const receiptIds = answer.body.results.flatMap(({ receipt_id }: Json) => receipt_id ?? []);
    assert.equal(new Set(receiptIds).size, receiptIds.length);
    await people.sealed(receiptIds[0]);
    const receipts = await receiptsOf(one.approval_id);
    assert.ok(!JSON.stringify(receipts).includes(proposal.list.root), "the list is private");

    const denied = await ann.call("POST", "/v1/console/approvals/deny", {
      approval_ids: [...idsOf(apart), late.approval_id],
      reason: "Not so many",
    });
    assert.deepEqual(
      denied.body.results.map(({ status }: Json) => status),
      Array(4).fill("denied"),
    );
    assert.equal((await groups()).waiting, 0);
  });

  it("leave those waiting that were decided, changed or asked for since the list was shown", async () => {
    const asked = await askAll(["a", "b", "c", "d", "e"]);
    const ids = idsOf(asked);
    await begun(ids);
    const [denied, reopened, unlisted, ...others] = ids as [string, string, string, string, string];
    const proposal = await propose(ids.filter((id) => id !== unlisted));
    await people.vote(denied, "deny", "bob");
    await people.vote(reopened, "deny", "bob");
    await people.vote(reopened, "reopen", "bob");
    const { body } = await approve(ids, signed(proposal));
    const of = (id: string) => body.results.find(({ approval_id }: Json) => approval_id === id);
    assert.match(of(denied).problem, /is denied, and only a pending one/);
    assert.match(of(reopened).problem, /has changed since you looked/);
    assert.match(of(unlisted).problem, /has changed since you looked/);
    for (const id of others) assert.deepEqual([of(id).status, of(id).problem], ["approved", null]);
    assert.equal((await info(reopened)).status, "pending");
    assert.equal((await info(unlisted)).status, "pending");
    const again = await approve([reopened], signed(proposal));
    assert.equal(again.status, 409, "a list is answered once");
    for (const id of [reopened, unlisted]) await people.vote(id, "deny", "bob");
  });

  it("take no answer that is another's, of another page, or to another challenge", async () => {
    const ids = idsOf(await askAll(["a", "b"]));
    await begun(ids);
    const strange = createAuthenticator("localhost", people.platform.urls.gateway);
    const refused = async (passkey: object, status: number, reason: RegExp) => {
      const answer = await approve(ids, passkey);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      assert.match(answer.body.detail, reason);
    };
    const list = await propose(ids);
    await refused(signed(list, strange), 403, /not one of yours/);
    const { challenge_id, challenge } = list;
    const unverified = phone.assert(challenge, { flags: 0x01 });
    await refused({ challenge_id, assertion: unverified }, 403, /was not verified/);
    const evil = phone.assert(challenge, { origin: "https://evil.example" });
    await refused({ challenge_id, assertion: evil }, 403, /asked for by a page of/);
    const single = (await ann.call("POST", `/v1/console/approvals/${ids[0]}/statement`, {})).body;
    await refused(signed(single), 409, /answered already/);
    await refused({ challenge_id, assertion: phone.assert(single.challenge) }, 403, /challenge/);
    const click = await ann.call("POST", "/v1/console/approvals/approve", { approval_ids: ids });
    assert.equal(click.status, 422);
    const alone = await ann.call("POST", `/v1/approvals/${ids[0]}/approve`, {
      passkey: signed(list),
    });
    assert.equal(alone.status, 409, "a list is no statement about one");
    const unknown = await ann.call("POST", "/v1/console/approvals/deny", {
      approval_ids: [ids[0], "APR-000000000000"],
    });
    assert.equal(unknown.status, 404);
    for (const id of ids) assert.equal((await info(id)).status, "pending");
    await ann.call("POST", "/v1/console/approvals/deny", { approval_ids: ids });
  });

  it("of another tenant are not there for a key that names it, except one of tier admin", async () => {
    const { group } = await askTo("own-of-platform");
    const of = (tenant: string, who: string) =>
      people.call("GET", `/v1/console/approvals/groups/${group}?tenant_id=${tenant}`, who);
    const own = await of("platform", "ann");
    assert.deepEqual([own.status, own.body.approvals.length], [200, 1]);
    for (const [tenant, who] of [["platform", "rival"], ["elsewhere", "ann"], ["x", "operator"]]) {
      const { status, body } = await of(tenant!, who!);
      assert.deepEqual([status, body.detail], [404, `There is no organization ${tenant}`]);
    }
    assert.equal((await of("platform", "operator")).body.approvals.length, 1);
    const path = "/v1/console/grants/GRN-000000000000/revoke";
    const foreign = await people.call("POST", path, "ann", { tenant_id: "elsewhere" });
    assert.deepEqual(
      [foreign.status, foreign.body.detail],
      [404, "There is no organization elsewhere"],
    );
  });

  it("count one of the people that each needs", async () => {
    const ids = idsOf(
      await Promise.all(
        ["a", "b"].map((service) => ask({ action: { command: "x", service }, needed: 2 })),
      ),
    );
    await begun(ids);
    const { body } = await approve(ids, signed(await propose(ids)));
    assert.deepEqual(body.results.map(({ status }: Json) => status), ["pending", "pending"]);
    for (const id of ids) {
      await people.vote(id, "approve", "bob");
      await becomes(id, "approved");
    }
  });

  it("keep the proof of each with its vote, and a vote with another one counts for nothing", async () => {
    const ids = idsOf(await askAll(["a", "b", "c"]));
    await begun(ids);
    const proposal = await propose(ids);
    await approve(ids, signed(proposal));
    const db = people.store.asPlatform();
    const rows = await db.query<Json>(
      "SELECT approval_id, statement FROM approval_votes WHERE approval_id = ANY($1) ORDER BY approval_id",
      [ids],
    );
    const places = placesIn(NODE_PRIMITIVES, proposal.statements, proposal.challenge_id);
    for (const { approval_id, statement: kept } of rows) {
      const n = proposal.statements.findIndex(({ approval }: Json) => approval === approval_id);
      assert.deepEqual(kept.statement, proposal.statements[n]);
      assert.deepEqual(kept.list, places[n]);
      assert.equal(signedChallenge(NODE_PRIMITIVES, kept), proposal.challenge);
    }
    assert.deepEqual(await listWaitingVotes(db, 0), []);
  });
});

/** Where passkeys decide: by a rule that takes them alone, and about calls of people who have signed in. */
import assert from "node:assert/strict";
import {
  bundleEvidence,
  exportReceipts,
  formatBundle,
  NODE_PRIMITIVES,
  NOTHING_PINNED,
  readOpenable,
  verifyEvidence,
} from "../../ledger/mod.ts";
import { createDiskWiper } from "../calls/_disk_wiper.ts";
import { setGovernance } from "../_governance.ts";
import { storeAs } from "../_servers.ts";
import type { TestAuthenticator } from "../ledger/passkeys/_authenticator.ts";
import { approvalCalls } from "./_approvals.ts";
import { openPeople, type People } from "./_people.ts";
import { type Browser, signedInPeople } from "./_signed_in.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

describe("a person's passkey", () => {
  const { operation, runs } = createDiskWiper();
  let people: People;
  let browser: Browser;
  let phone: TestAuthenticator;
  before(async () => {
    people = await openPeople({}, [operation]);
    browser = await signIn("ann", true);
    phone = newAuthenticator();
    assert.equal((await enrol(browser, phone)).status, 201);
  });
  after(() => people?.stop());
  beforeEach(async () => {
    runs.length = 0;
    await setRule({ then: "needs_approval", guardrails: false });
  });
  const { info } = approvalCalls(() => people);
  const { call, newAuthenticator, signIn, enrol, propose, approve } = signedInPeople(() => people);

  const setRule = (rule: object) =>
    setGovernance(people.store, {
      rules: [{ name: "own", when: { tools: ["test_wipe"] }, ...rule }],
    });
  const wipe = (by: Browser, input: Json, passkey?: object) =>
    call(passkey ? { ...by, "x-passkey": inHeader(passkey) } : by, "POST", "/v1/test/wipe", input);
  const inHeader = (answer: object) => Buffer.from(JSON.stringify(answer)).toString("base64url");

  /** Makes a call, and gets what is to be signed about it. */
  async function askedToSign(input: Json, by = browser): Promise<Json> {
    const asked = await wipe(by, input);
    assert.equal(asked.status, 403, JSON.stringify(asked.body));
    assert.match(asked.body.detail, /your passkey decides/);
    return asked.body.passkey;
  }

  it("is asked for where a rule leaves a call of theirs to people, and then the call is done", async () => {
    const { challenge_id, challenge, shown } = await askedToSign({ disk: "sda" });
    assert.equal(shown.action.arguments.disk, "sda");
    assert.equal(runs.length, 0);
    const done = await wipe(browser, { disk: "sda" }, {
      challenge_id,
      assertion: phone.assert(challenge),
    });
    assert.deepEqual([done.status, done.body], [200, { wiped: "sda", passes: 1 }]);
    const id = done.headers.get("x-governance-decision-id");
    const { body } = await people.call("GET", "/v1/governance/decisions", "program");
    const decision = body.decisions.find((one: Json) => one.decision_id === id);
    assert.deepEqual([decision.decision, decision.caller_approves], ["allow", true]);
    await people.sealed(decision.receipt_id);
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    const { text } = all.find(({ text }) => JSON.parse(text).id === decision.receipt_id)!;
    assert.ok(!text.includes(phone.credentialId), "it is private");
    assert.equal(JSON.parse(text).details.passkey, true, "verifiers expect a signature");
    const operator = await storeAs(people.store, "operator");
    const opened = await bundleEvidence(
      operator,
      await readOpenable(operator, decision.receipt_id),
    );
    const file = formatBundle(opened);
    const { exit, lines } = await verifyEvidence(file, NOTHING_PINNED, NODE_PRIMITIVES);
    assert.equal(exit, 0, lines.join("\n"));
    const said = lines.join("\n");
    assert.match(said, /signed exactly this text: .* ES256/);
    assert.match(said, /\| your call {3}/);
    assert.match(said, /"disk": "sda"/);
    assert.match(said, /enrolled before that for ann, by receipt #/);
  });

  it("decides about exactly this call, once, while it is valid and its person is verified", async () => {
    const given = await askedToSign({ disk: "sdb" });
    const { challenge_id, challenge } = given;
    const refused = async (
      [input, assertion, status, reason]: readonly [Json, object, number, RegExp],
      by = browser,
    ) => {
      const answer = await wipe(by, input, { challenge_id, assertion });
      assert.deepEqual(
        [answer.status, reason.test(answer.body.detail)],
        [status, true],
        JSON.stringify(answer.body),
      );
    };
    const assertion = phone.assert(challenge);
    for (const field of ["signature", "authenticator_data", "client_data"] as const) {
      const flipped = Buffer.from(assertion[field], "base64url");
      flipped[20]! ^= 1;
      await refused([
        { disk: "sdb" },
        { ...assertion, [field]: flipped.toString("base64url") },
        403,
        /./,
      ]);
    }
    await refused([{ disk: "sdb", passes: 2 }, assertion, 409, /not the call that was shown/]);
    await refused([
      { disk: "sdb" },
      phone.assert(challenge, { flags: 0x01 }),
      403,
      /was not verified/,
    ]);
    await refused([
      { disk: "sdb" },
      phone.assert(challenge, { origin: "https://evil.example" }),
      403,
      /page of/,
    ]);
    await refused([{ disk: "sdb" }, newAuthenticator().assert(challenge), 403, /not one of yours/]);
    await refused([{ disk: "sdb" }, assertion, 409, /signed already/], await signIn("ann"));
    assert.equal(runs.length, 0);
    assert.equal(
      (await wipe(browser, { disk: "sdb" }, { challenge_id, assertion: phone.assert(challenge) }))
        .status,
      200,
    );
    await refused([{ disk: "sdb" }, phone.assert(challenge), 409, /signed already/]);
    assert.equal(runs.length, 1);
  });

  it("that was revoked decides about nothing", async () => {
    const spare = newAuthenticator();
    assert.equal((await enrol(browser, spare, phone)).status, 201);
    const { challenge_id, challenge } = await askedToSign({ disk: "sdc" });
    const { body: list } = await call(browser, "GET", "/v1/console/passkeys");
    const { passkey_id } = list.passkeys.at(-1);
    const { body: given } = await call(browser, "POST", "/v1/console/passkeys/challenge", {});
    const confirmation = {
      challenge_id: given.challenge_id,
      assertion: phone.assert(given.challenge),
    };
    const path = `/v1/console/passkeys/${passkey_id}/revoke`;
    assert.equal((await call(browser, "POST", path, { confirmation })).status, 200);
    const late = await wipe(browser, { disk: "sdc" }, {
      challenge_id,
      assertion: spare.assert(challenge),
    });
    assert.deepEqual([late.status, runs.length], [403, 0]);
  });

  it("is no use to those who may not approve, nor without a session", async () => {
    const { challenge_id, challenge } = await askedToSign({ disk: "sdd" });
    const answer = { challenge_id, assertion: phone.assert(challenge) };
    const held = await people.call("POST", "/v1/test/wipe", "program", { disk: "sdd" }, {
      "x-passkey": inHeader(answer),
    });
    assert.equal(held.status, 202);
    assert.equal(
      (await wipe(await signIn("bob", true), { disk: "sde" })).status,
      202,
      "he has no passkey",
    );
    const broken = await call({ ...browser, "x-passkey": "!" }, "POST", "/v1/test/wipe", {
      disk: "sde",
    });
    assert.equal(broken.status, 422);
    assert.equal(runs.length, 0);
  });

  it("counts as one of two, and not where the guardrails ask", async () => {
    await setRule({ then: "needs_approval", approvers: 2, guardrails: false });
    const { challenge_id, challenge } = await askedToSign({ disk: "sdf" });
    const held = await wipe(browser, { disk: "sdf" }, {
      challenge_id,
      assertion: phone.assert(challenge),
    });
    assert.equal(held.status, 202);
    const { approval_id } = held.body.governance;
    assert.equal((await info(approval_id)).needed, 1);
    assert.equal((await people.vote(approval_id, "approve", "bob")).body.status, "approved");
    const ended = await people.eventually(async () => (await info(approval_id)).act?.ended_at);
    assert.ok(ended);
    assert.deepEqual(runs.map(({ disk }) => disk), ["sdf"]);
  });

  it("alone approves where the rule says so, over every interface", async () => {
    await setRule({ then: "needs_approval", passkey: true, guardrails: false });
    const own = await people.call("POST", "/v1/test/wipe", "bob", { disk: "sdg" });
    assert.equal(own.status, 202, "the call of a key that may approve is no decision then");
    const { approval_id, approval } = own.body.governance;
    assert.equal(approval.passkey, true);
    const byKey = await people.vote(approval_id, "approve", "ann");
    assert.equal(byKey.status, 403);
    assert.match(
      byKey.body.detail,
      /takes a passkey. Its page: http:\/\/localhost.*\/console\/approvals\/APR-/,
    );
    assert.equal((await info(approval_id)).status, "pending");
    const { challenge_id, challenge } = await propose(browser, approval_id);
    const approved = await approve(browser, approval_id, {
      challenge_id,
      assertion: phone.assert(challenge),
    });
    assert.equal(approved.body.status, "approved", JSON.stringify(approved.body));
    const done = await people.eventually(async () => {
      const { act } = await info(approval_id);
      return act?.ended_at ? act : undefined;
    });
    assert.equal(done.state, "done", JSON.stringify(done));
    await people.sealed(approved.body.receipt_id);
    const about = (await exportReceipts(people.store, { from: 0, to: 10_000 }))
      .map(({ text }) => JSON.parse(text)).filter(({ subject }) => subject === approval_id);
    assert.deepEqual(
      about.map(({ action, details }) => [action, details.passkey]),
      [["approval.requested", true], ["approval.approved", true]],
    );
  });

  it("counts as its caller's where the rule takes passkeys alone", async () => {
    await setRule({ then: "needs_approval", passkey: true, approvers: 2, guardrails: false });
    const { challenge_id, challenge } = await askedToSign({ disk: "sdh" });
    const held = await wipe(browser, { disk: "sdh" }, {
      challenge_id,
      assertion: phone.assert(challenge),
    });
    const { approval_id } = held.body.governance;
    assert.equal((await info(approval_id)).needed, 1);
    const bob = await signIn("bob", true);
    const key = newAuthenticator();
    assert.equal((await enrol(bob, key)).status, 201);
    const given = await propose(bob, approval_id);
    const assertion = key.assert(given.challenge);
    const approved = await approve(bob, approval_id, {
      challenge_id: given.challenge_id,
      assertion,
    });
    assert.equal(approved.body.status, "approved", JSON.stringify(approved.body));
    await people.eventually(async () => (await info(approval_id)).act?.ended_at);
    assert.deepEqual(runs.map(({ disk }) => disk), ["sdh"]);
  });

  it("is taken by no rule that asks nobody", async () => {
    await assert.rejects(setRule({ then: "allow", passkey: true }), /needs_approval alone/);
  });
});

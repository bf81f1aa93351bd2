import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { ApproverPasskey } from "../../../contract/domain/mod.ts";
import { addApprovers } from "../../../store/devices/mod.ts";
import { listPasskeys } from "../../../store/people/mod.ts";
import { type Browser, openBrowser } from "../../api/_browser_session.ts";
import type { People } from "../../api/_people.ts";
import {
  createAuthenticator,
  type TestAuthenticator,
} from "../../ledger/passkeys/_authenticator.ts";
import { asSuperuser } from "../../_superuser.ts";
import { addMachine, approvalBegins, type Machine, openCommandPlatform } from "./_commands.ts";

describe("a command on a device that has pinned an approver's passkey", () => {
  let people: People;
  let machine: Machine;
  let ann: Browser;
  let bob: Browser;
  let phones: Record<"ann" | "bob", TestAuthenticator>;
  before(async () => {
    people = await openCommandPlatform();
    const origin = people.platform.urls.gateway;
    phones = {
      ann: createAuthenticator("localhost", origin),
      bob: createAuthenticator("localhost", origin, "RS256"),
    };
    ann = await openBrowser(people, "ann");
    bob = await openBrowser(people, "bob");
    await ann.enrol(phones.ann);
    await bob.enrol(phones.bob);
    const [own] = await listPasskeys(people.platform.store.db, "ann");
    const passkey: ApproverPasskey = {
      credential_id: own!.credential_id,
      public_key: own!.public_key,
      rp_id: "localhost",
      origin,
    };
    const approvers = { signatures_required: 1, keys: [], passkeys: [passkey] };
    const named = { version: 1, approvers, signatures: [] };
    await addApprovers(asSuperuser(people.store), named, "0123456789abcdef");
    machine = await addMachine(people, approvers);
    machine.start();
  });
  after(async () => {
    await machine?.stop();
    await people?.stop();
  });

  async function approve(browser: Browser, phone: TestAuthenticator, id: string) {
    await approvalBegins(people, id);
    const path = `/v1/console/approvals/${id}/statement`;
    const { body: { challenge_id, challenge } } = await browser.call("POST", path, {});
    const passkey = { challenge_id, assertion: phone.assert(challenge) };
    return await browser.call("POST", `/v1/approvals/${id}/approve`, { passkey });
  }
  const order = async () =>
    (await machine.order({ script_id: "uptime" }, "program")).body as {
      readonly command_id: string;
      readonly approval_id: string;
    };

  it("runs once that passkey has signed it on the console, which the device verifies by itself", async () => {
    const { command_id, approval_id } = await order();
    const byKey = await people.vote(approval_id, "approve", "ann");
    assert.equal(byKey.status, 403, "a key alone is no signature");
    const other = await approve(bob, phones.bob, approval_id);
    assert.equal(other.status, 403);
    assert.match(other.body.detail, /this passkey is no approver's/);
    const approved = await approve(ann, phones.ann, approval_id);
    assert.equal(approved.body.status, "approved", JSON.stringify(approved.body));
    await machine.until(command_id, "done");
    const path = `${machine.state}/runner/commands/${command_id}/bundle.json`;
    const [approval] = JSON.parse(readFileSync(path, "utf8")).bundle.approvals;
    assert.equal(approval.assertion.credential_id, phones.ann.credentialId);
    assert.equal(approval.statement.approval, approval_id);
  });

  it("runs where it was approved with others by one gesture", async () => {
    const ordered = [await order(), await order()];
    const approval_ids = ordered.map(({ approval_id }) => approval_id);
    await Promise.all(approval_ids.map((id) => approvalBegins(people, id)));
    const { body: given } = await ann.call("POST", "/v1/console/approvals/statement", {
      approval_ids,
    });
    const passkey = {
      challenge_id: given.challenge_id,
      assertion: phones.ann.assert(given.challenge),
    };
    const { body } = await ann.call("POST", "/v1/console/approvals/approve", {
      approval_ids,
      passkey,
    });
    assert.deepEqual(body.results.map(({ problem }: { problem: unknown }) => problem), [
      null,
      null,
    ]);
    for (const { command_id } of ordered) await machine.until(command_id, "done");
  });

  it("is refused by the device where the platform names another passkey as the approver's", async () => {
    const [own] = await listPasskeys(people.platform.store.db, "bob");
    const { credential_id, public_key } = own!;
    const passkey = {
      credential_id,
      public_key,
      rp_id: "localhost",
      origin: people.platform.urls.gateway,
    };
    const approvers = { signatures_required: 1, keys: [], passkeys: [passkey] };
    const next = { version: 2, approvers, signatures: [] }; // nobody who is pinned has signed it
    await addApprovers(asSuperuser(people.store), next, "0123456789abcdef");
    const { command_id, approval_id } = await order();
    const approved = await approve(bob, phones.bob, approval_id);
    assert.equal(approved.body.status, "approved", JSON.stringify(approved.body));
    const { code, status } = await machine.until(command_id, "refused");
    assert.deepEqual([status, code], ["refused", "approval_missing"]);
  });
});

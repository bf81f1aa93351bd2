import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import type { DeviceCommand, PasskeyApproval, PublicJwk } from "../../contract/domain/mod.ts";
import { approversText, signAsApprover } from "../../operations/devices/protocol/mod.ts";
import type { TestKey } from "../ledger/hostile/_chain.ts";
import {
  copyDevice,
  countRuns,
  type Device,
  enroll,
  readAcceptedSize,
  runAgent,
  TestRunner,
} from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { approve, keys, makeCommand, pins } from "./_ledger.ts";
import { type AnswerDifference, approveByPasskey, makePhone, type Phone } from "./_passkeys.ts";

const FREE = { script: null } as const;

describe("a device that has pinned passkeys of approvers", () => {
  const phones = {
    ann: makePhone("ES256"),
    bob: makePhone("RS256"),
    cy: makePhone("EdDSA"),
    stranger: makePhone("ES256"),
  };
  const pinned = [phones.ann, phones.bob, phones.cy].map(({ passkey }) => passkey);
  let gateway: TestGateway;
  let enrolled: Device;
  let device: Device;
  let runner: TestRunner;
  let sequence = 0;
  before(async () => {
    gateway = await new TestGateway().start();
    const approvers = { signatures_required: 1, keys: [keys.approvers[0]!.hex], passkeys: pinned };
    enrolled = await enroll(gateway, 1, ["--user"], approvers);
  });
  after(() => gateway?.stop());
  beforeEach(async () => {
    device = await copyDevice(enrolled);
    runner = new TestRunner(device);
    sequence = 0;
  });
  afterEach(() => runner?.kill());

  type Approvals = (command: DeviceCommand) => readonly object[];

  /** Issues a command with these approvals, and gives it to the device. */
  async function give(approvals: Approvals, more: Partial<DeviceCommand> = {}) {
    const command = makeCommand(device.id, ++sequence, device.marker, more);
    const issued = await gateway.ledger.issue(command);
    const bundle = { ...issued, approvals: approvals(command) };
    const log = await gateway.ledger.log(readAcceptedSize(device));
    return await runner.ask({ type: "command", log, bundle }, "result");
  }
  const by = (phone: Phone, difference?: AnswerDifference): Approvals => (command) => [
    approveByPasskey(command, phone, difference),
  ];
  async function assertBegins(approvals: Approvals, more?: Partial<DeviceCommand>) {
    const result = await give(approvals, more);
    assert.equal(result.result, "begun", String(result.reason));
  }
  async function assertRefused(approvals: Approvals, code = "approval_missing", more = {}) {
    const before = countRuns(device);
    const result = await give(approvals, more);
    assert.deepEqual([result.result, result.code], ["refused", code], String(result.reason));
    assert.equal(countRuns(device), before);
  }

  for (const [name, phone] of Object.entries(phones).slice(0, 3)) {
    it(`runs what the passkey of ${name} has signed`, () => assertBegins(by(phone)));
  }

  it("runs what was signed in a list", () => assertBegins(by(phones.ann, { listed: true })));

  it("counts keys and passkeys alike, each approver once, for arguments that no script has", async () => {
    await assertRefused(by(phones.ann), "approval_missing", FREE);
    await assertRefused(
      (command) => [1, 2].map(() => approveByPasskey(command, phones.ann)),
      "approval_missing",
      FREE,
    );
    await assertBegins(
      (command) => [phones.ann, phones.bob].map((phone) => approveByPasskey(command, phone)),
      FREE,
    );
    await assertBegins(
      (command) => [approveByPasskey(command, phones.cy), approve(command, keys.approvers[0]!)],
      FREE,
    );
  });

  const differences: Readonly<Record<string, AnswerDifference>> = {
    "of another origin": { deviations: { origin: "https://evil.example" } },
    "of a frame": { deviations: { crossOrigin: true } },
    "for another site": { deviations: { rpId: "evil.example" } },
    "without user verification": { deviations: { flags: 0x01 } },
    "without a person": { deviations: { flags: 0x04 } },
    "of a new credential": { deviations: { type: "webauthn.create" } },
    "about another approval": { statement: { approval: "APR-000000000000" } },
    "about another act": { statement: { act: "0".repeat(64) } },
  };
  for (const [name, difference] of Object.entries(differences)) {
    it(`refuses an answer ${name}`, () => assertRefused(by(phones.ann, difference)));
  }

  it("refuses a passkey that is not pinned, whatever it is called", async () => {
    await assertRefused(by(phones.stranger));
    await assertRefused((command) => {
      const { assertion, ...rest } = approveByPasskey(command, phones.stranger);
      return [{ ...rest, assertion: { ...assertion, credential_id: pinned[0]!.credential_id } }];
    });
  });

  it("refuses the answer to another command, and one of which a byte has changed", async () => {
    const other = makeCommand(device.id, 99, device.marker, { argv: ["/bin/true"] });
    await assertRefused(({ approval }) => [approveByPasskey({ ...other, approval }, phones.ann)]);
    for (const field of ["client_data", "authenticator_data", "signature"] as const) {
      for (const phone of [phones.ann, phones.bob, phones.cy]) {
        await assertRefused((command) => [flipped(approveByPasskey(command, phone), field)]);
      }
    }
    await assertRefused((command) => {
      const one = approveByPasskey(command, phones.ann, { listed: true });
      return [{ ...one, list: { ...one.list!, index: 0 } }];
    });
  });

  it("refuses what has not the form of an answer", async () => {
    const forms: readonly ((one: PasskeyApproval) => object)[] = [
      (one) => ({ ...one, more: 1 }),
      (one) => ({ ...one, salt: "" }),
      (one) => ({ ...one, statement: { ...one.statement, version: true } }),
      (one) => ({ ...one, statement: { ...one.statement, move: "denied" } }),
      (one) => ({ ...one, assertion: { ...one.assertion, signature: 1 } }),
      (one) => ({ ...one, list: { index: 0, path: [] } }),
    ];
    for (const form of forms) {
      await assertRefused((command) => [form(approveByPasskey(command, phones.ann))], "bad_shape");
    }
  });

  it("tells what is pinned, by the fingerprints that the command of the platform prints", async () => {
    const { output } = await runAgent("status", "--state", device.state);
    assert.equal(
      output.match(/approver +passkey, https:\/\/ops\.example +SHA-256 [0-9a-f]{64}/g)?.length,
      3,
    );
  });

  it("pins other passkeys where a pinned key has signed them, and by nobody else's word", async () => {
    const passkeys = [phones.stranger.passkey];
    const approvers = { signatures_required: 1, keys: [keys.approvers[0]!.hex], passkeys };
    const change = { approvers, version: 1 };
    const text = approversText("platform", { ...change });
    const update = (key: TestKey) => ({
      type: "approvers",
      update: { ...change, signatures: [signAsApprover(text, key.privateKey)] },
    });
    assert.equal((await runner.ask(update(keys.ledger), "approvers")).taken, false);
    await assertRefused(by(phones.stranger));
    assert.equal((await runner.ask(update(keys.approvers[0]!), "approvers")).taken, true);
    await assertBegins(by(phones.stranger));
    await assertRefused(by(phones.ann));
  });

  it("pins no passkey of another form", async () => {
    const publicKey = { kty: "EC", crv: "P-384", x: "", y: "" } as unknown as PublicJwk;
    const wrong = { ...pinned[0]!, public_key: publicKey };
    const approvers = { signatures_required: 1, keys: [], passkeys: [wrong] };
    await assert.rejects(enroll(gateway, 1, ["--user"], approvers), /one of P-256, Ed25519 or RSA/);
    gateway.trust = pins(1);
  });

  it("has the lines of the ledger's verifier that check answers", () => {
    const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
    const [, shared] = /has the very lines\.\n+([^]*?)\n+# Up to here/.exec(
      read("ledger/verify_ledger.py"),
    )!;
    assert.match(shared!, /^def check_assertion\(/m);
    assert.ok(read("dist/agent/sealoop_agent.py").includes(shared!));
  });
});

function flipped(
  one: PasskeyApproval,
  field: "client_data" | "authenticator_data" | "signature",
): PasskeyApproval {
  const bytes = Buffer.from(one.assertion[field], "base64url");
  bytes[bytes.length >> 1]! ^= 1;
  return { ...one, assertion: { ...one.assertion, [field]: bytes.toString("base64url") } };
}

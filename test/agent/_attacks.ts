/** Forged commands, by the code with which a device refuses them. */
import type {
  DeviceBundle,
  DeviceCommand,
  DeviceLog,
  DeviceScript,
} from "../../contract/domain/mod.ts";
import { makeKey, type TestKey } from "../ledger/hostile/_chain.ts";
import { type Device, readAcceptedSize } from "./_device.ts";
import { APPEND_LINE, approve, keys, makeCommand, TestLedger } from "./_ledger.ts";

/** A command on its way to a device, as an attacker can change it. */
interface Parcel {
  readonly log: DeviceLog;
  readonly bundle: DeviceBundle;
}

/** A device and its ledger, which an attacker works with. */
export interface Scene {
  readonly device: Device;
  readonly ledger: TestLedger;
  /** Size of the log that the device has accepted. */
  readonly accepted: number;
  /** Issues a command properly, as whoever holds all server keys can. */
  issue(more?: Partial<DeviceCommand>, how?: Parameters<TestLedger["issue"]>[1]): Promise<Parcel>;
}

const flip = (hex: string) => (hex[0] === "0" ? "1" : "0") + hex.slice(1);
const setFirst = <T>(items: readonly T[], first: T): T[] => [first, ...items.slice(1)];
const changeCommand = ({ log, bundle }: Parcel, more: Partial<DeviceCommand>): Parcel => ({
  log,
  bundle: { ...bundle, command: { ...bundle.command, ...more } },
});
const changeRecord = ({ log, bundle }: Parcel, change: (record: string) => string): Parcel => ({
  log,
  bundle: { ...bundle, records: setFirst(bundle.records, change(bundle.records[0]!)) },
});
const edit = (record: string, more: object) => JSON.stringify({ ...JSON.parse(record), ...more });

/** Another ledger with the same first receipts, that whoever holds some server keys goes on with. */
async function fork(
  { device, ledger, accepted }: Scene,
  { from = accepted, log = keys.log, key = keys.ledger }: {
    readonly from?: number;
    readonly log?: TestKey;
    readonly key?: TestKey;
  },
): Promise<Parcel> {
  const other = new TestLedger(ledger.records.slice(0, from));
  other.key = key;
  while (other.records.length < accepted) other.seal({ subject: "another history" });
  const bundle = await other.issue(makeCommand(device.id, 1, device.marker));
  return { log: await other.log(accepted, other.checkpoint({ log })), bundle };
}

/** Forges a command. */
export type Attack = (scene: Scene) => Promise<Parcel>;

/** Attacks by somebody on the way, or with some of the server's keys, and the codes. */
export const ATTACKS: Readonly<Record<string, readonly [string, Attack]>> = {
  "a field too many in the command": [
    "bad_shape",
    async ({ issue }) => {
      const { log, bundle } = await issue();
      return {
        log,
        bundle: { ...bundle, command: { ...bundle.command, shell: true } as DeviceCommand },
      };
    },
  ],
  "a number of another type": [
    "bad_shape",
    async ({ issue }) => changeCommand(await issue(), { sequence: 1.5 }),
  ],
  "no proofs": [
    "bad_shape",
    async ({ issue }) => {
      const { log, bundle } = await issue();
      return { log, bundle: { ...bundle, proofs: [] } };
    },
  ],
  "a log that somebody else signs": [
    "checkpoint_signature",
    (scene) => fork(scene, { log: keys.stranger }),
  ],
  "a root that was changed under the signature": [
    "checkpoint_signature",
    async ({ issue, ledger }) => {
      const { log, bundle } = await issue();
      const other = ledger.checkpoint({ size: 3 }).split("\n")[2]!;
      const lines = log.checkpoint.split("\n");
      lines[2] = other;
      return { log: { ...log, checkpoint: lines.join("\n") }, bundle };
    },
  ],
  "one witness where two are needed": [
    "checkpoint_quorum",
    async ({ issue, ledger }) => {
      const { log, bundle } = await issue();
      return { log: { ...log, checkpoint: ledger.checkpoint({ cosigners: [0] }) }, bundle };
    },
  ],
  "one witness twice": [
    "checkpoint_quorum",
    async ({ issue, ledger }) => {
      const { log, bundle } = await issue();
      return { log: { ...log, checkpoint: ledger.checkpoint({ cosigners: [0, 0] }) }, bundle };
    },
  ],
  "a cosignature that is damaged, beside enough good ones": [
    "checkpoint_quorum",
    async ({ issue, ledger }) => {
      const { log, bundle } = await issue();
      const lines = ledger.checkpoint({ cosigners: [0, 1, 2] }).split("\n");
      const at = lines.length - 2;
      const bytes = Buffer.from(lines[at]!.split(" ")[2]!, "base64");
      bytes[bytes.length - 40]! ^= 1;
      lines[at] = `${lines[at]!.split(" ").slice(0, 2).join(" ")} ${bytes.toString("base64")}`;
      return { log: { ...log, checkpoint: lines.join("\n") }, bundle };
    },
  ],
  "a log as it was before": [
    "checkpoint_older",
    async ({ issue, ledger, accepted }) => {
      const { bundle } = await issue();
      return { log: await ledger.log(1, ledger.checkpoint({ size: accepted - 1 })), bundle };
    },
  ],
  "a history that was written anew, signed by log and witnesses": [
    "checkpoint_inconsistent",
    (scene) => fork(scene, { from: 3 }),
  ],
  "a proof of consistency from another size": [
    "checkpoint_inconsistent",
    async ({ issue, ledger, accepted }) => {
      const { bundle } = await issue();
      return { log: await ledger.log(accepted - 2), bundle };
    },
  ],
  "a receipt whose fields were changed": [
    "record_invalid",
    async ({ issue }) =>
      changeRecord(await issue(), (record) => edit(record, { outcome: "failed" })),
  ],
  "a receipt whose hash is another": [
    "record_invalid",
    async ({ issue }) =>
      changeRecord(
        await issue(),
        (record) => edit(record, { hash_sha256: flip(JSON.parse(record).hash_sha256) }),
      ),
  ],
  "a receipt whose signature was changed": [
    "record_invalid",
    async ({ issue }) =>
      changeRecord(await issue(), (record) => {
        const { signature } = JSON.parse(record);
        return edit(record, { signature: { ...signature, value: flip(signature.value) } });
      }),
  ],
  "a receipt with a field twice": [
    "record_invalid",
    async ({ issue }) =>
      changeRecord(await issue(), (record) => record.replace("{", '{"outcome":"ok",')),
  ],
  "a receipt that another key has signed": [
    "record_invalid",
    (scene) => fork(scene, { key: keys.stranger }),
  ],
  "a key that the ledger's own never handed over to": [
    "succession_invalid",
    async ({ device, ledger, accepted }) => {
      const other = new TestLedger(ledger.records.slice());
      const next = makeKey("taken over");
      other.rotate(next, keys.stranger);
      const rotations = [other.records.length - 1];
      const bundle = await other.issue(makeCommand(device.id, 1, device.marker), { rotations });
      return { log: await other.log(accepted), bundle };
    },
  ],
  "a handover that the new key has not signed": [
    "succession_invalid",
    async ({ device, ledger, accepted }) => {
      const other = new TestLedger(ledger.records.slice());
      other.rotate(makeKey("next"), keys.ledger, keys.stranger);
      const rotations = [other.records.length - 1];
      const bundle = await other.issue(makeCommand(device.id, 1, device.marker), { rotations });
      return { log: await other.log(accepted), bundle };
    },
  ],
  "a receipt that the log does not have": [
    "not_included",
    async ({ issue, ledger, device }) => {
      const { log, bundle } = await issue();
      const other = new TestLedger(ledger.records.slice(0, -1));
      const { records, command, salt } = await other.issue(
        makeCommand(device.id, 1, device.marker),
      );
      return { log, bundle: { ...bundle, records, command, salt } };
    },
  ],
  "a proof of another receipt": [
    "not_included",
    async ({ issue, ledger }) => {
      const { log, bundle } = await issue();
      return { log, bundle: { ...bundle, proofs: [await ledger.proof(2)] } };
    },
  ],
  "other arguments": [
    "commitment_mismatch",
    async ({ issue, device }) =>
      changeCommand(await issue(), { argv: ["/bin/sh", "-c", 'echo evil >> "$0"', device.marker] }),
  ],
  "another user": [
    "commitment_mismatch",
    async ({ issue }) => changeCommand(await issue(), { user: "root" }),
  ],
  "a later expiry": [
    "commitment_mismatch",
    async ({ issue }) => changeCommand(await issue(), { expires_at: "2099-01-01T00:00:00Z" }),
  ],
  "another salt": [
    "commitment_mismatch",
    async ({ issue }) => {
      const { log, bundle } = await issue();
      return { log, bundle: { ...bundle, salt: flip(bundle.salt) } };
    },
  ],
  "a command for another device": [
    "other_device",
    ({ issue }) => issue({ device_id: "DEV-0123456789ab" }),
  ],
  "a number that was used": ["sequence_used", ({ issue }) => issue({ sequence: 0 })],
  "a command that has expired": [
    "expired",
    ({ issue }) => issue({ expires_at: new Date(Date.now() - 1000).toISOString() }),
  ],
  "a receipt of something else": [
    "wrong_receipt",
    ({ issue }) => issue({}, { receipt: { category: "platform_fix", action: "restart" } }),
  ],
  "a user that this machine does not have": [
    "out_of_bounds",
    ({ issue }) => issue({ user: "nobody-of-that-name" }),
  ],
  "more time than a command may have": [
    "out_of_bounds",
    ({ issue }) => issue({ timeout_seconds: 1_000_000 }),
  ],
};

/** Changes the release of a command that one approver has signed. */
const withRelease = (
  change: (scene: Scene, parcel: Parcel) => Promise<DeviceBundle["release"]>,
  more: Partial<DeviceCommand> = {},
): Attack =>
async (scene) => {
  const parcel = await scene.issue(more, { approvers: [keys.approvers[0]!] });
  const { release: _, ...bundle } = parcel.bundle;
  const release = await change(scene, parcel);
  return {
    log: await scene.ledger.log(readAcceptedSize(scene.device)),
    bundle: { ...await scene.ledger.proveAgain(bundle), ...(release ? { release } : {}) },
  };
};
const released = (_: Scene, { bundle }: Parcel) => Promise.resolve(bundle.release);
const releaseAs = (script: DeviceScript, category?: string) => ({ ledger }: Scene) =>
  ledger.release(ledger.releaseScript(script, category), script);

/** Attacks by which the operator passes arguments off as a script, where one approver has signed. */
const LABELS: Readonly<Record<string, Attack>> = {
  "no release at all": withRelease(() => Promise.resolve(undefined)),
  "other arguments than the script's": withRelease(released, { argv: ["/bin/sh", "-c", "id"] }),
  "an argument more": withRelease(released, { argv: [...APPEND_LINE.argv, "/tmp/x"] }),
  "a value that the pattern does not take": withRelease(released, {
    argv: [...APPEND_LINE.argv.slice(0, -1), "relative"],
  }),
  "another user": withRelease(released, { user: "root" }),
  "more time than the script has": withRelease(released, { timeout_seconds: 121 }),
  "the hash of another version": withRelease(released, {
    script: { id: "append-line", version: 1, sha256: "cd".repeat(32) },
  }),
  "a release that the receipt does not commit to": withRelease(async (_, { bundle }) => ({
    ...bundle.release!,
    script: { ...APPEND_LINE, argv: ["{file}"] },
  })),
  "a receipt that releases nothing": withRelease(releaseAs(APPEND_LINE, "platform_fix")),
  "a release of the log that somebody else has sealed": withRelease(async ({ ledger }) => {
    const other = new TestLedger(ledger.records.slice(0, -1));
    other.key = keys.stranger;
    const record = other.releaseScript(APPEND_LINE);
    return { ...await ledger.release(ledger.records[5]!), record };
  }),
  "a release that the log does not have": withRelease(async ({ ledger }) => {
    const other = new TestLedger(ledger.records.slice(0, 3));
    return {
      ...await ledger.release(ledger.records[5]!),
      record: other.releaseScript(APPEND_LINE),
    };
  }),
  "a pattern that is none": withRelease(
    releaseAs({ ...APPEND_LINE, parameters: { file: { pattern: "(", lines: false } } }),
  ),
  "a value that passes for an option": withRelease(
    releaseAs({ ...APPEND_LINE, parameters: { file: { pattern: ".*", lines: false } } }),
    { argv: [...APPEND_LINE.argv.slice(0, -1), "-x"] },
  ),
};

/** Attacks by the operator with all server keys, on a device that has approvers' signatures pinned. */
export const OPERATORS: Readonly<Record<string, Attack>> = {
  "no signature": ({ issue }) => issue(),
  "no approval at all": ({ issue }) => issue({ approval: null }),
  "a signature of a key that is not pinned": ({ issue }) =>
    issue({}, { approvers: [keys.stranger] }),
  "the signature of another command": async ({ issue, device }) => {
    const { log, bundle } = await issue();
    const other = makeCommand(device.id, 1, device.marker, { argv: ["/bin/true"] });
    return { log, bundle: { ...bundle, approvals: [approve(other, keys.approvers[0]!)] } };
  },
  "a genuine signature, and the action's hash put beside other arguments": async (
    { issue, device },
  ) => {
    const approved = makeCommand(device.id, 1, device.marker, { argv: ["/bin/true"] });
    const parcel = await issue({ command_id: approved.command_id, approval: approved.approval });
    const approvals = [approve(approved, keys.approvers[0]!)];
    return { ...parcel, bundle: { ...parcel.bundle, approvals } };
  },
  ...Object.fromEntries(
    Object.entries(LABELS).map((
      [name, attack],
    ) => [`one signature, for a script with ${name}`, attack]),
  ),
  "one approver's signature twice, for arguments that no script has": ({ issue }) =>
    issue({ script: null }, { approvers: [keys.approvers[0]!, keys.approvers[0]!] }),
};

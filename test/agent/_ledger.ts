/** A platform as devices see it, with all its keys from fixed seeds: ledger, log, witnesses, approvers. */
import { hash, sign } from "node:crypto";
import { computeLeafHash, sha256 } from "../../ledger/crypto/mod.ts";
import {
  APPROVAL_DOMAIN,
  type DeviceBundle,
  type DeviceCommand,
  type DeviceLog,
  type DeviceScript,
} from "../../contract/domain/mod.ts";
import {
  buildConsistencyProof,
  buildInclusionProof,
  formatVerifierKey,
  type ReadHashes,
} from "../../ledger/log/mod.ts";
import type { NoteKey } from "../../ledger/notes/mod.ts";
import { formatReceiptTime } from "../../ledger/receipts/mod.ts";
import { canonicalize, formatRotation } from "../../ledger/rules/mod.ts";
import { commitTo } from "../../store/mod.ts";
import {
  cosignLine,
  hashOf,
  makeKey,
  seal,
  signLine,
  stateCheckpoint,
  type TestKey,
} from "../ledger/hostile/_chain.ts";

const ORIGIN = "ledger.example";
const note = (name: string, { publicKey }: TestKey, kind: NoteKey["kind"]): NoteKey => ({
  name,
  publicKey,
  kind,
});

export const keys = {
  ledger: makeKey("device ledger"),
  recovery: makeKey("device ledger recovery"),
  log: makeKey("device log"),
  witnesses: ["w1", "w2", "w3"].map((name) => makeKey(`device witness ${name}`)),
  approvers: ["a1", "a2", "a3"].map((name) => makeKey(`device approver ${name}`)),
  stranger: makeKey("stranger"),
};
const logNote = note(ORIGIN, keys.log, "log");
const witnessNotes = keys.witnesses.map((key, n) =>
  note(`witness.example/w${n + 1}`, key, "witness")
);

/** Returns the keys that the install script pins. @param required number of approvers' signatures */
export const pins = (required = 0) => ({
  ledger_keys: [
    { public_key: keys.ledger.hex, from_position: 0, recovery_key: keys.recovery.hex },
  ],
  log_key: formatVerifierKey(logNote),
  witnesses: witnessNotes.map(formatVerifierKey),
  quorum: 2,
  approvers: { signatures_required: required, keys: keys.approvers.map(({ hex }) => hex) },
});

/** A chain with its log. The clock is the server's: tests set how far it is from this machine's. */
export class TestLedger {
  readonly records: string[];
  key = keys.ledger;
  clockOffsetMs = 0;

  /** @param before records that it begins with */
  constructor(before: readonly string[] = []) {
    this.records = [...before];
    if (before.length > 0) return;
    const details = { ledger_key: keys.ledger.hex, recovery_key: keys.recovery.hex };
    this.seal({ category: "ledger_genesis", action: "began", details });
    for (let n = 0; n < 4; n++) this.seal({});
    this.releaseScript(APPEND_LINE);
  }

  now(): Date {
    return new Date(Date.now() + this.clockOffsetMs);
  }

  /** Seals a receipt, and returns its record. */
  seal(fields: Readonly<Record<string, unknown>>, key = this.key): string {
    const position = this.records.length;
    const content = {
      id: hash("sha256", `device receipt ${position}`).slice(0, 16),
      timestamp: formatReceiptTime(this.now()),
      category: "platform_fix",
      actor: "itsm-loop",
      subject: "service-1",
      action: "restart",
      outcome: "ok",
      human_input: "",
      details: {},
      ...fields,
    };
    this.records.push(seal(content, position, hashOf(this.records.at(-1)), key));
    return this.records.at(-1)!;
  }

  /** Seals a receipt that commits to a private text, and returns its record and the salt. */
  sealPrivately(fields: Readonly<Record<string, unknown>>, name: string, value: unknown) {
    const { commitment, salt } = commitTo(canonicalize(value));
    const details = { ...fields.details as object, commitments: { [name]: commitment } };
    return { record: this.seal({ ...fields, details }), salt: salt.toString("hex") };
  }

  /** Releases a script, and returns the receipt. */
  releaseScript(script: DeviceScript, category = "script_release"): string {
    const script_1 = hash(
      "sha256",
      Buffer.concat([Buffer.from(RELEASE_SALT, "hex"), Buffer.from(canonicalize(script))]),
    );
    return this.seal({
      category,
      action: "scripts.release",
      details: { commitments: { script_1 } },
    });
  }

  /** Returns the proof that a command is a released script. */
  async release(
    record: string,
    script: DeviceScript = APPEND_LINE,
  ): Promise<NonNullable<DeviceBundle["release"]>> {
    const proof = await this.proof(this.records.indexOf(record));
    return { script, salt: RELEASE_SALT, record, proof };
  }

  /** Hands over to another key, and returns the receipt. */
  rotate(next: TestKey, signer = this.key, proof = next): string {
    const position = this.records.length;
    const statement = formatRotation({
      firstKey: keys.ledger.hex,
      oldKey: this.key.hex,
      newKey: next.hex,
      position,
      previousHash: hashOf(this.records.at(-1)),
    });
    const details = {
      first_key: keys.ledger.hex,
      old_key: this.key.hex,
      new_key: next.hex,
      recovery_key: keys.recovery.hex,
      from_position: position + 1,
      new_key_signature: sign(null, Buffer.from(statement), proof.privateKey).toString("hex"),
    };
    const record = this.seal({ category: "key_rotated", action: "rotated", details }, signer);
    this.key = next;
    return record;
  }

  /** Returns the signed checkpoint of the first `size` receipts. */
  checkpoint({ size = this.records.length, log = keys.log, cosigners = [0, 1] }: {
    size?: number;
    log?: TestKey;
    cosigners?: readonly number[];
  } = {}): string {
    const text = stateCheckpoint(ORIGIN, this.records.slice(0, size));
    return [
      `${text}\n`,
      signLine(text, note(ORIGIN, log, "log"), log),
      ...cosigners.map((n) => cosignLine(text, witnessNotes[n]!, keys.witnesses[n]!)),
    ].join("");
  }

  /** Returns the log for a device that has accepted `from` receipts. */
  async log(from: number, checkpoint = this.checkpoint()): Promise<DeviceLog> {
    const size = Number(checkpoint.split("\n")[1]);
    const proof = from < size ? await buildConsistencyProof(from, size, this.#read, sha256) : [];
    return { checkpoint, consistency: proof.map(toHex) };
  }

  async proof(position: number, size = this.records.length) {
    const text = this.records[position]!;
    const { id } = JSON.parse(text);
    const hashes = await buildInclusionProof(position, size, this.#read, sha256);
    return { leaf: leafOf(text, position, id), hashes: hashes.map(toHex) };
  }

  readonly #read: ReadHashes = (level, from, to) => {
    if (level > 0) throw new Error("Test ledgers have less than 256 receipts");
    return Promise.resolve(
      this.records.slice(from, to).map((text, n) =>
        computeLeafHash({ position: from + n, id: JSON.parse(text).id, text })
      ),
    );
  };

  /** Returns a bundle with proofs for a checkpoint, by default the newest. */
  async proveAgain(bundle: DeviceBundle, size = this.records.length): Promise<DeviceBundle> {
    const positions = bundle.records.map((record) => this.records.indexOf(record));
    const proofs = await Promise.all(positions.map((n) => this.proof(n, size)));
    if (!bundle.release) return { ...bundle, proofs };
    const proof = await this.proof(this.records.indexOf(bundle.release.record), size);
    return { ...bundle, proofs, release: { ...bundle.release, proof } };
  }

  /** Issues a command: seals its receipt, and makes the bundle. @param rotations that the device does not know, positions */
  async issue(
    command: DeviceCommand,
    { approvers = [], rotations = [], receipt = {} }: {
      approvers?: readonly TestKey[];
      rotations?: readonly number[];
      receipt?: Readonly<Record<string, unknown>>;
    } = {},
  ): Promise<DeviceBundle> {
    const fields = {
      category: "device_command",
      action: "issued",
      subject: command.device_id,
      details: { command_id: command.command_id },
      ...receipt,
    };
    const { record, salt } = this.sealPrivately(fields, "command", command);
    const positions = [this.records.length - 1, ...rotations];
    const release = this.records.find((text) => JSON.parse(text).category === "script_release");
    return {
      command,
      salt,
      records: positions.map((n) => n === positions[0] ? record : this.records[n]!),
      proofs: await Promise.all(positions.map((n) => this.proof(n))),
      approvals: approvers.map((key) => approve(command, key)),
      ...(release && command.script ? { release: await this.release(release) } : {}),
    };
  }
}

const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

function leafOf(text: string, position: number, id: string): string {
  const record_sha256 = hash("sha256", canonicalize(JSON.parse(text)));
  return canonicalize({ chain_position: position, id, record_sha256 });
}

/** Returns the hash that approvers sign: of the command without its number and its approval. */
function hashAction({ sequence: _, approval: __, ...action }: DeviceCommand): string {
  return hash("sha256", canonicalize(action));
}

/** Signs a command as an approver. */
export function approve(command: DeviceCommand, { hex, privateKey }: TestKey) {
  const { command_id, device_id } = command;
  const text = canonicalize({
    action_sha256: hashAction(command),
    approval_id: command.approval!.approval_id,
    command_id,
    device_id,
  });
  const signature = sign(null, Buffer.from(APPROVAL_DOMAIN + text), privateKey);
  return { key: hex, signature: signature.toString("hex") };
}

/** The script that {@linkcode makeCommand} makes commands of. */
export const APPEND_LINE: DeviceScript = {
  id: "append-line",
  version: 1,
  sha256: "ab".repeat(32),
  argv: ["/bin/sh", "-c", 'echo ran >> "$0"; echo output', "{file}"],
  parameters: { file: { pattern: "/[^\\n]+", lines: false } },
  user: "agent",
  timeout_seconds: 120,
  output_bytes: 1000,
  read_only: false,
};
const RELEASE_SALT = "5a".repeat(32);

let made = 0;

/** Makes a command that appends a line to a file, with an approval of its very action. */
export function makeCommand(
  device_id: string,
  sequence: number,
  file: string,
  more: Partial<DeviceCommand> = {},
): DeviceCommand {
  const command: DeviceCommand = {
    command_id: `CMD-${(++made).toString(16).padStart(12, "0")}`,
    device_id,
    sequence,
    argv: [...APPEND_LINE.argv.slice(0, -1), file],
    user: "agent",
    timeout_seconds: 120,
    output_bytes: 1000,
    read_only: false,
    script: { id: APPEND_LINE.id, version: APPEND_LINE.version, sha256: APPEND_LINE.sha256 },
    expires_at: new Date(Date.now() + 600_000).toISOString(),
    approval: null,
    ...more,
  };
  if (command.approval) return command;
  const approval = {
    approval_id: "APR-0123456789ab",
    action_sha256: hashAction(command),
    needed: 1,
  };
  return { ...command, approval };
}

/** Chains of era 3 that tests sign with keys of their own, valid or not. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { printRecord } from "../../../ledger/receipts/mod.ts";
import {
  canonicalize,
  formatRotation,
  nameKey,
  type TrustedKey,
} from "../../../ledger/rules/mod.ts";

/** A key pair; the public key as hex. */
export interface TestKey {
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** Makes a key. */
export function makeKey(): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  return { privateKey, publicKey: raw.toString("hex") };
}

/** Returns a published key. */
export function publish(key: TestKey, fromPosition: number, recovery?: TestKey): TrustedKey {
  const base = { publicKey: key.publicKey, fromPosition };
  return recovery ? { ...base, recoveryKey: recovery.publicKey } : base;
}

/** Parts of a rotation that a test makes wrong. */
export interface RotationFaults {
  readonly signedBy?: TestKey;
  /** Signer of the proof; default: the new key. */
  readonly provenBy?: TestKey;
  /** Position that the proof is of. */
  readonly provenAt?: number;
  readonly recovery?: TestKey;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A chain that grows. */
export class TestChain {
  readonly records: string[];
  #hash: string;
  #first: TestKey | undefined;

  /** @param before records that it continues */
  constructor(before: readonly string[] = []) {
    this.records = [...before];
    this.#hash = before.length > 0 ? JSON.parse(before.at(-1)!).hash_sha256 : "";
  }

  get size(): number {
    return this.records.length;
  }

  /** Adds receipts that are like any others. */
  seal(key: TestKey, count = 1): this {
    for (let n = 0; n < count; n++) this.add(key, "test", {});
    return this;
  }

  genesis(key: TestKey, recovery: TestKey, details: Readonly<Record<string, unknown>> = {}): this {
    this.#first ??= key;
    return this.add(key, "ledger_genesis", {
      ledger_key: key.publicKey,
      recovery_key: recovery.publicKey,
      ...details,
    });
  }

  adopt(
    key: TestKey,
    recovery: TestKey,
    before: readonly TrustedKey[],
    details: Readonly<Record<string, unknown>> = {},
  ): this {
    this.#first ??= key;
    return this.add(key, "ledger_adopted", {
      ledger_key: key.publicKey,
      recovery_key: recovery.publicKey,
      size: this.size,
      head: this.#hash,
      keys: before.map(nameKey),
      ...details,
    });
  }

  rotate(oldKey: TestKey, newKey: TestKey, recovery: TestKey, faults: RotationFaults = {}): this {
    const { signedBy = oldKey, provenBy = newKey, provenAt = this.size } = faults;
    const statement = formatRotation({
      firstKey: (this.#first ?? oldKey).publicKey,
      oldKey: oldKey.publicKey,
      newKey: newKey.publicKey,
      position: provenAt,
      previousHash: this.#hash,
    });
    return this.add(signedBy, "key_rotated", {
      first_key: (this.#first ?? oldKey).publicKey,
      old_key: oldKey.publicKey,
      new_key: newKey.publicKey,
      recovery_key: (faults.recovery ?? recovery).publicKey,
      from_position: this.size + 1,
      new_key_signature: sign(null, Buffer.from(statement), provenBy.privateKey).toString("hex"),
      ...faults.details,
    });
  }

  /** Adds a receipt of any category. */
  add(key: TestKey, category: string, details: Readonly<Record<string, unknown>>): this {
    const record = Buffer.from(canonicalize({
      id: `receipt-${this.size}`,
      timestamp: "2026-07-01T09:00:00.000000+00:00",
      category,
      actor: "tester",
      subject: "subject",
      action: "act",
      outcome: "ok",
      human_input: "",
      details,
      schema_version: "3.0",
      chain_position: this.size,
      prev_hash: this.#hash,
    }));
    this.#hash = createHash("sha256").update(record).digest("hex");
    this.records.push(printRecord({
      record,
      hash: this.#hash,
      publicKey: key.publicKey,
      signature: sign(null, record, key.privateKey).toString("hex"),
    }));
    return this;
  }
}

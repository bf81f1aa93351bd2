import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import type pg from "pg";
import type { Store } from "../../store/mod.ts";
import { BadKeyFile, type SigningKey } from "../crypto/mod.ts";
import { SealingHeld } from "./_trouble.ts";

/** A new recovery key. The platform keeps its public key alone. */
export interface NewRecoveryKey {
  /** 32 bytes as hex. */
  readonly publicKey: string;
  /** For the operator, to be kept offline: PKCS#8 in base64, one line. */
  readonly secret: string;
}

/** Makes a recovery key. */
export function makeRecoveryKey(): NewRecoveryKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    publicKey: Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url").toString("hex"),
    secret: privateKey.export({ format: "der", type: "pkcs8" }).toString("base64"),
  };
}

/** Parses a private recovery key: as it was shown, or in PEM form. @throws {BadKeyFile} it is neither */
export function parseRecoveryKey(text: string): SigningKey {
  const plain = text.trim();
  try {
    const privateKey = plain.startsWith("-----")
      ? createPrivateKey(plain)
      : createPrivateKey({ key: Buffer.from(plain, "base64"), format: "der", type: "pkcs8" });
    if (privateKey.asymmetricKeyType !== "ed25519") throw new Error("not an Ed25519 key");
    const { x } = createPublicKey(privateKey).export({ format: "jwk" });
    return { privateKey, publicKey: Buffer.from(x!, "base64url") };
  } catch (cause) {
    throw new BadKeyFile("The recovery key is no Ed25519 private key, in PEM or as it was shown", {
      cause,
    });
  }
}

/** Which recovery key a new ledger begins with. */
export interface RecoveryKeyChoice {
  /** Public key that was made elsewhere, hex. Default: one is made. */
  readonly publicKey?: string | undefined;
  /**
   * Shows the private key to the operator. It is called before anything is stored: after a crash another one is made and
   * shown.
   */
  show(secret: string): void | Promise<void>;
}

/** Key of the advisory lock under which the recovery key is made, so that one is shown. */
const LOCK = 7_365_616_115;

/**
 * Stores the public recovery key that the ledger begins with, once, in its database: so it is the same on all machines.
 * Nothing else is stored of one that is made.
 *
 * @param owner a store of role `owner`
 * @returns false where the ledger has a recovery key already
 */
export async function ensureRecoveryKey(
  owner: Store,
  { publicKey, show }: RecoveryKeyChoice,
): Promise<boolean> {
  return await owner.asPlatform().transaction(async (trx) => {
    await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    const row = await trx.first<{ known: boolean }>(
      `SELECT EXISTS (SELECT FROM ledger_recovery)
         OR EXISTS (SELECT FROM ledger_keys WHERE recovery_key IS NOT NULL) AND NOT EXISTS (
           SELECT FROM ledger_import i JOIN ledger_head h ON h.size = i.size WHERE i.finished_at IS NOT NULL
         ) AS known`,
    );
    if (row!.known) return false;
    let chosen = publicKey;
    if (chosen === undefined) {
      const made = makeRecoveryKey();
      await show(made.secret);
      chosen = made.publicKey;
    }
    await trx.execute("INSERT INTO ledger_recovery (public_key) VALUES ($1)", [
      Buffer.from(chosen, "hex"),
    ]);
    return true;
  });
}

/**
 * Returns the public recovery key that a new ledger begins with, hex.
 *
 * @param configured by the sequencer's settings; it is stored where there is none
 * @throws {SealingHeld} there is none, or two that differ
 */
export async function chooseRecoveryKey(
  writer: pg.ClientBase,
  configured: string | undefined,
): Promise<string> {
  const { rows: [row] } = await writer.query(
    "SELECT encode(public_key, 'hex') AS public_key FROM ledger_recovery",
  );
  const stored: string | undefined = row?.public_key;
  if (stored === undefined && configured === undefined) {
    throw new SealingHeld(
      "The new ledger has no recovery key. Make one where you can keep it: npm run keys -- ledger make-recovery-key",
    );
  }
  if (stored === undefined) {
    await writer.query("INSERT INTO ledger_recovery (public_key) VALUES ($1)", [
      Buffer.from(configured!, "hex"),
    ]);
    return configured!;
  }
  if (configured === undefined || configured === stored) return stored;
  throw new SealingHeld(
    `The new ledger has two recovery keys: ${stored} in the database, and ${configured} of SEALOOP_LEDGER_RECOVERY_KEY. ` +
      "Unset the setting, or set it to the one in the database",
  );
}

import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { BadKeyFile, type SigningKey } from "../crypto/mod.ts";
import { readIfPresent, writeDurably } from "../log/mod.ts";

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

/** Returns the path of the public recovery key that a new ledger beside this key begins with. */
const recoveryKeyFile = (keyFile: string): string => `${keyFile}.recovery`;

/** Returns the public recovery key that a new ledger is to begin with, or undefined where none was made. */
export async function readRecoveryKey(keyFile: string): Promise<string | undefined> {
  return (await readIfPresent(recoveryKeyFile(keyFile)))?.trim();
}

/**
 * Makes the recovery key of a ledger that has not begun. Only its public key is stored.
 *
 * @param keyFile of the key that will sign the ledger
 * @param show shows the private key to the operator. It is called before anything is stored: after a crash another one
 * is made and shown
 * @returns false where the ledger has a key already
 */
export async function ensureRecoveryKey(
  keyFile: string,
  show: (secret: string) => void,
): Promise<boolean> {
  if (existsSync(keyFile) || existsSync(recoveryKeyFile(keyFile))) return false;
  const { publicKey, secret } = makeRecoveryKey();
  show(secret);
  await writeDurably(recoveryKeyFile(keyFile), `${publicKey}\n`, 0o644);
  return true;
}

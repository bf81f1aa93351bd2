import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";

/** A key that signs: the ledger's, which the sequencer alone has, or that of a place. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  /** 32 bytes. */
  readonly publicKey: Buffer;
}

/** The key file can't be trusted. */
export class BadKeyFile extends Error {
  override readonly name = "BadKeyFile";
}

/**
 * Reads a signing key, or creates it where there is none yet, once for all processes that begin at the same time.
 *
 * @param path a PEM file of mode 0600 or stricter, owned by this process's user
 * @throws {BadKeyFile} others could have read or written it, or it holds something else
 */
export function loadSigningKey(path: string): SigningKey {
  const pem = create(path) ?? read(path);
  try {
    const privateKey = createPrivateKey(pem);
    if (privateKey.asymmetricKeyType !== "ed25519") throw new Error("not an Ed25519 key");
    return { privateKey, publicKey: rawPublicKey(privateKey) };
  } catch (cause) {
    throw new BadKeyFile(`${path} holds no Ed25519 private key in PEM form`, { cause });
  }
}

/** Creates the file, with all of its content at once; returns undefined where there is one. */
function create(path: string): string | undefined {
  if (existsSync(path)) return undefined;
  const pem = String(
    generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }),
  );
  const temporary = `${path}.${randomUUID()}.new`;
  try {
    writeFileSync(temporary, pem, { mode: 0o600, flag: "wx", flush: true });
    linkSync(temporary, path);
    return pem;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined; // another process was faster
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function read(path: string): string {
  const file = openSync(path, "r");
  try {
    const { mode, uid } = fstatSync(file);
    if ((mode & 0o077) !== 0) {
      throw new BadKeyFile(
        `${path} can be read by others (mode ${(mode & 0o777).toString(8)}); set it to 600`,
      );
    }
    if (process.getuid && uid !== process.getuid()) {
      throw new BadKeyFile(
        `${path} belongs to user ${uid}, not to the one that runs this process`,
      );
    }
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

function rawPublicKey(privateKey: KeyObject): Buffer {
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  return Buffer.from(x!, "base64url");
}

import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { BadSetting, type Config } from "../config.ts";
import { loadWebhookKey, WEBHOOK_KEY_FILE } from "../integrations/webhooks/mod.ts";
import { ENGINE_SECRET_FILE, loadEngineSecret } from "../judgement/engine/mod.ts";
import type { Store } from "../store/mod.ts";
import {
  findSharedSecret,
  noteSharedSecret,
  type SharedSecretName,
} from "../store/platform/mod.ts";

/** Where a process has such a secret from: a setting, or a file of the data folder. */
interface SecretSource {
  readonly title: string;
  readonly setting: "SEALOOP_ENGINE_SECRET" | "SEALOOP_WEBHOOK_KEY";
  readonly file: string;
  /** Creates the file where there is neither. */
  load(config: Config): string | Buffer;
}

const SOURCES: Readonly<Record<SharedSecretName, SecretSource>> = {
  engine: {
    title: "the engine's secret",
    setting: "SEALOOP_ENGINE_SECRET",
    file: ENGINE_SECRET_FILE,
    load: loadEngineSecret,
  },
  webhooks: {
    title: "the key of the webhooks' secrets",
    setting: "SEALOOP_WEBHOOK_KEY",
    file: WEBHOOK_KEY_FILE,
    load: loadWebhookKey,
  },
};

const SALT_BYTES = 32;
const derive = promisify(scrypt) as (
  secret: string | Buffer,
  salt: Buffer,
  length: number,
) => Promise<Buffer>;

/**
 * Checks that this process has the secrets that the others have. The first process of a platform notes their fingerprints.
 *
 * @param names of those that this process uses
 * @throws {BadSetting} one is missing, or another one; the message names the setting
 */
export async function requireSharedSecrets(
  store: Store,
  config: Config,
  names: readonly SharedSecretName[],
): Promise<void> {
  for (const name of names) {
    const secret = SOURCES[name];
    const db = store.asPlatform();
    const known = await findSharedSecret(db, name);
    if (known && !isThere(secret, config)) throw missing(name);
    const value = secret.load(config);
    const { salt, fingerprint } = known ?? await note(store, name, value);
    const own = await derive(value, salt, fingerprint.length);
    if (!timingSafeEqual(own, fingerprint)) throw different(name, config);
  }
}

async function note(store: Store, name: SharedSecretName, value: string | Buffer) {
  const salt = randomBytes(SALT_BYTES);
  const fingerprint = await derive(value, salt, SALT_BYTES);
  return await noteSharedSecret(store.asPlatform(), name, { salt, fingerprint });
}

function isThere({ setting, file }: SecretSource, { settings, dataDir }: Config): boolean {
  return settings[setting] !== undefined || existsSync(join(dataDir, file));
}

function missing(name: SharedSecretName): BadSetting {
  const { title, setting, file } = SOURCES[name];
  return new BadSetting(
    `Cannot start without ${title}, which the platform's other processes have: set ${setting} to theirs, or copy ` +
      `${file} of their data folder. ${replacing(name)}`,
  );
}

function different(name: SharedSecretName, { settings }: Config): BadSetting {
  const { title, setting, file } = SOURCES[name];
  const own = settings[setting] === undefined ? `${file} of the data folder` : setting;
  return new BadSetting(
    `Cannot start: ${own} differs from ${title} of the platform's other processes: set ${setting} to theirs. ` +
      replacing(name),
  );
}

const replacing = (name: SharedSecretName) =>
  `To replace it for all of them, stop them and run npm run database -- forget ${name}`;

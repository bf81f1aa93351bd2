import { createHash, timingSafeEqual } from "node:crypto";
import { type Caller, Problem, type CallRequest } from "../contract/mod.ts";
import { KEY_PREFIX } from "../domain/mod.ts";
import {
  findKey,
  hashKey,
  isKeyShaped,
  type KeyRecord,
  KEYS_CHANGED,
  listen,
  type Store,
  touchKeys,
} from "../store/mod.ts";

/** Looks keys up, remembering what it found until it is told that they changed. */
export interface Keyring {
  /** The record of a key as sent, or undefined where it is unknown, revoked or expired. */
  find(key: string): Promise<KeyRecord | undefined>;
  close(): Promise<void>;
}

const MOST_REMEMBERED = 10_000;
const TOUCH_MS = 5_000;

/**
 * Opens a keyring. What it remembers is forgotten at the notification of a change, and nothing is remembered
 * while the notifications can't be heard: so a revoked key is refused at once by every process.
 */
export async function openKeyring(store: Store): Promise<Keyring> {
  const known = new Map<string, KeyRecord>();
  const used = new Map<string, Date>();
  const asking = new Map<string, Promise<KeyRecord | undefined>>();
  const forget = () => {
    known.clear();
    asking.clear();
  };
  const listener = await listen(store, [KEYS_CHANGED], {
    onNotify: forget,
    onConnect: forget,
  });
  const flush = () => {
    const uses = new Map(used);
    used.clear();
    return touchKeys(store.asPlatform(), uses);
  };
  const timer = setInterval(() => flush().catch(() => {}), TOUCH_MS).unref();

  async function lookUp(key: string): Promise<KeyRecord | undefined> {
    const hash = hashKey(key);
    const name = hash.toString("base64");
    const remembered = listener.live ? known.get(name) : undefined;
    return remembered ?? await (asking.get(name) ?? ask(name, hash));
  }

  /** Calls of a key that nobody remembers share one look; what was seen is not remembered if keys changed meanwhile. */
  function ask(name: string, hash: Buffer): Promise<KeyRecord | undefined> {
    const asked = findKey(store.asPlatform(), hash).then((record) => {
      const isNew = asking.get(name) === asked;
      if (isNew && record && listener.live && known.size < MOST_REMEMBERED) known.set(name, record);
      return record;
    }).finally(() => {
      if (asking.get(name) === asked) asking.delete(name);
    });
    asking.set(name, asked);
    return asked;
  }

  return {
    async find(key) {
      if (!isKeyShaped(key)) return undefined;
      const record = await lookUp(key);
      if (!record || (record.expiresAt && record.expiresAt <= new Date())) return undefined;
      used.set(record.id, new Date());
      return record;
    },
    async close() {
      clearInterval(timer);
      await Promise.allSettled([flush(), listener.close()]);
    },
  };
}

/** The gate that finds out who calls. A key that is sent must be valid, even where none is needed. */
export function authentication(
  keyring: Keyring,
): (request: Pick<CallRequest, "credential" | "address">) => Promise<Caller> {
  return async ({ credential, address }) => {
    if (credential === undefined) return anonymous(address);
    const record = await keyring.find(credential);
    if (!record) {
      throw new Problem(
        "Unauthenticated",
        `Invalid API key: it is unknown, revoked or expired. Keys look like ${KEY_PREFIX}_partner_…; ` +
          "ask your operator for one",
      );
    }
    const { id, tenant, tier, scope, principal, mayApprove } = record;
    return { keyId: id, tenant, tier, scope, principal, mayApprove, address };
  };
}

/** Name in receipts and limits of those who hold the shared token. */
export const TOKEN_HOLDER = "a2a-token";

/** The gate of operations that are reached with a shared token. @param expected undefined: it is not configured */
export function tokenHolder(
  { token, address }: Pick<CallRequest, "token" | "address">,
  expected: string | undefined,
): Caller {
  if (expected === undefined) {
    throw new Problem(
      "Unavailable",
      "Messages of other agents are not taken: an operator has to set SEALOOP_A2A_TOKEN first",
    );
  }
  if (token === undefined || !timingSafeEqual(digest(token), digest(expected))) {
    throw new Problem("Unauthenticated", "This needs the shared token in the header x-a2a-token");
  }
  return {
    ...{ keyId: TOKEN_HOLDER, tenant: TOKEN_HOLDER, tier: "partner", scope: "full" },
    ...{ principal: TOKEN_HOLDER, mayApprove: false, address },
  };
}

/** Of the same length whatever is sent, as the comparison needs it. */
const digest = (text: string) => createHash("sha256").update(text).digest();

function anonymous(address: string): Caller {
  return {
    keyId: null,
    tenant: "anonymous",
    tier: "free",
    scope: "full",
    principal: "anonymous",
    mayApprove: false,
    address,
  };
}

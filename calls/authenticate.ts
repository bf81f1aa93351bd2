import { createHash, timingSafeEqual } from "node:crypto";
import { type Caller, type CallRequest, type Operation, Problem } from "../contract/mod.ts";
import { KEY_PREFIX, PLATFORM_TENANT } from "../contract/domain/mod.ts";
import { findDevice } from "../store/devices/mod.ts";
import { findValidKeys, type KeyRecord } from "../store/keys/mod.ts";
import { findSession } from "../store/people/mod.ts";
import { findTokenCaller, isAccessToken } from "./access_tokens.ts";
import type { Platform } from "./platform.ts";
import { readSigner, verifySigned } from "./request_signature.ts";

/** Key id and principal of callers that hold the shared A2A token, which is the operator's own. */
export const TOKEN_HOLDER = "a2a-token";

type Parts = Pick<Platform, "keyring" | "accessTokens" | "failures" | "config" | "store">;

/**
 * Returns who calls. A key or access token that is sent must be valid, even where none is needed.
 *
 * @throws {Problem} `Unauthenticated`; `RateLimited`: too many wrong keys or tokens came from the address;
 * `NotConfigured`: the operation takes a shared token, and none is set; those of {@linkcode AccessTokens.find}
 */
export async function authenticate(
  parts: Parts,
  { access, governance }: Pick<Operation, "access" | "governance">,
  request: Pick<CallRequest, "credential" | "session" | "token" | "signed" | "address">,
): Promise<Caller> {
  const { keyring, failures, config } = parts;
  const { credential, session, token, address } = request;
  if (credential !== undefined && isAccessToken(credential)) {
    return await findTokenCaller(parts.accessTokens, credential, address);
  }
  const key = credential === undefined ? undefined : await validKey(keyring, credential, address);
  if (access === "token") {
    failures.check(address, "wrong tokens");
    if (!isToken(token, config.settings.SEALOOP_A2A_TOKEN)) {
      failures.count(address);
      throw new Problem("Unauthenticated", "This needs the shared token in the header x-a2a-token");
    }
    return tokenHolder(address);
  }
  if (governance?.signedByDevice) return await signingDevice(parts, request);
  if (key) return callerOf(key, address);
  const person = session === undefined ? undefined : await sessionCaller(parts, session, address);
  if (person) return person;
  // Browsers send the cookie of a session that has ended by themselves, also to sign in anew.
  if (session === undefined || access === "public") return anonymous(address);
  throw new Problem("Unauthenticated", "Your session has ended: sign in again");
}

/** Returns the caller that a key stands for, at an address. */
export function callerOf(
  { id, tenant, tier, scope, principal, mayApprove }: KeyRecord,
  address: string,
): Caller {
  return { keyId: id, tenant, tier, scope, principal, mayApprove, address };
}

/**
 * Returns the person whose session it is: the holder of its key, with all that the key may, except that no call of theirs counts
 * as their decision. Undefined: the session or its key has ended.
 */
async function sessionCaller(
  { store }: Parts,
  token: string,
  address: string,
): Promise<Caller | undefined> {
  const db = store.asPlatform();
  const session = await findSession(db, token);
  const [key] = session ? await findValidKeys(db, [session.keyId]) : [];
  if (!session || !key) return undefined;
  const { id, expiresAt, recovers } = session;
  return {
    ...callerOf(key, address),
    mayApprove: false,
    session: { id, expiresAt, mayApprove: key.mayApprove, recovers },
  };
}

async function validKey(
  keyring: Platform["keyring"],
  credential: string,
  address: string,
): Promise<KeyRecord> {
  const record = await keyring.find(credential, address);
  if (record) return record;
  throw new Problem(
    "Unauthenticated",
    `Invalid API key: it is unknown, revoked or expired. Keys look like ${KEY_PREFIX}_partner_…; ` +
      "ask your operator for one",
  );
}

/** Returns the device that has signed a request. @throws {Problem} `Unauthenticated`, `RateLimited` */
async function signingDevice(
  { store, failures }: Parts,
  { signed, address }: Pick<CallRequest, "signed" | "address">,
): Promise<Caller> {
  const id = signed && readSigner(signed);
  const device = id && await findDevice(store.asPlatform(), id);
  if (!signed || !device || !verifySigned(signed, device.publicKey)) {
    failures.check(address, "wrong signatures");
    failures.count(address);
    throw new Problem("Unauthenticated", signatureError(id, device));
  }
  return {
    keyId: device.id,
    tenant: device.tenant,
    tier: "partner",
    scope: "full",
    principal: device.id,
    mayApprove: false,
    address,
  };
}

function signatureError(id: string | undefined, device: unknown): string {
  if (!id) return "This needs a request that is signed by a device (RFC 9421); its agent does that";
  if (!device) return `There is no device ${id}; the agent on it has to enrol again`;
  return `The signature is not that of the key of ${id}`;
}

/** @throws {Problem} `NotConfigured` */
function isToken(token: string | undefined, expected: string | undefined): boolean {
  if (expected === undefined) {
    throw new Problem(
      "NotConfigured",
      "Cannot take messages of other agents: no shared token is configured; set SEALOOP_A2A_TOKEN",
    );
  }
  return token !== undefined && timingSafeEqual(digest(token), digest(expected));
}

/** Makes both sides of the comparison equally long. */
const digest = (text: string) => createHash("sha256").update(text).digest();

function tokenHolder(address: string): Caller {
  return {
    keyId: TOKEN_HOLDER,
    tenant: PLATFORM_TENANT,
    tier: "partner",
    scope: "full",
    principal: TOKEN_HOLDER,
    mayApprove: false,
    address,
  };
}

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

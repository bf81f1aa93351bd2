/** Codes by which one machine enrols. They need no row until they are used. */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { keyedHash, type Store } from "../../../store/mod.ts";
import type { TenantToken } from "../../../store/keys/mod.ts";

/** Days that the token of an organization is valid. */
export const TENANT_TOKEN_DAYS = 90;
/** Seconds that a code is valid. */
const CODE_SECONDS = 15 * 60;

const CODE = /^([0-9a-f]{16})\.([0-9a-f]{32})\.([0-9]{10})\.([A-Za-z0-9_-]{43})$/;

/** A genuine code. */
export interface EnrolmentCode {
  /** Id of the tenant's token that it was made with, and ends with. */
  readonly tokenId: string;
  readonly nonce: string;
  readonly isExpired: boolean;
}

/** Makes a code for one enrolment: token's id, nonce, expiry in seconds of Unix time, and a MAC of them. */
export async function mintCode(store: Store, { id }: TenantToken): Promise<string> {
  const nonce = randomBytes(16).toString("hex");
  const expiry = String(Math.floor(Date.now() / 1_000) + CODE_SECONDS);
  const mac = await macOf(store, id, nonce, expiry);
  return [id, nonce, expiry, mac.toString("base64url")].join(".");
}

/** Reads a code. Whether its token is still valid and whether it was used are the caller's to check. @returns undefined: it is forged */
export async function readCode(store: Store, code: string): Promise<EnrolmentCode | undefined> {
  const match = CODE.exec(code);
  if (!match) return undefined;
  const [, tokenId, nonce, expiry, mac] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
  ];
  const expected = await macOf(store, tokenId, nonce, expiry);
  if (!timingSafeEqual(expected, Buffer.from(mac, "base64url"))) return undefined;
  return { tokenId, nonce, isExpired: Number(expiry) * 1_000 <= Date.now() };
}

function macOf(store: Store, tokenId: string, nonce: string, expiry: string): Promise<Buffer> {
  return keyedHash(store, "enrolment_codes", tokenId, nonce, expiry);
}

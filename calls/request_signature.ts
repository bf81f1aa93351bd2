import type { SignedRequest } from "../contract/mod.ts";
import { NODE_PRIMITIVES } from "../ledger/mod.ts";

/** Components that every device signs, in the order of its agent. */
const COMPONENTS = ["@method", "@path", "@query", "content-digest"];
const INPUT = new RegExp(
  `^sealoop=(\\(${COMPONENTS.map((name) => `"${name}"`).join(" ")}\\)` +
    ';nonce="[0-9a-f]{32}";keyid="(DEV-[0-9a-f]{12})";alg="ed25519";tag="sealoop-device")$',
);
/** Base64 of 64 bytes, in its one canonical form: the same request has one signature. */
const SIGNATURE = /^sealoop=:([A-Za-z0-9+/]{85}[AQgw]==):$/;

/** Returns the id of the device that a request names as its signer; undefined where it is not signed as devices sign. */
export function readSigner({ signatureInput }: SignedRequest): string | undefined {
  return INPUT.exec(signatureInput)?.[2];
}

/**
 * Returns whether a request is signed by a key, with its method, path, query and body.
 *
 * @param publicKey Ed25519, 64 hex
 * @see RFC 9421 §3.2, RFC 9530 §2
 */
export function verifySigned(request: SignedRequest, publicKey: string): boolean {
  const input = INPUT.exec(request.signatureInput);
  const signature = SIGNATURE.exec(request.signature);
  const digest = `sha-256=:${request.bodySha256.toString("base64")}:`;
  if (!input || !signature || request.contentDigest !== digest) return false;
  const values = [request.method, request.path, request.query, digest];
  const base = buildSignatureBase(COMPONENTS.map((name, at) => [name, values[at]!]), input[1]!);
  const bytes = new TextEncoder().encode(base);
  return NODE_PRIMITIVES.verifyEd25519(publicKey, bytes, Buffer.from(signature[1]!, "base64"));
}

/**
 * Returns the text that is signed of a request.
 *
 * @param components names and values, in order
 * @param parameters of the signature, with the names of the components
 * @see RFC 9421 §2.5
 */
export function buildSignatureBase(
  components: readonly (readonly [name: string, value: string])[],
  parameters: string,
): string {
  return [...components, ["@signature-params", parameters]]
    .map(([name, value]) => `"${name}": ${value}`).join("\n");
}

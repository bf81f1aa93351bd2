import { hash } from "node:crypto";
import { canonicalize, NODE_PRIMITIVES } from "../../../ledger/mod.ts";

/** The part of an enrolment that both keys sign. */
export interface Enrolment {
  readonly code: string;
  readonly public_key: string;
  readonly runner_key: string;
}

/** Returns the id of the device with this public key. @param publicKey 64 hex */
export function deviceIdOf(publicKey: string): string {
  return `DEV-${hash("sha256", Buffer.from(publicKey, "hex")).slice(0, 12)}`;
}

/** Returns the text that both keys sign. */
function proofText({ code, public_key, runner_key }: Enrolment): string {
  return canonicalize({ code, public_key, runner_key });
}

/** Returns whether whoever enrols has both private keys. @param proof signatures, 128 hex */
export function isProven(
  enrolment: Enrolment,
  proof: { readonly device: string; readonly runner: string },
): boolean {
  const text = new TextEncoder().encode(proofText(enrolment));
  const verifies = (key: string, signature: string) =>
    NODE_PRIMITIVES.verifyEd25519(key, text, Buffer.from(signature, "hex"));
  return verifies(enrolment.public_key, proof.device) &&
    verifies(enrolment.runner_key, proof.runner);
}

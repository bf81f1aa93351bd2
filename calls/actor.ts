import type { Operation } from "../contract/mod.ts";
import { PERSON_ACTOR } from "../contract/domain/mod.ts";

/** An operation, as far as it says whether its receipts name who calls. */
type Named = Pick<Operation<never>, "governance">;

/** Returns the actor of a call's public receipts: the key, unless nothing public may link what people decide. */
export function actorOf({ governance }: Named, keyId: string | null): string {
  return governance?.unnamed ? PERSON_ACTOR : `key:${keyId}`;
}

/** Returns who has called, as private evidence of a receipt that does not name them; nothing where the receipt names the key. */
export function callerEvidence(
  { governance }: Named,
  { keyId, principal }: { readonly keyId: string | null; readonly principal: string },
): { readonly caller?: { readonly key_id: string | null; readonly principal: string } } {
  return governance?.unnamed ? { caller: { key_id: keyId, principal } } : {};
}

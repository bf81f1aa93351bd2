import type { Db } from "../../store/mod.ts";
import { findValidKeys } from "../../store/keys/mod.ts";

/** Returns whether a key has requested a run whose holder may approve: a person's, as no agent can use one. */
export async function isByApprover(db: Db, requestedBy: string | undefined): Promise<boolean> {
  const id = /^key:(.+)$/.exec(requestedBy ?? "")?.[1];
  const [key] = id === undefined ? [] : await findValidKeys(db, [id]);
  return key?.mayApprove === true;
}

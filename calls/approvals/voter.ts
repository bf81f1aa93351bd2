import { normalizePrincipal } from "../../contract/mod.ts";
import { type Db, keyedHashWithin } from "../../store/mod.ts";

/**
 * Returns how public receipts of one approval name a person who decides: the same in all receipts of that approval, whichever
 * key of theirs they use, and another one in those of any other, so that nothing public links what a person decides.
 */
export async function voterOf(db: Db, approvalId: string, principal: string): Promise<string> {
  const hash = await keyedHashWithin(db, "voters", approvalId, normalizePrincipal(principal));
  return `voter:${hash.toString("hex", 0, 8)}`;
}

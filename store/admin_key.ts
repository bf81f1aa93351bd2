import { open, rename } from "node:fs/promises";
import { type Store, transaction } from "./connection.ts";
import { hasAdminKey, issueKey } from "./keys.ts";

/**
 * Makes the first admin key where there is none, and writes it to a file that only its owner can read.
 *
 * The file is written before the key becomes valid: killed in between, the next start makes another.
 *
 * @param store of role `app`
 * @param path of the file
 * @returns the key, where one was made
 */
export async function ensureAdminKey(store: Store, path: string): Promise<string | undefined> {
  if (await hasAdminKey(store.knex)) return undefined;
  return await transaction(store, async (trx) => {
    const { key } = await issueKey(trx, {
      tenant: "operator",
      tier: "admin",
      scope: "full",
      principal: "operator",
      mayApprove: false, // approving is for a key of a person; the tool server refuses such keys
      expiresAt: null,
    });
    const file = await open(`${path}.new`, "w", 0o600);
    await file.writeFile(`${key}\n`);
    await file.sync();
    await file.close();
    await rename(`${path}.new`, path);
    return key;
  });
}

import { open, rename } from "node:fs/promises";
import type { Db } from "./connection.ts";
import { hasAdminKey, issueKey } from "./keys.ts";

/**
 * Issues the first admin key where there is none, and writes it to a file that only its owner can read.
 *
 * The file is written before the key becomes valid: if the process dies in between, the next start issues another.
 *
 * @param path of the file
 * @returns the key, if one was issued
 */
export async function ensureAdminKey(db: Db, path: string): Promise<string | undefined> {
  if (await hasAdminKey(db)) return undefined;
  return await db.transaction(async (trx) => {
    const { key } = await issueKey(trx, {
      tier: "admin",
      scope: "full",
      principal: "operator",
      mayApprove: false, // approving is for a person's key; the tool server refuses such keys
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

import { open, rename } from "node:fs/promises";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import type { Store } from "../store/mod.ts";
import { hasAdminKey } from "../store/keys/mod.ts";
import { issueSealedKey } from "./keys.ts";

/**
 * Issues the first admin key where there is none, and writes it to a file that only its owner can read.
 *
 * The file is written before the key becomes valid: if the process dies in between, the next start issues another.
 *
 * @param store of role `operator`
 * @param path of the file
 * @returns the key, if one was issued
 */
export async function ensureAdminKey(store: Store, path: string): Promise<string | undefined> {
  if (await hasAdminKey(store.asPlatform())) return undefined;
  const { key } = await issueSealedKey(store, "operator", {
    tenant: PLATFORM_TENANT,
    tier: "admin",
    scope: "full",
    principal: "operator",
    mayApprove: false, // approving is for a person's key; the tool server refuses such keys
    expiresAt: null,
  }, { before: (key) => writeKey(path, key) });
  return key;
}

async function writeKey(path: string, key: string): Promise<void> {
  const file = await open(`${path}.new`, "w", 0o600);
  await file.writeFile(`${key}\n`);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
}

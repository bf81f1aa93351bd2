import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { issueSealedKey } from "../calls/mod.ts";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import { pathBelow } from "../integrations/files/mod.ts";
import type { Store } from "../store/mod.ts";
import { currentUser, OPERATOR } from "./_operator.ts";

/** A person's key, by which they decide over REST. */
export interface ApproverKey {
  readonly key: string;
  /** File that has it. */
  readonly path: string;
}

/**
 * Returns the key of the user who gives the command: a person's key like any other, of tier admin, so that it decides for
 * all tenants. At the first use it is issued and sealed, and kept in the data folder in a file that only its owner can
 * read. It lasts, as a vote counts only while its key is valid, and others may have to vote after it.
 */
export async function userKey(openStore: () => Store, dataDir: string): Promise<ApproverKey> {
  const user = currentUser();
  const path = pathBelow(dataDir, `approver-${encodeURIComponent(user)}.key`);
  const known = readKey(path);
  if (known !== undefined) return { key: known, path };
  const { key, record } = await issueSealedKey(openStore(), OPERATOR, {
    tenant: PLATFORM_TENANT,
    tier: "admin",
    scope: "full",
    principal: user,
    mayApprove: true,
    expiresAt: null,
  }, {
    before: (key) => writeFile(path, `${key}\n`, { mode: 0o600, flag: "wx" }),
  });
  console.error(`Issued key ${record.id} to ${user}, who may approve; it is kept in ${path}`);
  return { key, path };
}

/** Returns the key that a file has. @throws {Error} there is no such file */
export function keyOfFile(path: string): ApproverKey {
  return { key: readFileSync(path, "utf8").trim(), path };
}

function readKey(path: string): string | undefined {
  try {
    return keyOfFile(path).key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

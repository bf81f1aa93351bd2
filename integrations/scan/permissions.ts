import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Scanner, Weakness } from "./_scanner.ts";

/** Names of files that hold secrets. */
const SECRET = /\.(key|secret|pem)$|^password$/;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
/** Files that say what may be done: others may read them, but not write. */
const RULES = /\.ya?ml$/;
const FOLDERS = ["", "postgres", "runbooks"];

/** Files of the data folder that others than its owner may read or write. */
export const permissions: Scanner = async ({ config: { dataDir } }) => {
  const found: Weakness[] = [];
  for (const folder of FOLDERS) {
    const at = join(dataDir, folder);
    for (const name of await readdir(at).catch(() => [])) {
      const isSecret = SECRET.test(name);
      if (!isSecret && !RULES.test(name)) continue;
      const path = join(at, name);
      const { mode, isFile } = await stat(path).then(
        (one) => ({ mode: one.mode, isFile: one.isFile() }),
        () => ({ mode: 0, isFile: false }),
      );
      if (!isFile || (mode & (isSecret ? OTHERS : OTHERS_WRITE)) === 0) continue;
      found.push({
        code: "file_permissions",
        severity: isSecret ? "high" : "medium",
        summary: `Others than its owner may ${isSecret ? "get at" : "write"} the file ${name}`,
        detail: { path, mode: (mode & 0o777).toString(8) },
        which: path,
        path,
      });
    }
  }
  return found;
};

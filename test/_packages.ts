import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../config.ts";

/** Returns the packages of the lock file by their paths. */
export function installedPackages(): Readonly<Record<string, { readonly version: string }>> {
  return JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages;
}

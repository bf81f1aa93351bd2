import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../config.ts";

/** Installed packages by their paths, as the lock file has them. */
export function packages(): Readonly<Record<string, { readonly version: string }>> {
  return JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages;
}

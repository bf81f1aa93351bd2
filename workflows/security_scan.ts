import type { ScanResult } from "../contract/domain/mod.ts";
import { LONG, perform } from "./_options.ts";
import { currentRun } from "./_run.ts";

/** Scans the platform and its host for weaknesses, and seals the result. Its id is `security-scan`. */
export async function securityScan(): Promise<ScanResult> {
  return await perform(LONG, "Runs every scanner").runSecurityScan(currentRun());
}

import type { ScanResult } from "../contract/domain/mod.ts";
import { LONG } from "./_options.ts";
import { at, findPlace } from "./_place.ts";
import { currentRun } from "./_run.ts";

/** Scans the platform and its host for weaknesses, and seals the result. Its id is `security-scan`. */
export async function securityScan(): Promise<ScanResult> {
  const place = await findPlace();
  return await at(place, LONG, "Runs every scanner", (here) => here.runSecurityScan(currentRun()));
}

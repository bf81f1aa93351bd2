import type { DiscoveryRequest, DiscoveryResult } from "../domain/mod.ts";
import { perform, REMOTE } from "./_options.ts";
import { currentRun } from "./_run.ts";

/** Looks for hosts in networks that the operator allows, and seals that it did. Its id is `discover-<random>`. */
export async function deviceDiscovery(request: DiscoveryRequest): Promise<DiscoveryResult> {
  const summary = `Tries ${request.ports.length} ports of ${request.targets.length} targets`;
  return await perform(REMOTE, summary).discoverHosts({ ...request, run: currentRun() });
}

import type { DiscoveryRequest, DiscoveryResult } from "../contract/domain/mod.ts";
import { LONG, perform, REMOTE, SEAL } from "./_options.ts";
import { at, findPlace } from "./_place.ts";
import { currentRun } from "./_run.ts";

/** Looks for hosts in networks that the operator allows, from the platform's own host or from a device, and seals that it did. Its id is `discover-<random>`. */
export async function deviceDiscovery(request: DiscoveryRequest): Promise<DiscoveryResult> {
  const order = { ...request, run: currentRun() };
  const { via_device } = request;
  if (via_device !== undefined) {
    const command_id = await perform(SEAL, `Orders the scan of ${via_device}`).orderScan(order);
    while (true) {
      const result = await perform(LONG, `Waits for ${command_id}`)
        .awaitScan({ order, command_id });
      if (result) return result;
    }
  }
  const summary = `Tries ${request.ports.length} ports of ${request.targets.length} targets`;
  return await at(await findPlace(), REMOTE, summary, (here) => here.discoverHosts(order));
}

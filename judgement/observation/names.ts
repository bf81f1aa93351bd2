import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type Observation, say } from "../../contract/domain/mod.ts";
import { listAddresses, mayUseAddresses, type UsedAddress } from "./_addresses.ts";
import type { Observer } from "./observer.ts";
import { placeOf } from "./_service_process.ts";

/** Resolves the names that a service, its check and its dependencies use. */
export const names: Observer = {
  name: "names",
  about:
    "Resolves the host names of the check, of dependencies, and of addresses in the service's own settings",
  applies: (subject) =>
    isIP(placeOf(subject.service)?.host ?? "::") === 0 || mayUseAddresses(subject),
  async observe(subject, { store }): Promise<Observation[]> {
    const found = await listAddresses(subject, store.db);
    const hosts = new Map<string, UsedAddress>();
    for (const one of found) {
      if (isIP(one.host) === 0 && !hosts.has(one.host)) hosts.set(one.host, one);
    }
    return await Promise.all([...hosts.values()].map(resolve));
  },
};

async function resolve({ host, of, given }: UsedAddress): Promise<Observation> {
  const begin = performance.now();
  const elapsed = () => Math.round(performance.now() - begin);
  try {
    const found = await lookup(host, { all: true });
    const addresses = found.map(({ address }) => address).join(", ");
    return {
      code: "resolved",
      says: say`The name ${host} (${of}) resolves to ${addresses} in ${elapsed()} ms.`,
      figures: { name: host, of, resolved: true, elapsed_ms: elapsed() },
    };
  } catch (error) {
    const reason = String((error as NodeJS.ErrnoException).code).toLowerCase();
    return {
      code: "unresolved",
      says: say`The name ${host} (${of}) can't be resolved after ${elapsed()} ms: ${reason}.`,
      figures: {
        name: host,
        of,
        resolved: false,
        unresolved: given,
        reason,
        elapsed_ms: elapsed(),
      },
    };
  }
}

import { getServiceGraph } from "../../store/cmdb/mod.ts";
import type { Store } from "../../store/mod.ts";
import type { Dependencies } from "./_causes.ts";
import { LOCAL_HOSTS } from "./_local_hosts.ts";

/**
 * Reads the dependencies of a tenant's services, with hosts by the names that findings use: what is on `localhost` is on the
 * host of its own place.
 *
 * @param host where services are that belong to no place
 */
export async function readServiceGraph(store: Store, host: string): Promise<Dependencies> {
  const { hosts, places, dependsOn } = await getServiceGraph(store.db);
  const named = [...hosts].map(([service, at]): [string, string] => {
    return [service, LOCAL_HOSTS.has(at) ? places.get(service) ?? host : at];
  });
  return { hosts: new Map(named), dependsOn };
}

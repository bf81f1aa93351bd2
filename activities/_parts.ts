import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { Platform } from "../calls/mod.ts";
import type { RunId } from "../domain/mod.ts";
import type { Service } from "../integrations/host/mod.ts";
import type { Network } from "../ledger/anchors/ots/mod.ts";
import type { Catalogue } from "../runbooks/mod.ts";
import { type Db, getService, type Store } from "../store/mod.ts";

/** The parts that activities work with: the platform's, and those of a worker alone. */
export interface ActivityParts extends Platform {
  /** As role `sequencer`. */
  readonly sequencerStore: Store;
  /** Runbooks for incidents: those that ship, and those of the user's folder. */
  readonly runbooks: Catalogue;
  /** Network whose blocks anchors are checked against. Default: Bitcoin's main network; tests mine one of their own. */
  readonly network?: Network;
  /** Puts the services file in force; returns an error code where it can't. Default: there is no file. */
  readonly refreshServices?: () => Promise<string | undefined>;
  /** Aborted when this worker stops: standing activities end, the others finish. */
  readonly stopping: AbortSignal;
}

/** Returns the ticket id of a run. */
export function ticketIdOf({ workflow_id, run_id }: RunId): string {
  const hash = createHash("sha256").update(`${workflow_id}\n${run_id}`).digest("hex");
  return `INC-${hash.slice(0, 12)}`;
}

/** Finds a service by name. This host counts as one, so that its own faults can be repaired. */
export async function findService(db: Db, name: string): Promise<Service | undefined> {
  const service = await getService(db, name) as Service | undefined;
  return service ?? (name === hostname() ? THIS_HOST : undefined);
}

const THIS_HOST: Service = {
  name: hostname(),
  type: "host",
  host: "localhost",
  owner: null,
  origin: "discovered",
  check: null,
  restart: null,
  watched: false,
  dependsOn: [],
};

import { createHash } from "node:crypto";
import type { Client } from "@temporalio/client";
import type { Config } from "../config.ts";
import type { Engine } from "../engine/mod.ts";
import type { Sealer } from "../ledger/mod.ts";
import type { Network } from "../ledger/ots/mod.ts";
import type { Service } from "../integrations/mod.ts";
import type { Catalogue } from "../integrations/runbooks/mod.ts";
import { getService, type Queryable, type Store } from "../store/mod.ts";
import type { Finding, RunId } from "../workflows/mod.ts";

/** What activities work with; the worker's entry puts it together. */
export interface ActivityParts {
  readonly config: Config;
  /** As role `app`. */
  readonly store: Store;
  /** As role `sequencer`. */
  readonly sequencerStore: Store;
  readonly sealer: Sealer;
  readonly temporal: Client;
  /** What judges reports and repairs, in a process of its own. */
  readonly engine: Engine;
  /** What may be done about incidents. Default: the runbooks that ship, and those of the user's folder. */
  readonly runbooks?: Catalogue;
  /** Whose blocks anchors are checked against. Default: Bitcoin's main network; tests mine one of their own. */
  readonly network?: Network;
  /** Aborted when this worker stops: what stands for ever ends, what is under way is finished. */
  readonly stopping: AbortSignal;
}

/** Name in receipts of what the loop does by itself. */
export const ACTOR = "itsm-loop";

/** The receipt id of a step of a run: the same step of the same run is the same receipt. */
export function receiptIdOf({ workflow_id, run_id }: RunId, step: string): string {
  return createHash("sha256").update(`${workflow_id}\n${run_id}\n${step}`).digest("hex").slice(
    0,
    16,
  );
}

/** The ticket id of a run. */
export function ticketIdOf({ workflow_id, run_id }: RunId): string {
  return `INC-${
    createHash("sha256").update(`${workflow_id}\n${run_id}`).digest("hex").slice(0, 12)
  }`;
}

/** The service that a finding is about, or undefined where it names none that is known. */
export async function serviceOf(on: Queryable, { service }: Finding): Promise<Service | undefined> {
  return service === null ? undefined : await getService(on, service) as Service | undefined;
}

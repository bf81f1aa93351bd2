import { createHash } from "node:crypto";
import type { Service } from "../integrations/host/mod.ts";
import type { GovernedActResult, RunId } from "../domain/mod.ts";
import { hostname } from "node:os";
import type { Client } from "@temporalio/client";
import type { Config } from "../config.ts";
import type { LostCall, Recovery } from "../contract/mod.ts";
import type { Engine } from "../engine/mod.ts";
import type { Sealer } from "../ledger/mod.ts";
import type { Network } from "../ledger/anchors/ots/mod.ts";
import type { Catalogue } from "../runbooks/mod.ts";
import { getService, type Db, type Store } from "../store/mod.ts";
import type { TaskCalls } from "./tasks.ts";

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
  /** Puts the services file in force as it is now; gives the code of why that can't be. Default: there is none. */
  readonly refreshServices?: () => Promise<string | undefined>;
  /** Runs a call that people have approved, at most once; absent: there is nothing that could be called. */
  readonly runAct?: (order: {
    readonly approvalId: string;
    readonly run: RunId;
    readonly intentReceiptId: string;
    readonly outcomeReceiptId: string;
  }) => Promise<GovernedActResult>;
  /** Looks for what a call did whose process ended in the midst of it; absent: nobody can tell. */
  readonly traceCall?: (call: LostCall & { readonly operation: string }) => Promise<Recovery>;
  /** Tells runs of approvals what people said that no run has heard; gives how much that was. Absent: nobody says anything. */
  readonly deliverVoices?: () => Promise<number>;
  /** What tasks of agents do with calls of tools; absent: there is nothing that could be called. */
  readonly calls?: TaskCalls;
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

/**
 * A service by name; this host, by its own, is one as well, so that what fails on it alone can be repaired.
 */
export async function subjectNamed(on: Db, name: string): Promise<Service | undefined> {
  const known = await getService(on, name) as Service | undefined;
  return known ?? (name === hostname() ? THIS_HOST : undefined);
}

const THIS_HOST: Service = {
  ...{ name: hostname(), type: "host", host: "localhost", owner: null, origin: "discovered" },
  ...{ check: null, restart: null, watched: false, dependsOn: [] },
};

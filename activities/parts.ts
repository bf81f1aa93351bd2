import type { Platform } from "../calls/mod.ts";
import type { Comms } from "../integrations/channels/mod.ts";
import type { Media } from "../integrations/media/mod.ts";
import type { Network } from "../ledger/anchors/ots/mod.ts";
import type { Catalogue } from "../judgement/runbooks/mod.ts";
import type { Holder } from "../store/mod.ts";
import type { PlaceSigner } from "./place_key.ts";

/** The parts that activities need: the platform's, and a worker's own. */
export interface ActivityParts extends Platform {
  /** Returns the shipped runbooks, and those in the user's folder, as they are in force now. */
  runbooks(): Catalogue;
  /** Network whose blocks prove anchors. Default: Bitcoin's main network; tests mine a network of their own. */
  readonly network?: Network;
  /** Loads the services file; returns an error code if that fails. Default: there is no file. */
  readonly refreshServices?: () => Promise<string | undefined>;
  /** Aborted when this worker stops: activities that run in turns end, the others finish. */
  readonly stopping: AbortSignal;
}

/** The parts of activities that work in the name of one tenant. */
export interface TenantParts extends ActivityParts {
  /** The lock by which this process shows that it lives. */
  readonly holder: Holder;
  /** Signs what is done at the place of this process. */
  readonly place: PlaceSigner;
  readonly media: Media;
  /** Returns who is told what, and over which channels, as the operator's file says now; undefined: it was wrong from the start. */
  readonly comms: () => Comms | undefined;
}

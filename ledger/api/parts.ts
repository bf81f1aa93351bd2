import { Problem } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import type { ChainState, ChainWatch } from "../scrub/mod.ts";

/** The parts that operations of the public ledger work with. */
export interface LedgerParts {
  /** As a role that may only SELECT. */
  readonly store: Store;
  readonly chain: ChainWatch;
  /** Public address of the ledger, without a slash at the end. */
  readonly ledgerUrl: string;
}

/** Returns the state of the chain. @throws {Problem} `Unavailable`: the database is unavailable */
export function getChainState({ chain }: LedgerParts): ChainState {
  const state = chain.state();
  if (state.live) return state;
  const detail = "The ledger's database is unavailable";
  throw new Problem("Unavailable", detail, { body: { detail, chain_intact: null } });
}

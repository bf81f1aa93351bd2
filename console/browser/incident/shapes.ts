/** The parts of the answers about one incident that its page shows. */

/** An incident as its facts tell it. */
export interface Story {
  readonly events: readonly {
    readonly at: string;
    readonly kind: string;
    readonly phase: string | null;
    readonly says: string;
    readonly receipt_id: string | null;
    readonly approval_id: string | null;
  }[];
  readonly causes: readonly Cause[];
  readonly observations: readonly {
    readonly run: number;
    readonly number: number;
    readonly source: string;
    readonly says: string;
    readonly text?: string;
  }[];
  readonly dependants: readonly string[] | null;
  readonly approvals: readonly { readonly approval_id: string; readonly status: string }[];
  readonly done: string;
}

/** A cause that a diagnosis named. */
export interface Cause {
  readonly at: string;
  readonly run: number;
  readonly round: number;
  readonly symptom: string;
  readonly cause: string | null;
  readonly says: string | null;
  readonly confidence: number | null;
  readonly observations: readonly number[];
  readonly alternatives: readonly {
    readonly cause: string;
    readonly observations: readonly number[];
    readonly because: string;
    readonly ruled_out: boolean;
  }[];
}

/** A record of the ledger, byte for byte, at its position. */
interface Placed {
  readonly position: number;
  readonly record: string;
}

/** The receipts of an incident, with what it takes to verify them. */
export interface Proofs {
  readonly ledger_url: string;
  readonly receipts: readonly (Placed & {
    readonly id: string;
    readonly before: string | null;
    readonly after: string | null;
    readonly inclusion: readonly string[] | null;
  })[];
  readonly waiting: readonly string[];
  readonly size: number;
  readonly keys: readonly {
    readonly public_key: string;
    readonly from_position: number;
    readonly recovery_key?: string;
  }[];
  readonly introductions: readonly Placed[];
  readonly checkpoint: {
    readonly note: string;
    readonly tree_size: number;
    readonly verifier_key: string;
  } | null;
}

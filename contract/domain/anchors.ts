/** A batch of receipts that is being timestamped in Bitcoin. */
export interface AnchorBatch {
  /** Positions of its first and last receipt. */
  readonly first: number;
  readonly last: number;
  /** Seconds until a calendar is first asked again, > 0. */
  readonly poll_seconds: number;
  /** Attempts made so far. */
  readonly attempt: number;
}

/** Result of one hourly anchoring run. */
export interface AnchorSweep {
  /** False: no calendar is configured, so nothing is anchored. */
  readonly configured: boolean;
  /** Ids of the runs that wait for Bitcoin. */
  readonly anchors: readonly string[];
}

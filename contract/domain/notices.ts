/** The deliveries of a message that are tried one after the other, until one has arrived. */
export interface NoticeOrder {
  /** Numbers of the deliveries. */
  readonly deliveries: readonly number[];
  /** Seconds until the quiet hours end; 0: they are over, or there are none. */
  readonly wait_seconds: number;
  /** Seconds after which people are told where nobody has acted; null: it is no escalation. */
  readonly escalates_after_seconds: number | null;
}

/** Deliveries of a message by their states. */
export interface NoticeResult {
  readonly delivered: number;
  readonly not_delivered: number;
  readonly unknown: number;
  readonly skipped: number;
}

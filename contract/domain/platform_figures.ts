/** Figures of the whole platform, over all tenants: numbers alone. */
export interface PlatformFigures {
  readonly receipts: number;
  /** Requests to seal that wait. */
  readonly waiting: number;
  /** Number of the oldest of them; null: none waits. */
  readonly oldestWaiting: string | null;
  readonly refusedSeals: number;
  /** True: the sequencer can't seal. */
  readonly isSealingHeld: boolean;
  /** Null: none is published yet. */
  readonly checkpointAgeSeconds: number | null;
  readonly checkpointSize: number;
  /** Open incidents, devices and approvals, by their state. */
  readonly counts: readonly { readonly kind: string; readonly state: string; readonly n: number }[];
}

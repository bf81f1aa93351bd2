/** Times after which the platform looks again where nothing tells it of a change, in milliseconds. */
export interface Timing {
  /** Between two readings of the queues of deliveries and messages. */
  readonly queues: number;
  /** Between the first two looks at a flag that holds work back; later ones are up to five minutes apart. */
  readonly flags: number;
}

/** The times of a running platform. Tests pass shorter ones. */
export const TIMING: Timing = { queues: 5_000, flags: 5_000 };

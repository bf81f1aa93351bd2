import type { Store } from "../../store/mod.ts";

/** A witness as it was asked last. */
export interface WitnessState {
  readonly name: string;
  readonly verifier_key: string;
  /** Size of the log that it is known to have cosigned last; null: it is not known. */
  readonly size: number | null;
  /** Why it did not cosign; null: it did. */
  readonly problem: string | null;
}

/** The newest attempt to have a checkpoint cosigned and published. */
export interface PublishingState {
  /** Size of the log in the checkpoint. */
  readonly size: number;
  /** Number of witnesses that must cosign. */
  readonly quorum: number;
  /** Since when too few witnesses cosign; undefined: it was published. */
  readonly waitingSince: Date | undefined;
  readonly witnesses: readonly WitnessState[];
}

const RECORD = {
  name: "log_publishing",
  text: `INSERT INTO log_publishing AS p (size, quorum, waiting_since, witnesses)
         VALUES ($1, $2, CASE WHEN $3 THEN now() END, $4)
         ON CONFLICT (one) DO UPDATE SET size = excluded.size, quorum = excluded.quorum,
           waiting_since = CASE WHEN $3 THEN coalesce(p.waiting_since, now()) END,
           witnesses = excluded.witnesses`,
};

/** Records an attempt to publish, for those who ask for the platform's status. */
export async function recordPublishing(
  store: Store,
  { size, quorum, isWaiting, witnesses }: Omit<PublishingState, "waitingSince"> & {
    readonly isWaiting: boolean;
  },
): Promise<void> {
  await store.db.execute(RECORD, [size, quorum, isWaiting, JSON.stringify(witnesses)]);
}

/** Returns the newest attempt to publish; undefined: there was none yet. */
export async function getPublishingState(store: Store): Promise<PublishingState | undefined> {
  const row = await store.db.first(
    "SELECT size, quorum, waiting_since, witnesses FROM log_publishing",
  );
  return row && {
    size: Number(row.size),
    quorum: row.quorum,
    waitingSince: row.waiting_since ?? undefined,
    witnesses: row.witnesses,
  };
}

/** Describes, in words, why a checkpoint is not published. @returns undefined where it is */
export function describeWaiting(state: PublishingState | undefined): string | undefined {
  if (!state?.waitingSince) return undefined;
  const { size, quorum, witnesses, waitingSince } = state;
  const missing = witnesses.filter(({ problem }) => problem !== null);
  return `the checkpoint of ${size} receipts waits since ${waitingSince.toISOString()} for ` +
    `${quorum} cosignatures and has ${witnesses.length - missing.length}; ` +
    `not from ${missing.map(({ name }) => name).join(", ")}`;
}

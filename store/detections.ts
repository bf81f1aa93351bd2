import type { Queryable } from "./connection.ts";

/** A detector's last run. */
export interface DetectionRecord {
  readonly detector: string;
  /** ISO 8601. */
  readonly last_run_at: string;
  readonly duration_ms: number;
  readonly probed: number;
  readonly findings: number;
}

/** Notes that a detector has just run. */
export async function noteDetection(
  on: Queryable,
  run: Omit<DetectionRecord, "last_run_at">,
): Promise<void> {
  await on("detections").insert({ ...run, last_run_at: on.fn.now() }).onConflict("detector")
    .merge();
}

/** The last run of every detector that ever ran. */
export async function listDetections(on: Queryable): Promise<DetectionRecord[]> {
  const rows = await on("detections").orderBy("detector");
  return rows.map(({ detector, last_run_at, duration_ms, probed, findings }) => ({
    detector,
    last_run_at: last_run_at.toISOString(),
    duration_ms,
    probed,
    findings,
  }));
}

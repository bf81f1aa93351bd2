import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Db } from "../../store/mod.ts";
import { exportSpans } from "../../store/platform/mod.ts";
import type { SpanExporter } from "./exporter.ts";

const PAUSE_MS = 5_000;
const MAX_SPANS = 500;

/** Exports spans of all tenants until the signal. What a collector did not take is sent again. */
export async function keepExportingSpans(
  { exporter, db, log, signal }: {
    readonly exporter: SpanExporter;
    readonly db: Db;
    readonly log: Logger;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  while (!signal.aborted) {
    const sent = await exportSpans(db, MAX_SPANS, exporter.send).catch((err: unknown) => {
      log.warn({ err }, "Spans can't be exported; trying again");
      return 0;
    });
    if (sent === MAX_SPANS) continue;
    await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

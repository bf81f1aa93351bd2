import type { Config } from "../../../config.ts";
import type { Severity } from "../../../contract/domain/mod.ts";
import type { Store } from "../../../store/mod.ts";

/** Surroundings of the scanners. */
export interface ScanContext {
  readonly config: Config;
  /** As role `worker`. */
  readonly store: Store;
}

/** A weakness that an attacker could use. */
export interface Weakness {
  /** Kind of weakness: file_permissions, stale_key, open_port, … */
  readonly code: string;
  readonly severity: Severity;
  /** One sentence for people. */
  readonly summary: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Remedy in one sentence, with a command where there is one. */
  readonly remedy: string;
  /** Tells weaknesses of one code apart: the same is the same weakness. */
  readonly which: string;
  /** Absolute path of the file whose permissions a runbook can change. */
  readonly path?: string;
}

/** A scanner. Changes nothing. `not_configured`: a setting that it needs is missing. */
export type Scanner = (scanned: ScanContext) => Promise<readonly Weakness[] | "not_configured">;

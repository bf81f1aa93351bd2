import type { Config } from "../../config.ts";
import type { Severity } from "../../domain/mod.ts";
import type { Store } from "../../store/mod.ts";

/** What scanners look at. */
export interface ScanContext {
  readonly config: Config;
  /** As role `app`. */
  readonly store: Store;
}

/** Something that an attacker could use. */
export interface Weakness {
  /** What it is: file_permissions, stale_key, open_port, … */
  readonly code: string;
  readonly severity: Severity;
  /** One sentence for people. */
  readonly summary: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** What a person does about it, in one sentence; a command where there is one. */
  readonly remedy: string;
  /** Tells weaknesses of one code apart; the same is the same weakness. */
  readonly which: string;
  /** File whose rights a runbook is to change, absolute. */
  readonly path?: string;
}

/** One kind of looking; `not_configured` where it has nothing to look with. Changes nothing. */
export type Scanner = (scanned: ScanContext) => Promise<readonly Weakness[] | "not_configured">;

import type { ActOutcome } from "../../integrations/host/mod.ts";

/** Outcome of a step, or of undoing it. */
export interface StepOutcome extends ActOutcome {
  /** True: it ended as expected. A step that is done and not `ok` has to be undone. */
  readonly ok: boolean;
  /** Figures, such as the number of files moved. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** One act: a step that is performed, or undone. */
export interface Act {
  readonly dataDir: string;
  /** Names this act alone: `[0-9a-f]+`. */
  readonly effectId: string;
  /** Maximum duration, milliseconds. */
  readonly withinMs: number;
}

/** Returns the outcome of a step that changed nothing. */
export function notDone(code: string): StepOutcome {
  return { state: "not_done", ok: false, code };
}

/** Returns the outcome of a step that may have happened. */
export function unknownOutcome(code: string): StepOutcome {
  return { state: "unknown", ok: false, code };
}

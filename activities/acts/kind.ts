import type { RunId } from "../../contract/domain/mod.ts";
import type { OpenAct } from "../../store/acts/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** How what is open of one kind is ended in place of the run that was to do so. */
export interface ActKind {
  /** Returns the id of the workflow that works on it, where that is made from its own. */
  workflowId?(id: string): string;
  /**
   * Looks what became of it, seals that, and notes that it is open no more. Safe to repeat: it ends once.
   *
   * @param run its last; its id is `gone` where Temporal knows none, and empty where none was to end it
   * @param status Temporal's: TERMINATED, TIMED_OUT, FAILED, …; NOT_FOUND: it ended long ago, or never began
   * @returns false: it goes on, or has ended meanwhile
   * @throws {Error} that can't be done now
   */
  end(owner: ActivityParts, open: OpenAct, run: RunId, status: string): Promise<boolean>;
}

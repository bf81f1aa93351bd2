import type { StartedRun, WorkflowName } from "./domain/mod.ts";
import type { LostCall, Recovery } from "./recovery.ts";

/** The parts of a call that outlive it: the run that it starts, how its outcome is found again, and its receipt. */
export interface Durability<Context = never> {
  /** Workflow type that a caller starts through this operation. */
  readonly startsWorkflow?: WorkflowName;
  /**
   * True where the call's change, its receipt and its answer are committed together (`commit` of the context), so that a call
   * which was lost has done nothing.
   */
  readonly commits?: true;
  /**
   * Set where a call starts a run or joins one, by which a lost call is recovered: what it then tells.
   *
   * `ids`: the run's ids; `status`: how the run stands; `result`: the outcome of `longRunning`, for which the call waits.
   */
  readonly startsRun?: "ids" | "status" | "result";
  /** Present where it starts a workflow that outlives the call. Over A2A such a call is a task. */
  readonly longRunning?: LongRunning;
  /** True where the operation seals its own act, so that the call is not sealed as well. */
  readonly sealsItself?: true;
  /**
   * Returns public details of the output for the call's receipt: names and numbers, no private words.
   *
   * @param output of the call; while its run continues, what is known so far
   */
  receipt?(output: unknown): Readonly<Record<string, string | number>>;
  /**
   * Returns the input as private evidence keeps it: without texts that nobody may keep.
   *
   * @param input as sent where it was refused, else checked
   */
  asEvidence?(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Removes what a call has stored for a run that was then never started. @param ids as noted */
  dropUnstarted?(ids: Readonly<Record<string, string>>, context: Context): Promise<unknown>;
  /**
   * Finds out what a call did whose process ended in the middle, where it acts otherwise. Absent with the other two: the
   * outcome can't be found out.
   *
   * @throws {Problem} the outcome can't be read at the moment, or its run still continues
   */
  recover?(call: LostCall, context: Context): Promise<Recovery>;
}

/** How the result of a run that outlives its call becomes the operation's output. */
export interface LongRunning {
  /** True where others may have started the run or wait for it too; it then survives a cancelled call. */
  readonly shared?: true;
  /** Builds the operation's output. @param started as the call returned it @param result of the run */
  outcome(started: StartedRun, result: unknown): unknown;
}

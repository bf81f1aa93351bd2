import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
} from "@temporalio/workflow";
import {
  describeFailure,
  ERRORS,
  type MediaOrder,
  type MediaProgress,
  mediaProgressQuery,
  type MediaRequest,
} from "../contract/domain/mod.ts";
import { reasonOf } from "./_failures.ts";
import { perform, PROGRAM_FAILURE, SEAL } from "./_options.ts";
import { findPlace } from "./_place.ts";
import { currentRun } from "./_run.ts";

/** Times that programs are run before their failure is final: they may have been stopped together with their worker. */
const MAX_RUNS = 3;
const PAUSE = "1s";

/** Shows how far a run is. */
export type ShowProgress = (done: number, message: string) => void;

/**
 * Runs work on a request for media, and shows its progress to callers and in the Web UI. Where it fails, its request is
 * ended and sealed before the run fails as well.
 *
 * All of it is made at one place.
 *
 * @param total steps
 */
export async function makeMedia<Result>(
  request: MediaRequest,
  total: number,
  work: (order: MediaOrder, place: string, show: ShowProgress) => Promise<Result>,
): Promise<Result> {
  const order = { ...request, run: currentRun() };
  let progress: MediaProgress = { done: 0, total, message: "waits for its turn" };
  setHandler(mediaProgressQuery, () => progress);
  const show: ShowProgress = (done, message) => {
    progress = { done, total, message };
    setCurrentDetails(`**${message}** · ${request.id}`);
  };
  try {
    const result = await work(order, await findPlace(), show);
    show(total, "done");
    return result;
  } catch (error) {
    const code = reasonOf(error);
    const failure = describe(error);
    show(progress.done, `failed: ${describeFailure(code)}`);
    await CancellationScope.nonCancellable(() =>
      perform(SEAL, `Ends ${request.id} as failed`).failMediaRequest({ order, code, failure })
    );
    throw error;
  }
}

/** Runs work of programs, and again where one of them fails. */
export async function runPrograms<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let run = 1;; run++) {
    try {
      return await work();
    } catch (error) {
      if (run === MAX_RUNS || reasonOf(error) !== PROGRAM_FAILURE) throw error;
      await sleep(PAUSE);
    }
  }
}

/** Returns the message of a typed error, which is for the caller. Others may have paths of the machine. */
function describe(error: unknown): string {
  if (isCancellation(error)) return "It was cancelled";
  const { type, message } = (error instanceof ActivityFailure ? error.cause : error) as {
    readonly type?: string;
    readonly message?: string;
  };
  return type && type in ERRORS && message ? message : "The programs that make it have failed";
}

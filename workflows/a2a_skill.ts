import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  setHandler,
  uuid4,
  workflowInfo,
} from "@temporalio/workflow";
import {
  cancelUpdate,
  type RunState,
  sayUpdate,
  type SkillTask,
  type StartedRun,
  type TaskArtifact,
  type TaskRecord,
} from "../contract/domain/mod.ts";
import { describeFailedCall, failedTaskState, waitForHeldCall } from "./_held_call.ts";
import { perform, QUICK } from "./_options.ts";
import { agentMessage, assertOpen, conflict, openTask, reply } from "./_task.ts";

/** Longest that one activity waits for news of a run. */
const WATCH_SECONDS = 10;
/** Activities without news after which a run is read at intervals that grow to 15 seconds. */
const MAX_QUIET_WATCHES = 6;
const MAX_PAUSE_SECONDS = 15;
/** Longest wait for a run to end after the request to. */
const CANCEL_TIMEOUT_MS = 10_000;
const CANCEL_WATCH_SECONDS = 5;

/**
 * A call of a tool by an agent, as a task: waits for people where they are asked first, and for the run that the call has
 * started.
 *
 * @param first version 0, or as an earlier run left it
 * @param startedRun run of the call, where nobody is asked first
 */
export async function a2aSkill(first: SkillTask, startedRun?: StartedRun): Promise<TaskRecord> {
  const open = openTask(first);
  const { skill } = first;
  let isCanceled = false;
  let watch: CancellationScope | undefined;

  setHandler(sayUpdate, (_message) => open.task, {
    validator: (_message) => {
      assertOpen(open.task);
      throw conflict(`Task ${first.id} is one call of ${skill}, and takes no more messages`);
    },
  });
  setHandler(cancelUpdate, async () => {
    isCanceled = true;
    watch?.cancel();
    return await open.ended();
  }, { validator: () => assertOpen(open.task) });

  try {
    if (startedRun) await followRun(startedRun);
    else await waitForApproval(first.approval_id!);
  } catch (error) {
    await CancellationScope.nonCancellable(() =>
      isCancellation(error)
        ? end("canceled", "Canceled by an operator")
        : end("failed", `What became of ${skill} can't be told`)
    );
    if (!isCancellation(error)) throw error;
  }
  await condition(allHandlersFinished);
  return open.task;

  /** Waits until people have decided about the call, and for its end. */
  async function waitForApproval(approvalId: string): Promise<void> {
    const call = await waitForHeldCall({
      taskId: first.id,
      approvalId,
      isCanceled: () => isCanceled,
      onApproved: () => progress(`${approvalId} is approved; it is being done`),
    });
    if (!call) return await end("canceled", "Canceled before it was done");
    if (call.run) return await followRun(call.run);
    if (call.state === "done") return await complete({ approval_id: approvalId });
    await end(failedTaskState(call), describeFailedCall(approvalId, call));
  }

  /** Shows the steps of a run until it ends, or the task is canceled. */
  async function followRun(run: StartedRun): Promise<void> {
    if (open.task.state === "submitted") await open.move("working");
    let step: string | null = null;
    for (let quiet = 0; !isCanceled;) {
      const seconds = quiet < MAX_QUIET_WATCHES ? WATCH_SECONDS : 0;
      const state = await watchRun(run, step, seconds);
      if (!state) continue;
      if (state.state !== "running") return await endWith(run, state);
      if (state.step !== step && state.step !== null) {
        step = state.step;
        quiet = 0;
        await progress(step);
        continue;
      }
      quiet++;
      if (seconds === 0) {
        await condition(() => isCanceled, Math.min(quiet, MAX_PAUSE_SECONDS) * 1_000);
      }
      if (workflowInfo().continueAsNewSuggested && !isCanceled) {
        await condition(allHandlersFinished);
        await continueAsNew<typeof a2aSkill>(open.task as SkillTask, run);
      }
    }
    await cancelRun(run);
  }

  /** @returns undefined: the task was canceled meanwhile */
  async function watchRun(
    run: StartedRun,
    step: string | null,
    seconds: number,
  ): Promise<RunState | undefined> {
    watch = new CancellationScope();
    try {
      return await watch.run(() =>
        perform(QUICK, `Watches ${run.workflow_id}`).watchRun({ run, step, seconds })
      );
    } catch (error) {
      if (isCancellation(error) && isCanceled) return undefined;
      throw error;
    }
  }

  /** Asks the run to end, and waits for that for a while. */
  async function cancelRun(run: StartedRun): Promise<void> {
    const id = run.workflow_id;
    const isAsked = await perform(QUICK, `Asks ${id} to end`).cancelRun({ skill, run });
    if (!isAsked) {
      return await end("canceled", `Canceled; ${id} itself goes on, as others may wait for it`);
    }
    const deadline = Date.now() + CANCEL_TIMEOUT_MS;
    for (let step: string | null = null; Date.now() < deadline;) {
      const state: RunState = await perform(QUICK, `Waits for the end of ${id}`)
        .watchRun({ run, step, seconds: CANCEL_WATCH_SECONDS });
      if (state.state !== "running") return await endWith(run, state);
      step = state.step;
    }
    await end("canceled", `Canceled, as was asked for; ${id} is ending`);
  }

  async function endWith(run: StartedRun, { state, failure }: RunState): Promise<void> {
    if (state === "completed") await complete({ run });
    else if (state === "canceled") await end("canceled", "Canceled, as was asked for");
    else await end("failed", `${run.workflow_id} failed: ${failure}`);
  }

  function progress(text: string): Promise<void> {
    return open.move("working", { said: agentMessage(text) });
  }

  function end(state: "canceled" | "rejected" | "failed", text: string): Promise<void> {
    return open.move(state, reply(open.task, text));
  }

  async function complete(
    source: { readonly run: StartedRun } | { readonly approval_id: string },
  ): Promise<void> {
    const artifact: TaskArtifact = { artifact_id: uuid4(), name: skill, parts: [] };
    await open.move(
      "completed",
      { ...reply(open.task, `${skill} is done`), artifacts: [artifact] },
      (task) => perform(QUICK, "Stores the result").storeTaskResult({ task, skill, ...source }),
    );
  }
}

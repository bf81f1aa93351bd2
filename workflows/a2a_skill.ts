import {
  allHandlersFinished,
  ApplicationFailure,
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
} from "../domain/mod.ts";
import { refuseEnded } from "./a2a_task.ts";
import { perform, QUICK } from "./_options.ts";
import { untilRuled, whyNot } from "./_held_call.ts";
import { keepTask, said, saying } from "./_task.ts";

/** Seconds that one look waits for news of a run, and how often in a row until looks become rare. */
const LOOK_SECONDS = 10;
const PATIENT_LOOKS = 6;
/** How long a run that was asked to end is waited for, milliseconds. */
const ENDING_MS = 10_000;

/**
 * A call of a tool that an agent asked for, shown as a task: waits for people where they are asked first, and for the
 * run that the call has started.
 *
 * @param first version 0, or as an earlier run of this left it @param given by the call, where nobody is asked
 */
export async function a2aSkill(first: SkillTask, given?: StartedRun): Promise<TaskRecord> {
  const shown = keepTask(first);
  const { skill } = first;
  let canceled = false;
  let looking: CancellationScope | undefined;

  setHandler(sayUpdate, (_message) => shown.task, {
    validator: (_message) => {
      refuseEnded(shown.task);
      throw ApplicationFailure.nonRetryable(
        `Task ${first.id} is one call of ${skill}, and takes no more messages`,
        "Conflict",
      );
    },
  });
  setHandler(cancelUpdate, async () => {
    canceled = true;
    looking?.cancel();
    return await shown.ended();
  }, { validator: () => refuseEnded(shown.task) });

  try {
    await run();
  } catch (error) {
    await CancellationScope.nonCancellable(() =>
      isCancellation(error)
        ? shown.move("canceled", said(shown.task, "Canceled by an operator"))
        : shown.move("failed", said(shown.task, `What became of ${skill} can't be told`))
    );
    if (!isCancellation(error)) throw error;
  }
  await condition(allHandlersFinished);
  return shown.task;

  async function run(): Promise<void> {
    if (given) return await follow(given);
    const approval_id = first.approval_id!;
    const call = await untilRuled(
      { ...first, approval_id },
      () => canceled,
      () => shown.move("working", { said: saying(`${approval_id} is approved; it is being done`) }),
    );
    if (!call) return await shown.move("canceled", said(shown.task, "Canceled before it was done"));
    if (call.run) return await follow(call.run);
    if (call.state === "done") return await complete({ approval_id });
    const refused = ["denied", "expired", "refused"].includes(call.state);
    await shown.move(refused ? "rejected" : "failed", said(shown.task, whyNot(approval_id, call)));
  }

  async function follow(run: StartedRun): Promise<void> {
    if (shown.task.state === "submitted") await shown.move("working");
    let step: string | null = null;
    for (let quiet = 0; !canceled;) {
      const seconds = quiet < PATIENT_LOOKS ? LOOK_SECONDS : 0;
      const seen = await see(run, step, seconds);
      if (!seen) continue;
      if (seen.state !== "running") return await end(run, seen);
      if (seen.step !== step && seen.step !== null) {
        [step, quiet] = [seen.step, 0];
        await shown.move("working", { said: saying(step) });
        continue;
      }
      quiet++;
      if (seconds === 0) await condition(() => canceled, Math.min(quiet, 15) * 1_000);
      if (workflowInfo().continueAsNewSuggested && !canceled) {
        await condition(allHandlersFinished);
        await continueAsNew<typeof a2aSkill>(shown.task as SkillTask, run);
      }
    }
    await cancel(run);
  }

  /** @returns undefined: it was canceled meanwhile */
  async function see(
    run: StartedRun,
    step: string | null,
    seconds: number,
  ): Promise<RunState | undefined> {
    looking = new CancellationScope();
    try {
      return await looking.run(() =>
        perform(QUICK, `Looks how far ${run.workflow_id} is`).watchRun({ run, step, seconds })
      );
    } catch (error) {
      if (isCancellation(error) && canceled) return undefined;
      throw error;
    }
  }

  async function cancel(run: StartedRun): Promise<void> {
    const asked = await perform(QUICK, `Asks ${run.workflow_id} to end`).cancelRun({ skill, run });
    if (!asked) {
      const text = `Canceled; ${run.workflow_id} itself goes on, as others may wait for it`;
      return await shown.move("canceled", said(shown.task, text));
    }
    const until = Date.now() + ENDING_MS;
    for (let step: string | null = null; Date.now() < until;) {
      const seen = await perform(QUICK, `Waits for the end of ${run.workflow_id}`)
        .watchRun({ run, step, seconds: 5 });
      if (seen.state !== "running") return await end(run, seen);
      step = seen.step;
    }
    const text = `Canceled, as was asked for; ${run.workflow_id} is ending`;
    await shown.move("canceled", said(shown.task, text));
  }

  async function end(run: StartedRun, { state, failure }: RunState): Promise<void> {
    if (state === "completed") return await complete({ run });
    const text = state === "canceled"
      ? "Canceled, as was asked for"
      : `${run.workflow_id} failed: ${failure}`;
    await shown.move(state === "canceled" ? "canceled" : "failed", said(shown.task, text));
  }

  async function complete(
    from: { readonly run: StartedRun } | { readonly approval_id: string },
  ): Promise<void> {
    const artifact: TaskArtifact = { artifact_id: uuid4(), name: skill, parts: [] };
    await shown.move("completed", {
      ...said(shown.task, `${skill} is done`),
      artifacts: [artifact],
    }, (task) => perform(QUICK, "Shows what it gave").storeTaskResult({ task, skill, ...from }));
  }
}

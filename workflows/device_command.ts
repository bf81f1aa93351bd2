import {
  CancellationScope,
  condition,
  isCancellation,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import { ATTRIBUTE, commandChangedSignal, type CommandResult } from "../contract/domain/mod.ts";
import { askPeople } from "./_ask_people.ts";
import { perform, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";

/**
 * Longest time until a command is looked at although no signal has come, as a signal may be lost. Each look is a part of the
 * run's history, which must hold those of a month.
 */
const MAX_WAIT_SECONDS = 3_600;

/**
 * Has one command run on a device, once. Its id is `command-<command id>`.
 *
 * People approve it where they must. Then it gets its number and the receipt that issues it, and its device is sent it. What
 * the device states moves the command; this run waits for that, and ends a command whose time is over. It can be
 * cancelled as long as its device can't have got it.
 */
export async function deviceCommand(
  { command_id }: { readonly command_id: string },
): Promise<CommandResult> {
  let hasNews = false;
  setHandler(commandChangedSignal, () => void (hasNews = true));
  try {
    await issue(command_id);
    return await follow();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return await CancellationScope.nonCancellable(async () => {
      await perform(SEAL, `Stops ${command_id}`).stopCommand({ command_id, run: currentRun() });
      return await follow();
    });
  }

  async function follow(): Promise<CommandResult> {
    while (true) {
      hasNews = false;
      const { status, result, wait_seconds } = await perform(SEAL, `Looks at ${command_id}`)
        .followCommand({ command_id, run: currentRun() });
      setCurrentDetails(`**${status}**${result?.code ? ` · ${result.code}` : ""}`);
      if (result) return show(result);
      // What was issued and is not in the log yet is looked for again at once.
      const seconds = status === "queued" ? 1 : Math.min(wait_seconds, MAX_WAIT_SECONDS);
      await condition(() => hasNews, Math.ceil(seconds * 1_000));
    }
  }
}

/** Has people decide about a command where they must, and issues it. */
async function issue(command_id: string): Promise<void> {
  const order = { command_id, run: currentRun() };
  const { held } = await perform(SEAL, `Prepares ${command_id}`).prepareCommand(order);
  if (held) {
    setCurrentDetails(`**waiting_approval** · waits for people: ${held.approval_id}`);
    const { status } = await askPeople({ ...held, subject: command_id }, `Run ${command_id}?`);
    setCurrentDetails(`**${status}** by people: ${held.approval_id}`);
    await perform(SEAL, `Takes over that ${held.approval_id} is ${status}`).decideCommand(order);
  }
  await perform(SEAL, `Issues ${command_id}`).issueCommand(order);
}

function show(result: CommandResult): CommandResult {
  upsertSearchAttributes([
    { key: ATTRIBUTE.outcome, value: result.status },
    ...(result.receipt_id ? [{ key: ATTRIBUTE.receipt, value: result.receipt_id } as const] : []),
  ]);
  return result;
}

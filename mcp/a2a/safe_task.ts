import type { TaskMessage, TaskRecord } from "../../contract/domain/mod.ts";
import type { Tools } from "../tools.ts";
import { describeUntrusted, type MakeSafe, untrustedMeta } from "../untrusted.ts";

/**
 * Makes a task safe for a model: what the agent said and made quotes logs, tickets and people. The client's own messages
 * stay as they are.
 */
export async function makeTaskSafe<C>(
  task: TaskRecord,
  tenant: string,
  tools: Tools<C>,
  makeSafe: MakeSafe,
): Promise<TaskRecord> {
  const isTrusted = task.skill !== undefined &&
    !tools.get(task.skill)?.operation.presentation?.untrusted;
  if (isTrusted || task.said === null) return task;
  const isAgents = ({ role }: TaskMessage) => role === "agent";
  const safe = await makeSafe(tenant, {
    said: task.said.parts,
    history: task.history.filter(isAgents).map(({ parts }) => parts),
    artifacts: task.artifacts.map(({ parts }) => parts),
  });
  const { said, history, artifacts } = safe.value as {
    said: TaskMessage["parts"];
    history: TaskMessage["parts"][];
    artifacts: TaskMessage["parts"][];
  };
  const notice = task.skill === undefined ? [] : [{ text: describeUntrusted(safe) }];
  return {
    ...task,
    said: { ...task.said, parts: said },
    history: task.history.map((message) =>
      isAgents(message) ? { ...message, parts: history.shift()! } : message
    ),
    artifacts: task.artifacts.map((artifact, n) => ({
      ...artifact,
      parts: [...artifacts[n]!, ...notice],
      metadata: untrustedMeta(safe),
    })),
  };
}

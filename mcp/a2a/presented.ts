import type { TaskMessage, TaskRecord } from "../../domain/mod.ts";
import type { Tools } from "../tools.ts";
import { type FindInjection, marks, notice, shown } from "../untrusted.ts";

/**
 * A task as it may be shown to a model: what came out of it quotes logs, tickets and people, so nothing in it is hidden
 * or endless, and it is known where it reads like orders. What the asker itself said stays as it is.
 */
export function presented<C>(task: TaskRecord, tools: Tools<C>, find: FindInjection): TaskRecord {
  const trusted = task.skill !== undefined && !tools.get(task.skill)?.operation.untrusted;
  if (trusted || task.said === null) return task;
  const isOurs = ({ role }: TaskMessage) => role === "agent";
  const safe = shown({
    said: task.said.parts,
    history: task.history.filter(isOurs).map(({ parts }) => parts),
    artifacts: task.artifacts.map(({ parts }) => parts),
  }, find);
  const { said, history, artifacts } = safe.value as {
    said: TaskMessage["parts"];
    history: TaskMessage["parts"][];
    artifacts: TaskMessage["parts"][];
  };
  let n = 0;
  const told = task.skill === undefined ? [] : [{ text: notice(safe) }];
  return {
    ...task,
    said: { ...task.said, parts: said },
    history: task.history.map((one) => isOurs(one) ? { ...one, parts: history[n++]! } : one),
    artifacts: task.artifacts.map((one, at) => ({
      ...one,
      parts: [...artifacts[at]!, ...told],
      metadata: marks(safe),
    })),
  };
}

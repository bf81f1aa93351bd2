/** The judgement of an action's command. Several rails need it, and it depends on the command alone. */
import { memoize } from "./_memoize.ts";
import { type CommandJudgement, judgeCommand } from "./shell/mod.ts";
import { textsOf } from "./_texts.ts";
import type { ProposedAction } from "./types.ts";

/** Length of a command that is judged, in UTF-16 units. */
const MAX_LENGTH = 12_000;
const NO_COMMAND: CommandJudgement = { objections: [], looks: false, targets: [] };

const judge = memoize((command: string) => judgeCommand(command), (command) => command);

/** Judges a text as a command. */
export function judgeText(text: string): CommandJudgement {
  return judge(text.slice(0, MAX_LENGTH));
}

/** Judges the commands of an action, under whatever key; an action without one has nothing to object to. */
export function judgeActionCommand(action: ProposedAction): CommandJudgement {
  if (typeof action.command === "string" && !hasMore(action)) return judgeText(action.command);
  const lines = textsOf({ incident: "", action }).all.filter(({ isCommand }) => isCommand);
  return lines.length === 0 ? NO_COMMAND : judgeText(lines.map(({ text }) => text).join("\n"));
}

/** Tells whether an action has other keys than the contract's. */
function hasMore(action: ProposedAction): boolean {
  return Object.keys(action).some((key) => !CONTRACT_KEYS.has(key));
}

const CONTRACT_KEYS = new Set(
  ["description", "command", "target", "confidence", "blast_radius", "touches_secrets"],
);

/** Returns the names of what an action's command changes: services, containers, workloads, databases, hosts. */
export function namesActedOn(action: ProposedAction): readonly string[] {
  const { looks, targets } = judgeActionCommand(action);
  return looks ? [] : targets.map(({ name }) => name).filter((name) => !LOCAL.test(name));
}

const LOCAL = /^(localhost|127\.[\d.]+|::1|)$/;

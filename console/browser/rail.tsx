import { preciseText } from "./time.tsx";

/** The steps of a loop, by the phase of a ticket that each one ends with. */
const STEPS = [
  ["detected", "Detect"],
  ["ticketed", "Ticket"],
  ["diagnosed", "Diagnose"],
  ["remediated", "Remediate"],
  ["verified", "Verify"],
  ["sealed", "Close and seal"],
] as const;

/** An event that may have reached a step. */
interface Reached {
  readonly at: string;
  readonly phase: string | null;
}

/** How far a loop has come. @param events oldest first: then each step tells how long it took */
export function Rail({ phase, isOver, events = [] }: {
  readonly phase: string;
  readonly isOver: boolean;
  readonly events?: readonly Reached[];
}) {
  const reached = STEPS.findIndex(([name]) => name === phase);
  const ends = STEPS.map(([name]) => events.find((one) => one.phase === name)?.at);
  const began = (n: number) => ends.slice(0, n).findLast((at) => at !== undefined);
  return (
    <ol class="rail" aria-label="Steps of the loop">
      {STEPS.map(([name, title], n) => {
        const state = n <= reached ? "done" : n === reached + 1 && !isOver ? "now" : "ahead";
        const [from, to] = [began(n), ends[n]];
        return (
          <li key={name} class={state} aria-current={state === "now" ? "step" : undefined}>
            {title}
            <span class="unseen">{STATES[state]}</span>
            {from && to && state === "done" && (
              <span class="took">{preciseText(Date.parse(from), Date.parse(to))}</span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

const STATES = { done: ": done", now: ": now", ahead: ": not yet" } as const;

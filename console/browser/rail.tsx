/** The steps of a loop, by the phase of a ticket that each one ends with. */
const STEPS = [
  ["detected", "Detect"],
  ["ticketed", "Ticket"],
  ["diagnosed", "Diagnose"],
  ["remediated", "Remediate"],
  ["verified", "Verify"],
  ["sealed", "Close and seal"],
] as const;

/** How far a loop has come. */
export function Rail({ phase, isOver }: { readonly phase: string; readonly isOver: boolean }) {
  const reached = STEPS.findIndex(([name]) => name === phase);
  return (
    <ol class="rail" aria-label="Steps of the loop">
      {STEPS.map(([name, title], n) => {
        const state = n <= reached ? "done" : n === reached + 1 && !isOver ? "now" : "ahead";
        return (
          <li key={name} class={state} aria-current={state === "now" ? "step" : undefined}>
            {title}
            <span class="unseen">{STATES[state]}</span>
          </li>
        );
      })}
    </ol>
  );
}

const STATES = { done: ": done", now: ": now", ahead: ": not yet" } as const;

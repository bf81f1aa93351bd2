import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { read } from "../api.ts";
import { follow } from "../live.ts";
import type { Person } from "../shapes.ts";
import { Page } from "../shell.tsx";
import { StopSwitch } from "../stopped.tsx";
import { Decisions, lookAtDecisions } from "./decisions.tsx";
import { Keys, lookAtKeys } from "./keys.tsx";
import { lookAtPolicies, Policies } from "./policies.tsx";

const person = signal<Person | undefined>(undefined);
const problem = signal("");

async function refresh(): Promise<void> {
  try {
    const who = await read<Person>("/v1/console/session");
    const operates = who.rights.includes("operate");
    await Promise.all([lookAtDecisions(), ...(operates ? [lookAtPolicies(), lookAtKeys()] : [])]);
    [person.value, problem.value] = [who, ""];
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

/** Governance: who may do what by which rule, and what was decided. */
export function GovernancePage() {
  useEffect(() => follow(refresh), []);
  const who = person.value;
  const operates = who?.rights.includes("operate") ?? false;
  return (
    <Page title="Governance" person={who}>
      <h1>Governance</h1>
      {problem.value && <p class="problem" role="alert">{problem.value}</p>}
      {!who && !problem.value && <p class="quiet">Loading …</p>}
      {who && (
        <>
          <StopSwitch person={who} />
          <Decisions />
          {operates
            ? (
              <>
                <Policies />
                <Keys />
              </>
            )
            : (
              <p class="note">
                The policy and the keys are shown to people who may operate: that takes a key of
                tier admin.
              </p>
            )}
        </>
      )}
    </Page>
  );
}

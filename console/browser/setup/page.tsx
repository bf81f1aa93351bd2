import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { read } from "../api.ts";
import { follow } from "../live.ts";
import type { Person } from "../shapes.ts";
import { Page } from "../shell.tsx";
import { lookAtPlatform, Platform } from "./platform.tsx";
import type { Setup } from "./shapes.ts";
import { Steps } from "./steps.tsx";

const person = signal<Person | undefined>(undefined);
const setup = signal<Setup | undefined>(undefined);
const problem = signal("");

async function refresh(): Promise<void> {
  try {
    const [who, found] = await Promise.all([
      read<Person>("/v1/console/session"),
      read<Setup>("/v1/console/setup"),
    ]);
    [person.value, setup.value, problem.value] = [who, found, ""];
    await lookAtPlatform(who);
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

/** The first day: five steps, each with its proof; then the platform's parts and figures. */
export function SetupPage() {
  useEffect(() => follow(refresh), []);
  const [who, found] = [person.value, setup.value];
  return (
    <Page title="Setup" person={who}>
      <h1>Setup</h1>
      {problem.value && <p class="problem" role="alert">{problem.value}</p>}
      {!found && !problem.value && <p class="quiet">Loading …</p>}
      {who && found && (
        <>
          <Steps person={who} setup={found} refresh={refresh} />
          <Platform />
        </>
      )}
    </Page>
  );
}

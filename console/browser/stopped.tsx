import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { createActs } from "./acts.ts";
import { call, read } from "./api.ts";
import { follow } from "./live.ts";
import type { Person, Stop } from "./shapes.ts";

/** The stops that are in force. */
const stops = signal<readonly Stop[]>([]);
const acts = createActs(() => refresh().catch(() => {})); // each page says that by itself

async function refresh(): Promise<void> {
  ({ stops: stops.value } = await read<{ stops: readonly Stop[] }>("/v1/governance/stops"));
}

/** Stops everything that changes something, or lets it go on. */
const setStop = (value: boolean) =>
  acts.run(() =>
    call("POST", "/v1/admin/flags/read_only", {
      value,
      reason: value ? "Stopped in the console" : "Resumed in the console",
    })
  );

/** Says at the head of every page that everything is stopped. */
export function Stopped({ person }: { readonly person: Person }) {
  useEffect(() => follow(acts.look), []);
  const all = stops.value.filter(({ kind }) => kind === "all");
  if (all.length === 0 && !acts.problem) return null;
  const mayResume = person.rights.includes("operate") && all.some(({ by }) => by === "flag");
  return (
    <div class="stopped" role="alert">
      {all.map(({ by, reason }) => (
        <p key={by}>
          <strong>Everything that changes something is stopped:</strong> {reason}. {OTHERS[by]}
        </p>
      ))}
      {acts.problem && <p>{acts.problem}</p>}
      {mayResume && (
        <button
          type="button"
          class="plain"
          disabled={acts.busy}
          onClick={() => void setStop(false)}
        >
          Resume
        </button>
      )}
    </div>
  );
}

/** Stops everything, or lets it go on, and says what that does. */
export function StopSwitch({ person }: { readonly person: Person }) {
  const isSet = stops.value.some(({ kind, by }) => kind === "all" && by === "flag");
  return (
    <section aria-labelledby="stop">
      <h2 id="stop">The stop</h2>
      <p>
        It refuses every call that changes something, from the next one on, in every process;
        repairs and approved calls that have not begun wait. Reading goes on, and so do votes,
        cancelling and revoking.
      </p>
      {stops.value.filter(({ kind }) => kind !== "all").map(({ kind, name, reason }) => (
        <p key={kind + name}>
          The {kind} <code>{name}</code> is stopped: {reason}.
        </p>
      ))}
      {person.rights.includes("operate")
        ? (
          <button
            type="button"
            class={isSet ? "plain" : "danger"}
            disabled={acts.busy}
            onClick={() => void setStop(!isSet)}
          >
            {isSet ? "Resume everything" : "Stop everything"}
          </button>
        )
        : <p class="quiet">Stopping takes a key of tier admin.</p>}
    </section>
  );
}

/** How a stop ends that the page can't lift. */
const OTHERS: Readonly<Record<Stop["by"], string>> = {
  flag: "",
  operator: "The operator lifts it by npm run governance -- resume all.",
  file: "It ends when the governance file can be followed.",
};

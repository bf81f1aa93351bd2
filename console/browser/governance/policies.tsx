import { signal } from "@preact/signals";
import { createActs } from "../acts.ts";
import { call, read } from "../api.ts";
import { Time } from "../time.tsx";
import { diffLines } from "./diff.ts";
import type { Outcome, PolicyVersion, Trial } from "./shapes.ts";

/** A file without rules. */
const EMPTY = "rules: []\n";

const versions = signal<readonly PolicyVersion[] | undefined>(undefined);
/** The text that is tried; undefined: nobody has changed it. */
const draft = signal<string | undefined>(undefined);
const trial = signal<Trial | undefined>(undefined);
const acts = createActs(() => Promise.resolve());

/** Fetches the versions. */
export async function lookAtPolicies(): Promise<void> {
  const found = await read<{ versions: readonly PolicyVersion[] }>("/v1/governance/policies");
  versions.value = found.versions;
}

/** The policy: its versions with what each has changed, and a trial of another one. */
export function Policies() {
  const found = versions.value;
  if (!found) return null;
  return (
    <section aria-labelledby="policy">
      <h2 id="policy">Policy</h2>
      <p>
        {found.length === 0
          ? "No policy was set: each operation's shipped rule decides."
          : `Version ${found[0]!.name} is in force. `}{" "}
        It changes with the file sealoop.governance.yaml.{" "}
        <a href="/console/grants">
          Standing grants
        </a>{" "}
        allow what people have approved once for a time.
      </p>
      {found.map((one, n) => <Version key={one.version} one={one} before={found[n + 1]} />)}
      <Try inForce={found[0]?.text ?? EMPTY} />
    </section>
  );
}

function Version({ one, before }: {
  readonly one: PolicyVersion;
  readonly before: PolicyVersion | undefined;
}) {
  return (
    <details>
      <summary>
        Version {one.name} of <Time at={one.set_at} />
      </summary>
      <pre tabIndex={0} aria-label={`What version ${one.name} has changed`}>
        {diffLines(before?.text ?? "", one.text).map(({ sign, line }, n) => (
          <span key={n} class={sign === "+" ? "added" : sign === "-" ? "removed" : ""}>
            {sign} {line}{"\n"}
          </span>
        ))}
      </pre>
    </details>
  );
}

/** Tries a text on the calls of the last week. */
const tryOut = (policy: string) =>
  acts.run(async () => {
    trial.value = undefined;
    trial.value = await call<Trial>("POST", "/v1/governance/policies/try", { policy });
  });

function Try({ inForce }: { readonly inForce: string }) {
  const text = draft.value ?? inForce;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void tryOut(text);
      }}
    >
      <label for="draft">Try another policy on the last week's calls</label>
      <textarea
        id="draft"
        rows={10}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => draft.value = currentTarget.value}
      />
      <div class="actions">
        <button type="submit" disabled={acts.busy}>Try it</button>
      </div>
      <p class="quiet">Nothing is changed by it.</p>
      {acts.problem && <p class="problem" role="alert">{acts.problem}</p>}
      {trial.value && <Result found={trial.value} />}
    </form>
  );
}

function Result({ found }: { readonly found: Trial }) {
  const { calls, is_all, same, changes, unsure, changed, warnings, since } = found;
  return (
    <div role="status">
      <p>
        Of {calls} calls since <Time at={since} />, {changes} would be decided otherwise, {same}
        {" "}
        as before{unsure > 0 && `, and of ${unsure} that depends on arguments that are not known`}.
        {!is_all && " Older calls of the week were not looked at."}
      </p>
      {warnings.map((one) => <p key={one} class="note">{one}</p>)}
      <ul class="cards">
        {changed.map(({ call, before, after }) => (
          <li key={call.decision_id}>
            <strong>{call.tool}</strong> by {call.principal} over {call.door}
            <p>
              before: <Outcomes all={before} /> · after: <Outcomes all={after} />
            </p>
            <p class="quiet">
              {call.decision_id} · <Time at={call.at} />
            </p>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Outcomes({ all }: { readonly all: readonly Outcome[] }) {
  return (
    <>{all.map(({ rule, decision }) => `${decision.replace("_", " ")} by ${rule}`).join(", or ")}</>
  );
}

import type { Cause, Story } from "./shapes.ts";

/** The cause with what speaks for it. The first one that was named stays, as later diagnoses follow it. */
export function Causes({ story: { causes } }: { readonly story: Story }) {
  const main = causes.find(({ cause }) => cause !== null) ?? causes[0];
  return (
    <section aria-labelledby="cause">
      <h2 id="cause">Why</h2>
      {main ? <Named cause={main} /> : <p class="quiet">Nothing was diagnosed.</p>}
      {main && main.alternatives.length > 0 && (
        <details>
          <summary>What else was considered</summary>
          <ul>
            {main.alternatives.map(({ cause, because, observations, ruled_out }) => (
              <li key={cause}>
                <code>{cause}</code> {ruled_out ? "was ruled out" : "was not ruled out"}: {because}
                {" "}
                <Numbers run={main.run} numbers={observations} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Named({ cause: { cause, says, symptom, confidence, run, observations } }: {
  readonly cause: Cause;
}) {
  return (
    <p>
      {cause === null ? "The cause is not known." : says ?? "A cause was named."}{" "}
      {cause !== null && (
        <>
          Named: <code>{cause}</code>
          {confidence !== null && ` with a confidence of ${confidence.toFixed(2)}`}
          {observations.length > 0 ? " " : ", by the code of the check alone. "}
          <Numbers run={run} numbers={observations} />
          {" "}
        </>
      )}
      The symptom: <code>{symptom}</code>.
    </p>
  );
}

/** Leads to the observations that something rests on. */
function Numbers({ run, numbers }: { readonly run: number; readonly numbers: readonly number[] }) {
  if (numbers.length === 0) return null;
  return (
    <>
      {numbers.length === 1 ? "by observation " : "by observations "}
      {numbers.map((number, n) => (
        <>
          {n > 0 && ", "}
          <a key={number} href={`#observation-${run}-${number}`}>{number}</a>
        </>
      ))}.
    </>
  );
}

/** What was looked at, by the numbers that diagnoses use. */
export function Seen({ story: { observations } }: { readonly story: Story }) {
  const runs = Math.max(0, ...observations.map(({ run }) => run));
  return (
    <section aria-labelledby="seen">
      <h2 id="seen">What was seen</h2>
      {observations.length === 0 && <p class="quiet">Nothing is on record.</p>}
      {Array.from({ length: runs }, (_, n) => n + 1).map((run) => (
        <div key={run}>
          {runs > 1 && <h3>Run {run}</h3>}
          <ol class="moves">
            {observations.filter((one) => one.run === run).map(({ number, source, says, text }) => (
              <li key={number} value={number} id={`observation-${run}-${number}`}>
                <span class="tag">{source}</span> {says}
                {text && <pre tabIndex={0}>{text}</pre>}
              </li>
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}

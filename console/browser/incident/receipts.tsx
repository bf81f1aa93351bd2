import { signal } from "@preact/signals";
import { read } from "../api.ts";
import { Time } from "../time.tsx";
import { checkOne, readKeys, type Verdict } from "./check.ts";
import type { Proofs } from "./shapes.ts";

const proofs = signal<Proofs | undefined>(undefined);
/** By the id of the receipt; absent: the check is under way. */
const verdicts = signal<ReadonlyMap<string, Verdict>>(new Map());
const problem = signal("");

/** Fetches the receipts of an incident, and checks those that were not checked before. */
export async function lookAtReceipts(id: string): Promise<void> {
  try {
    const found = await read<Proofs>(`/v1/itsm/tickets/${id}/receipts`);
    proofs.value = found;
    const keys = await readKeys(found);
    for (const receipt of found.receipts) {
      if (verdicts.value.get(receipt.id)?.state === "checked") continue;
      verdicts.value = new Map(verdicts.value).set(receipt.id, checkOne(receipt, found, keys));
      await new Promise((resolve) => setTimeout(resolve)); // so that the page stays responsive
    }
    problem.value = "";
  } catch (error) {
    problem.value = `The receipts could not be checked: ${(error as Error).message}`;
  }
}

/** The receipts of the incident, each with the verdict of this browser. */
export function Receipts() {
  const found = proofs.value;
  return (
    <section aria-labelledby="receipts">
      <h2 id="receipts">Receipts</h2>
      {problem.value && <p class="problem" role="alert">{problem.value}</p>}
      {found && <Conclusion found={found} />}
      <ol class="receipts">
        {found?.receipts.map((one) => (
          <Receipt key={one.id} one={one} ledgerUrl={found.ledger_url} />
        ))}
        {found?.waiting.map((id) => (
          <li key={id} id={id}>
            {id} <span class="verdict open">not sealed yet</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Conclusion({ found: { receipts, waiting } }: { readonly found: Proofs }) {
  if (receipts.length + waiting.length === 0) return <p class="quiet">None yet.</p>;
  const states = receipts.map(({ id }) => verdicts.value.get(id)?.state);
  const count = (state: Verdict["state"]) => states.filter((one) => one === state).length;
  return (
    <p>
      {count("checked")} of {receipts.length}{" "}
      checked in this browser: hash, signature, links and their place in the signed log
      {count("broken") > 0 && <strong>; {count("broken")} broken</strong>}
      {count("unlogged") > 0 && `; ${count("unlogged")} not in the signed log yet`}
      {count("open") > 0 && `; ${count("open")} could not be checked`}
      {waiting.length > 0 && `; ${waiting.length} not sealed yet`}.{" "}
      <span class="quiet">
        The keys are those that this platform publishes; whoever doubts them pins them elsewhere.
      </span>
    </p>
  );
}

function Receipt({ one: { id, position, record }, ledgerUrl }: {
  readonly one: Proofs["receipts"][number];
  readonly ledgerUrl: string;
}) {
  const verdict = verdicts.value.get(id);
  const { category, action, outcome, timestamp } = readRecord(record);
  return (
    <li id={id}>
      <details>
        <summary>
          {category?.replaceAll("_", " ")}: {action}, {outcome}{" "}
          <span class={`verdict ${verdict?.state ?? "open"}`}>{verdict?.text ?? "checking …"}</span>
        </summary>
        {timestamp && <Time at={timestamp} />}
        <ul>
          {verdict?.steps.map(({ name, text }) => (
            <li key={name}>
              <strong>{name}:</strong> {text}
            </li>
          ))}
        </ul>
        <a href={`${ledgerUrl}/receipt/${encodeURIComponent(id)}`}>
          {id}, entry {position} of the public ledger
        </a>
      </details>
    </li>
  );
}

/** Returns the fields of a record that are shown; of one that can't be read, none. */
function readRecord(record: string): Readonly<Record<string, string | undefined>> {
  try {
    return JSON.parse(record);
  } catch {
    return { category: "a record that can't be read" };
  }
}

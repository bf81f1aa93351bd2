import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { compareLines, shownLines } from "../../../ledger/passkeys/mod.ts";
import { createActs } from "../acts.ts";
import { read } from "../api.ts";
import { follow } from "../live.ts";
import type { Approval, Person } from "../shapes.ts";
import { Page } from "../shell.tsx";
import { approveShown, type Decided, denyShown } from "../sign_list.ts";
import { durationText } from "../time.tsx";

const query = new URLSearchParams(location.search);
const person = signal<Person | undefined>(undefined);
/** The list as it is shown. Only the person has it shown anew, so that they decide about nothing that came meanwhile. */
const shown = signal<readonly Approval[] | undefined>(undefined);
/** What waits now. */
const waiting = signal<readonly Approval[]>([]);
/** Ids of those that the person has taken out. */
const left = signal<ReadonlySet<string>>(new Set());
/** What became of the last decision. */
const decided = signal<readonly Decided[]>([]);
const acts = createActs(refresh);
const compared = computed(() => compareLines((shown.value ?? []).map(shownLines)));

async function refresh(): Promise<void> {
  if (!query.has("group")) return location.replace("/console");
  const tenant = query.get("tenant");
  const of = tenant ? `?${new URLSearchParams({ tenant_id: tenant })}` : "";
  const [who, { approvals }] = await Promise.all([
    person.value ?? read<Person>("/v1/console/session"),
    read<{ approvals: Approval[] }>(`/v1/console/approvals/groups/${query.get("group")}${of}`),
  ]);
  [person.value, waiting.value] = [who, approvals];
  shown.value ??= approvals;
}

const decide = (how: (list: readonly Approval[]) => Promise<readonly Decided[]>) =>
  acts.run(async () => {
    decided.value = [];
    decided.value = await how(chosen());
  });

function stillWaits({ approval_id }: Approval): boolean {
  return waiting.value.some((one) => one.approval_id === approval_id);
}

const chosen = () =>
  (shown.value ?? []).filter((one) => stillWaits(one) && !left.value.has(one.approval_id));

function choose(id: string, isChosen: boolean): void {
  const without = new Set(left.value);
  if (isChosen) without.delete(id);
  else without.add(id);
  left.value = without;
}

function showAnew(): void {
  [shown.value, decided.value] = [waiting.value, []];
}

/** Approvals that ask for the same, of one target or another: each is listed, and one gesture decides about all. */
export function ApprovalsPage() {
  useEffect(() => follow(acts.look), []);
  const list = shown.value;
  return (
    <Page title="Decide together" person={person.value}>
      {acts.problem && <p class="problem" role="alert">{acts.problem}</p>}
      {list ? <Group list={list} /> : !acts.problem && <p class="quiet">Loading …</p>}
    </Page>
  );
}

function Group({ list }: { readonly list: readonly Approval[] }) {
  const added =
    waiting.value.filter(({ approval_id }) => !list.some((one) => one.approval_id === approval_id))
      .length;
  return (
    <>
      <h1>
        {list.length === 0
          ? "Nothing waits here"
          : `${list.length} ${list.length === 1 ? "asks" : "ask"} for the same`}
      </h1>
      <p aria-live="polite">
        {list.filter(stillWaits).length} of them wait.{" "}
        {added > 0 && `${added} more ${added === 1 ? "waits" : "wait"} since, and would stay.`}{" "}
        {added > 0 && (
          <button type="button" class="plain" disabled={acts.busy} onClick={showAnew}>
            Show the list anew
          </button>
        )}
      </p>
      <Results />
      {list.length > 0 && (
        <>
          <section aria-labelledby="exactly">
            <h2 id="exactly">What is the same in all</h2>
            <pre tabIndex={0}>{compared.value.shared.join("\n")}</pre>
            <p class="quiet">
              Where … stands they differ; each says how. A passkey signs all lines of each.
            </p>
          </section>
          <section aria-labelledby="targets">
            <h2 id="targets">What it is done to</h2>
            <ul class="choices">
              {list.map((one, n) => (
                <Item key={one.approval_id} one={one} lines={compared.value.own[n]!} />
              ))}
            </ul>
          </section>
          <Buttons />
        </>
      )}
    </>
  );
}

function Item(
  { one, lines }: { readonly one: Approval; readonly lines: readonly string[] },
) {
  const { approval_id, target, description, subject, asked_at } = one;
  const waits = stillWaits(one);
  const name = target ?? (description || subject);
  return (
    <li>
      <label>
        <input
          type="checkbox"
          checked={waits && !left.value.has(approval_id)}
          disabled={!waits || acts.busy}
          onChange={({ currentTarget }) => choose(approval_id, currentTarget.checked)}
        />{" "}
        <strong>{name}</strong>
      </label>{" "}
      <span class="quiet">
        <a href={`/console/approvals/${approval_id}`}>{approval_id}</a> ·{" "}
        {waits ? `waits for ${durationText(Date.parse(asked_at), Date.now())}` : "decided"}
      </span>
      {lines.length > 0 && (
        <details>
          <summary>Its own lines</summary>
          <pre tabIndex={0}>{lines.join("\n")}</pre>
        </details>
      )}
    </li>
  );
}

function Results() {
  const results = decided.value;
  const failed = results.filter(({ problem }) => problem !== null);
  if (results.length === 0) return null;
  const [{ status } = { status: "pending" }] = results.filter(({ problem }) => problem === null);
  return (
    <div role="status">
      <p class={`state ${status}`}>
        {results.length - failed.length} of {results.length} are decided
        {status !== "pending" && `: ${status}`}
      </p>
      {failed.length > 0 && (
        <ul>
          {failed.map(({ approval_id, problem }) => (
            <li key={approval_id}>
              <a href={`/console/approvals/${approval_id}`}>{approval_id}</a>: {problem}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Buttons() {
  const { rights = [], passkeys = 0 } = person.value ?? {};
  if (!rights.includes("approve")) {
    return (
      <p class="note">You may not decide about them: that takes a key issued with may_approve.</p>
    );
  }
  const count = chosen().length;
  return (
    <div class="actions decide">
      {passkeys > 0
        ? (
          <button
            type="button"
            disabled={acts.busy || count === 0}
            onClick={() => decide(approveShown)}
          >
            {acts.busy ? "Deciding …" : `Approve ${count} with your passkey`}
          </button>
        )
        : <a class="button" href="/console/you">Enrol a passkey to approve</a>}
      <button
        type="button"
        class="plain"
        disabled={acts.busy || count === 0}
        onClick={() => decide(denyShown)}
      >
        Deny {count}
      </button>
    </div>
  );
}

import { signal } from "@preact/signals";
import { read } from "../api.ts";
import { Field, Pager, Select } from "../fields.tsx";
import { Time } from "../time.tsx";
import { showQuery } from "../query.ts";
import type { Decision } from "./shapes.ts";

/** How often calls were decided about, by what they have in common. */
interface Count {
  readonly by: "key" | "rule" | "tool";
  readonly name: string;
  readonly principal: string | null;
  readonly allow: number;
  readonly needs_approval: number;
  readonly deny: number;
}

/** A page of decisions, with where the pages beside it begin. */
interface DecisionPage {
  readonly decisions: readonly Decision[];
  readonly older: string | null;
  readonly newer: string | null;
}

const FILTERS = ["decision", "key_id", "principal", "rule", "tool"] as const;
/** Rows that are shown of what is counted; the rest is folded. */
const SHOWN = 5;

const counts = signal<readonly Count[]>([]);
const page = signal<DecisionPage | undefined>(undefined);
/** What the address asks for. */
const asked = signal(new URLSearchParams(location.search));

/** Fetches what the address asks for. */
export async function lookAtDecisions(): Promise<void> {
  const query = new URLSearchParams({ limit: "25" });
  for (const name of [...FILTERS, "older_than", "newer_than"]) {
    const value = asked.value.get(name);
    if (value) query.set(name, value);
  }
  const [found, counted] = await Promise.all([
    read<DecisionPage>(`/v1/governance/decisions/search?${query}`),
    read<{ counts: readonly Count[] }>("/v1/governance/decisions/counts?days=7"),
  ]);
  [page.value, counts.value] = [found, counted.counts];
}

/** Asks for something else, which the address then says. */
function go(changes: Readonly<Record<string, string>>): void {
  asked.value = showQuery(asked.value, changes);
  void lookAtDecisions();
}

addEventListener("popstate", () => {
  asked.value = new URLSearchParams(location.search);
  void lookAtDecisions();
});

/** Decisions: how many of the last week, by what, and the newest that match. */
export function Decisions() {
  const value = (name: string) => asked.value.get(name) ?? "";
  const change = (name: string) => (text: string) => go({ [name]: text });
  const shown = page.value;
  return (
    <section aria-labelledby="decisions">
      <h2 id="decisions">Decisions</h2>
      <div class="thirds">
        <Counts title="By key, in 7 days" by="key" filter="key_id" />
        <Counts title="By rule" by="rule" filter="rule" />
        <Counts title="By tool" by="tool" filter="tool" />
      </div>
      <search class="filters">
        <Select
          name="Decision"
          options={DECISIONS}
          value={value("decision")}
          onChange={change("decision")}
        />
        <Field name="Key" value={value("key_id")} onChange={change("key_id")} />
        <Field name="Person or agent" value={value("principal")} onChange={change("principal")} />
        <Field name="Rule" value={value("rule")} onChange={change("rule")} />
        <Field name="Tool" value={value("tool")} onChange={change("tool")} />
      </search>
      {shown?.decisions.length === 0 && <p class="quiet">No decision matches.</p>}
      <ul class="cards">
        {shown?.decisions.map((one) => <Card key={one.decision_id} one={one} />)}
      </ul>
      {shown && <Pager older={shown.older} newer={shown.newer} go={go} />}
    </section>
  );
}

const DECISIONS = [
  ["", "any"],
  ["allow", "allowed"],
  ["needs_approval", "left to people"],
  ["deny", "denied"],
] as const;

function Counts({ title, by, filter }: {
  readonly title: string;
  readonly by: Count["by"];
  readonly filter: typeof FILTERS[number];
}) {
  const found = counts.value.filter((one) => one.by === by);
  const row = ({ name, principal, allow, needs_approval, deny }: Count) => (
    <li key={name}>
      <button type="button" class="link" onClick={() => go({ [filter]: name })}>
        {principal ?? name}
      </button>{" "}
      <span class="quiet">
        {allow} allowed{needs_approval > 0 && `, ${needs_approval} left to people`}
        {deny > 0 && `, ${deny} denied`}
      </span>
    </li>
  );
  return (
    <div>
      <h3>{title}</h3>
      {found.length === 0 && <p class="quiet">None.</p>}
      <ul class="plain">{found.slice(0, SHOWN).map(row)}</ul>
      {found.length > SHOWN && (
        <details>
          <summary>{found.length - SHOWN} more</summary>
          <ul class="plain">{found.slice(SHOWN).map(row)}</ul>
        </details>
      )}
    </div>
  );
}

function Card({ one }: { readonly one: Decision }) {
  const { decision_id, at, principal, key_id, door, tool, decision, rule, reasons, approval_id } =
    one;
  return (
    <li>
      <strong>{tool}</strong> by {principal} over {door}:{" "}
      <span class={`verdict ${TONES[decision]}`}>{WORDS[decision]}</span> by {rule}
      <p>{reasons.join("; ")}</p>
      <p class="quiet">
        {decision_id} · <Time at={at} /> · key {key_id}
        {approval_id && (
          <>
            {" · "}
            <a href={`/console/approvals/${approval_id}`}>{approval_id}</a>
          </>
        )}
      </p>
    </li>
  );
}

const WORDS = { allow: "allowed", needs_approval: "left to people", deny: "denied" } as const;
const TONES = { allow: "checked", needs_approval: "open", deny: "broken" } as const;

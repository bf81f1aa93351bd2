import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { read } from "../api.ts";
import { follow } from "../live.ts";
import { Field, Pager, Select } from "../fields.tsx";
import type { Person, Ticket } from "../shapes.ts";
import { Page } from "../shell.tsx";
import { Time } from "../time.tsx";
import { showQuery } from "../query.ts";

const LIMIT = 50;
const DAY_MS = 86_400_000;

/** A page of tickets, with where the pages beside it begin. */
interface TicketPage {
  readonly tickets: readonly Ticket[];
  readonly older: string | null;
  readonly newer: string | null;
}

const person = signal<Person | undefined>(undefined);
const page = signal<TicketPage | undefined>(undefined);
const problem = signal("");
/** What the address asks for. */
const asked = signal(new URLSearchParams(location.search));

async function refresh(): Promise<void> {
  const query = asked.value;
  try {
    const [who, found] = await Promise.all([
      person.value ?? read<Person>("/v1/console/session"),
      read<TicketPage>(`/v1/itsm/incidents/search?${toQuery(query)}`),
    ]);
    if (query !== asked.value) return; // an answer to an earlier question
    [person.value, page.value, problem.value] = [who, found, ""];
  } catch (error) {
    if (query === asked.value) problem.value = (error as Error).message;
  }
}

/** Returns the question that an address asks. Days are those of the viewer's zone. */
function toQuery(address: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams({ limit: String(LIMIT) });
  for (const name of ["query", "severity", "category", "service", "older_than", "newer_than"]) {
    const value = address.get(name);
    if (value) query.set(name, value);
  }
  const state = address.get("state");
  if (state === "people") {
    query.set("status", "open");
    query.set("escalated", "true");
  } else if (state) query.set("status", state);
  const [from, to] = [address.get("from"), address.get("to")].map((day) =>
    day ? Date.parse(`${day}T00:00`) : NaN
  );
  if (!Number.isNaN(from)) query.set("since", new Date(from!).toISOString());
  if (!Number.isNaN(to)) query.set("until", new Date(to! + DAY_MS).toISOString());
  return query;
}

/** Asks for something else, which the address then says. */
function go(changes: Readonly<Record<string, string>>): void {
  asked.value = showQuery(asked.value, changes);
  void refresh();
}

/** Incidents: those that match, a page at a time. */
export function IncidentsPage() {
  useEffect(() => {
    const onBack = () => {
      asked.value = new URLSearchParams(location.search);
      void refresh();
    };
    addEventListener("popstate", onBack);
    const end = follow(refresh);
    return () => {
      removeEventListener("popstate", onBack);
      end();
    };
  }, []);
  const shown = page.value;
  return (
    <Page title="Incidents" person={person.value}>
      <h1>Incidents</h1>
      <Filters />
      {problem.value && <p class="problem" role="alert">{problem.value}</p>}
      {!shown && !problem.value && <p class="quiet">Loading …</p>}
      {shown?.tickets.length === 0 && <p class="quiet">No incident matches.</p>}
      {shown && shown.tickets.length > 0 && <Rows list={shown.tickets} />}
      {shown && <Pager older={shown.older} newer={shown.newer} go={go} />}
    </Page>
  );
}

const STATES = [
  ["", "any state"],
  ["open", "open"],
  ["people", "left to people"],
  ["resolved", "resolved"],
] as const;
const SEVERITIES = [
  ["", "any severity"],
  ["critical", "critical"],
  ["high", "high"],
  ["medium", "medium"],
  ["low", "low"],
] as const;

function Filters() {
  const value = (name: string) => asked.value.get(name) ?? "";
  const change = (name: string) => (text: string) => go({ [name]: text });
  return (
    <search class="filters">
      <Field
        name="Search"
        type="search"
        value={value("query")}
        onChange={change("query")}
        placeholder="words of title, description or id"
      />
      <Select name="State" options={STATES} value={value("state")} onChange={change("state")} />
      <Select
        name="Severity"
        options={SEVERITIES}
        value={value("severity")}
        onChange={change("severity")}
      />
      <Field name="Service" value={value("service")} onChange={change("service")} />
      <Field name="Category" value={value("category")} onChange={change("category")} />
      <Field name="From" type="date" value={value("from")} onChange={change("from")} />
      <Field name="To" type="date" value={value("to")} onChange={change("to")} />
    </search>
  );
}

function Rows({ list }: { readonly list: readonly Ticket[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Incidents">
      <table class="rows">
        <thead>
          <tr>
            <th>Incident</th>
            <th>Severity</th>
            <th>State</th>
            <th>Opened</th>
          </tr>
        </thead>
        <tbody>
          {list.map((one) => (
            <tr key={one.ticket_id}>
              <td class="subject">
                <a href={`/console/incidents/${one.ticket_id}`}>{one.title}</a>
                <br />
                <span class="quiet">
                  {[one.ticket_id, one.service, one.category].filter(Boolean).join(" · ")}
                </span>
              </td>
              <td>
                <span class={`severity ${one.severity}`}>{one.severity}</span>
              </td>
              <td>{one.status === "open" && one.escalated ? "left to people" : one.status}</td>
              <td>
                <Time at={one.opened_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

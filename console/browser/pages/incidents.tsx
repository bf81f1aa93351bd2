import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { read } from "../api.ts";
import { follow } from "../live.ts";
import type { Person, Ticket } from "../shapes.ts";
import { Page } from "../shell.tsx";
import { Time } from "../time.tsx";

const STATUSES = ["", "open", "resolved"] as const;
const LIMIT = 100;

const person = signal<Person | undefined>(undefined);
const tickets = signal<readonly Ticket[] | undefined>(undefined);
const problem = signal("");
const filter = () => new URLSearchParams(location.search).get("status") ?? "";

async function refresh(): Promise<void> {
  const status = filter();
  const query = new URLSearchParams({ limit: String(LIMIT), ...(status ? { status } : {}) });
  try {
    const [who, found] = await Promise.all([
      read<Person>("/v1/console/session"),
      read<{ tickets: Ticket[] }>(`/v1/itsm/incidents?${query}`),
    ]);
    [person.value, tickets.value, problem.value] = [who, found.tickets, ""];
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

/** The newest incidents. */
export function IncidentsPage() {
  useEffect(() => follow(refresh), []);
  const list = tickets.value;
  return (
    <Page title="Incidents" person={person.value}>
      <h1>Incidents</h1>
      {problem.value && <p class="problem" role="alert">{problem.value}</p>}
      <nav class="filters" aria-label="Status">
        {STATUSES.map((status) => (
          <a
            key={status}
            href={status ? `?status=${status}` : location.pathname}
            aria-current={filter() === status ? "true" : undefined}
          >
            {status || "all"}
          </a>
        ))}
      </nav>
      {list?.length === 0 && <p class="quiet">There are none.</p>}
      {list && list.length > 0 && <Rows list={list} />}
      {list?.length === LIMIT && <p class="quiet">The newest {LIMIT} are shown.</p>}
    </Page>
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
                <span class="quiet">{one.ticket_id}{one.service && ` · ${one.service}`}</span>
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

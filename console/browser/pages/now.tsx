import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { read } from "../api.ts";
import { follow } from "../live.ts";
import type {
  ApprovalGroup,
  ConfigDrift,
  Person,
  PlatformStatus,
  RefusedFile,
  Ticket,
} from "../shapes.ts";
import { Page } from "../shell.tsx";
import { durationText } from "../time.tsx";
import { Rail } from "../rail.tsx";

const MAX = 100;

/** What needs people, and what goes on. */
interface Inbox {
  readonly person: Person;
  /** Number of approvals that wait. */
  readonly asked: number;
  readonly groups: readonly ApprovalGroup[];
  readonly escalated: readonly Ticket[];
  readonly running: readonly Ticket[];
  readonly status: PlatformStatus;
}

const inbox = signal<Inbox | undefined>(undefined);
const problem = signal("");

async function refresh(): Promise<void> {
  try {
    const [person, { waiting, groups }, { tickets }, status] = await Promise.all([
      read<Person>("/v1/console/session"),
      read<{ waiting: number; groups: ApprovalGroup[] }>(
        `/v1/console/approvals/groups?limit=${MAX}`,
      ),
      read<{ tickets: Ticket[] }>(`/v1/itsm/incidents?status=open&limit=${MAX}`),
      read<PlatformStatus>("/v1/status"),
    ]);
    inbox.value = {
      person,
      asked: waiting,
      groups,
      escalated: tickets.filter(({ escalated }) => escalated).toReversed(),
      running: tickets.filter(({ escalated, workflow_id }) => !escalated && workflow_id !== null),
      status,
    };
    problem.value = "";
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

/** The inbox: what needs the person now, the longest wait first. */
export function NowPage() {
  useEffect(() => follow(refresh), []);
  const now = inbox.value;
  return (
    <Page title="Now" person={now?.person}>
      {problem.value && <p class="problem" role="alert">{problem.value}</p>}
      {now ? <Inbox now={now} /> : !problem.value && <p class="quiet">Loading …</p>}
    </Page>
  );
}

function Inbox({ now: { asked, groups, escalated, running, status } }: { readonly now: Inbox }) {
  const waiting = asked + escalated.length;
  return (
    <>
      <h1>
        {waiting === 0
          ? "Nothing waits for you"
          : `${waiting} ${waiting === 1 ? "thing waits" : "things wait"} for people`}
      </h1>
      <section aria-labelledby="approvals">
        <h2 id="approvals">To decide</h2>
        {asked === 0 && <p class="quiet">No approval waits.</p>}
        <ul class="cards">
          {groups.map((one) => <ApprovalCard key={one.first.approval_id} group={one} />)}
        </ul>
      </section>
      <section aria-labelledby="escalated">
        <h2 id="escalated">Left to people</h2>
        {escalated.length === 0 && <p class="quiet">No incident is left to people.</p>}
        <ul class="cards">
          {escalated.map((one) => <TicketCard key={one.ticket_id} ticket={one} />)}
        </ul>
      </section>
      <section aria-labelledby="running">
        <h2 id="running">Going on</h2>
        {running.length === 0 && <p class="quiet">No loop runs.</p>}
        <ul class="cards">
          {running.map((one) => (
            <TicketCard key={one.ticket_id} ticket={one}>
              <Rail phase={one.phase} isOver={false} />
            </TicketCard>
          ))}
        </ul>
      </section>
      <BrokenSettings files={status.backends.settings?.detail?.refused ?? []} />
      <DriftingSettings drift={status.backends.settings?.detail?.drift ?? []} />
      <Lights status={status} />
    </>
  );
}

/** An approval, or several that differ in what they are done to alone: these are decided together on a page of their own. */
function ApprovalCard({ group: { group, size, first } }: { readonly group: ApprovalGroup }) {
  const { approval_id, description, subject, reasons, asked_at, requested_by, tenant_id } = first;
  const together = `/console/approvals?${new URLSearchParams({ group, tenant: tenant_id })}`;
  return (
    <li>
      <a href={size > 1 ? together : `/console/approvals/${approval_id}`}>
        {description || subject}
        {size > 1 && `, and ${size - 1} more that ask for the same`}
      </a>
      <p>{reasons.join("; ")}</p>
      <p class="quiet">
        {approval_id} · waits for {waited(asked_at)} · asked for by {requested_by}
      </p>
    </li>
  );
}

function TicketCard({ ticket, children }: {
  readonly ticket: Ticket;
  readonly children?: preact.ComponentChildren;
}) {
  const { ticket_id, title, severity, service, opened_at, taken_by } = ticket;
  return (
    <li>
      <a href={`/console/incidents/${ticket_id}`}>{title}</a>
      {children}
      <p class="quiet">
        {ticket_id} · <span class={`severity ${severity}`}>{severity}</span>
        {service && ` · ${service}`} · open for {waited(opened_at)}
        {taken_by && ` · ${taken_by} has it`}
      </p>
    </li>
  );
}

/** Settings files that were refused, with the place, what is wrong, and what holds meanwhile. */
function BrokenSettings({ files }: { readonly files: readonly RefusedFile[] }) {
  if (files.length === 0) return null;
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">Broken settings</h2>
      <ul class="cards">
        {files.map(({ file, line, wrong, meanwhile, refused_since }) => (
          <li key={file}>
            <strong>{line === null ? file : `${file}, line ${line}`}</strong>
            <p>{wrong}</p>
            <p class="quiet">
              Refused for {waited(refused_since)}; {meanwhile}. On its machine,{" "}
              <code>npm run check-files</code> says more.
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Settings files of workers that differ from what is in force. */
function DriftingSettings({ drift }: { readonly drift: readonly ConfigDrift[] }) {
  if (drift.length === 0) return null;
  return (
    <section aria-labelledby="drift">
      <h2 id="drift">Settings that differ</h2>
      <ul class="cards">
        {drift.map(({ name, place, version, since }, n) => (
          <li key={n}>
            <strong>{name}</strong>
            <p>
              A worker's file{place && ` at the place ${place.slice(0, 8)}`}{" "}
              is not what is in force, which is version {version}.
            </p>
            <p class="quiet">
              For {waited(since)}; what is in force stays. <code>npm run config -- list</code>{" "}
              names the place, and what would be right.
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Lights({ status: { status, backends } }: { readonly status: PlatformStatus }) {
  return (
    <section aria-labelledby="lights">
      <h2 id="lights">The platform is {status === "ok" ? "well" : "not well"}</h2>
      <ul class="lights">
        {Object.entries(backends).map(([name, { ok, error }]) => (
          <li key={name} class={ok ? "ok" : "bad"}>
            <strong>{name}</strong> {ok ? "is well" : error ?? "is not well"}
          </li>
        ))}
      </ul>
    </section>
  );
}

const waited = (since: string) => durationText(Date.parse(since), Date.now());

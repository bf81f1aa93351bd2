import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { createActs } from "../acts.ts";
import { read } from "../api.ts";
import { follow } from "../live.ts";
import { Markdown } from "../markdown.tsx";
import { Rail } from "../rail.tsx";
import type { Person, TicketDetails } from "../shapes.ts";
import { Page } from "../shell.tsx";
import { durationText, Time } from "../time.tsx";
import { Causes, Seen } from "./causes.tsx";
import { People } from "./people.tsx";
import { lookAtReceipts, Receipts } from "./receipts.tsx";
import type { Story } from "./shapes.ts";
import { Events, Reached } from "./story.tsx";

const id = location.pathname.split("/").at(-1)!;
const person = signal<Person | undefined>(undefined);
const ticket = signal<TicketDetails | undefined>(undefined);
const story = signal<Story | undefined>(undefined);
const acts = createActs(refresh);

async function refresh(): Promise<void> {
  const path = `/v1/itsm/tickets/${id}`;
  const [who, found, told] = await Promise.all([
    read<Person>("/v1/console/session"),
    read<TicketDetails>(`${path}?postmortem=true`),
    read<Story>(`${path}/story`),
  ]);
  [person.value, ticket.value, story.value] = [who, found, told];
  await lookAtReceipts(id);
}

/** One incident: how far it is, its story, its cause, its receipts, and its post-mortem. */
export function IncidentPage() {
  useEffect(() => follow(acts.look), []);
  const shown = ticket.value;
  return (
    <Page title={id} person={person.value}>
      {acts.problem && <p class="problem" role="alert">{acts.problem}</p>}
      {shown ? <Incident shown={shown} /> : !acts.problem && <p class="quiet">Loading …</p>}
    </Page>
  );
}

function Incident({ shown }: { readonly shown: TicketDetails }) {
  const { title, status, escalated, phase, postmortem } = shown;
  const told = story.value;
  return (
    <>
      <h1>{title}</h1>
      <State shown={shown} />
      <Rail phase={phase} isOver={status === "resolved" || escalated} events={told?.events ?? []} />
      {shown.resolution && <p>{shown.resolution}</p>}
      {shown.description && <p class="words">{shown.description}</p>}
      {shown.approval_id && (
        <p class="note">
          It waits for <a href={`/console/approvals/${shown.approval_id}`}>{shown.approval_id}</a>.
        </p>
      )}
      <People shown={shown} person={person.value} acts={acts} />
      {told && (
        <>
          <Events story={told} />
          <Causes story={told} />
          <Seen story={told} />
          <Reached story={told} service={shown.service} />
        </>
      )}
      <Receipts />
      <section aria-labelledby="postmortem">
        <h2 id="postmortem">Post-mortem</h2>
        <Markdown text={postmortem ?? ""} />
      </section>
      <p class="actions">
        <button type="button" class="plain" onClick={() => print()}>Print</button>
        <a class="button plain" href={`/v1/itsm/tickets/${id}/bundle`} download={`${id}.json`}>
          Download all of it as one file
        </a>
      </p>
    </>
  );
}

function State({ shown }: { readonly shown: TicketDetails }) {
  const { ticket_id, status, escalated, severity, service, opened_at, resolved_at } = shown;
  const end = resolved_at ? Date.parse(resolved_at) : Date.now();
  return (
    <p class={`state ${status === "open" ? "pending" : "approved"}`}>
      <strong>{status === "open" ? escalated ? "Left to people" : "Open" : "Resolved"}</strong>
      {` · ${ticket_id} · `}
      <span class={`severity ${severity}`}>{severity}</span>
      {service && ` · ${service}`} · opened <Time at={opened_at} /> ·{" "}
      {status === "open" ? "for" : "lasted"} {durationText(Date.parse(opened_at), end)}
    </p>
  );
}

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { createActs } from "../acts.ts";
import { call, read } from "../api.ts";
import { follow } from "../live.ts";
import { Markdown } from "../markdown.tsx";
import { Rail } from "../rail.tsx";
import type { Person, TicketDetails } from "../shapes.ts";
import { Page } from "../shell.tsx";
import { durationText, Time } from "../time.tsx";

const id = location.pathname.split("/").at(-1)!;
const person = signal<Person | undefined>(undefined);
const ticket = signal<TicketDetails | undefined>(undefined);
const acts = createActs(refresh);
const note = signal("");

async function refresh(): Promise<void> {
  try {
    const [who, found] = await Promise.all([
      read<Person>("/v1/console/session"),
      read<TicketDetails>(`/v1/itsm/tickets/${id}?postmortem=true`),
    ]);
    [person.value, ticket.value] = [who, found];
  } catch (error) {
    acts.problem = (error as Error).message;
  }
}

/** One incident: how far it is, what was seen, and its story. */
export function IncidentPage() {
  useEffect(() => follow(refresh), []);
  const shown = ticket.value;
  return (
    <Page title={id} person={person.value}>
      {acts.problem && <p class="problem" role="alert">{acts.problem}</p>}
      {shown ? <Incident shown={shown} /> : !acts.problem && <p class="quiet">Loading …</p>}
    </Page>
  );
}

function Incident({ shown }: { readonly shown: TicketDetails }) {
  const { title, status, escalated, severity, service, phase, opened_at, resolved_at } = shown;
  const end = resolved_at ? Date.parse(resolved_at) : Date.now();
  return (
    <>
      <h1>{title}</h1>
      <p class={`state ${status === "open" ? "pending" : "approved"}`}>
        <strong>{status === "open" ? escalated ? "Left to people" : "Open" : "Resolved"}</strong>
        {" · "}
        <span class={`severity ${severity}`}>{severity}</span>
        {service && ` · ${service}`} · opened <Time at={opened_at} /> ·{" "}
        {status === "open" ? "for" : "lasted"} {durationText(Date.parse(opened_at), end)}
      </p>
      <Rail phase={phase} isOver={status === "resolved" || escalated} />
      {shown.resolution && <p>{shown.resolution}</p>}
      {shown.approval_id && (
        <p class="note">
          It waits for <a href={`/console/approvals/${shown.approval_id}`}>{shown.approval_id}</a>.
        </p>
      )}
      <Responses shown={shown} />
      <section aria-labelledby="seen">
        <h2 id="seen">What was seen</h2>
        {shown.observations.length === 0 && <p class="quiet">Nothing yet.</p>}
        <ol class="moves">
          {shown.observations.map(({ number, source, says, text }) => (
            <li key={number} value={number}>
              <span class="tag">{source}</span> {says}
              {text && <pre tabIndex={0}>{text}</pre>}
            </li>
          ))}
        </ol>
      </section>
      {shown.postmortem && (
        <section aria-labelledby="story">
          <h2 id="story">Post-mortem</h2>
          <Markdown text={shown.postmortem} />
        </section>
      )}
    </>
  );
}

/** What a person does with an incident, by the last part of the operation's path. */
const respond = (how: "acknowledge" | "take" | "hand-back" | "retry" | "close", fields = {}) =>
  acts.run(() => call("POST", `/v1/itsm/tickets/${id}/${how}`, fields));

function Responses({ shown }: { readonly shown: TicketDetails }) {
  const { status, escalated, acknowledged_by, taken_by } = shown;
  if (status !== "open") return null;
  const may = person.value?.rights.includes("respond");
  const button = (title: string, how: Parameters<typeof respond>[0]) => (
    <button
      type="button"
      class="plain"
      disabled={acts.busy}
      onClick={() => respond(how)}
    >
      {title}
    </button>
  );
  return (
    <section aria-labelledby="people">
      <h2 id="people">People</h2>
      <p>
        {taken_by
          ? `${taken_by} has it: the platform does nothing about it until it is handed back.`
          : acknowledged_by
          ? `${acknowledged_by} has seen it: nobody is told of it any more.`
          : "Nobody has acknowledged it."}
      </p>
      {may && (
        <>
          <div class="actions">
            {!acknowledged_by && button("Acknowledge", "acknowledge")}
            {taken_by ? button("Hand back", "hand-back") : button("Take", "take")}
            {escalated && !taken_by && button("Try again", "retry")}
          </div>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void respond("close", { resolution: note.value });
            }}
          >
            <label for="note">What resolved it</label>
            <div class="line">
              <input
                id="note"
                type="text"
                required
                maxLength={4_000}
                value={note.value}
                onInput={({ currentTarget }) => note.value = currentTarget.value}
              />
              <button type="submit" disabled={acts.busy}>Resolve</button>
            </div>
          </form>
        </>
      )}
    </section>
  );
}

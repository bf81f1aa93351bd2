import { signal } from "@preact/signals";
import type { Acts } from "../acts.ts";
import { call } from "../api.ts";
import type { Person, TicketDetails } from "../shapes.ts";

const note = signal("");

/** What people do about an open incident: see it, take it, hand it back, have it tried again, resolve it. */
export function People({ shown, person, acts }: {
  readonly shown: TicketDetails;
  readonly person: Person | undefined;
  readonly acts: Acts;
}) {
  const { ticket_id, status, escalated, acknowledged_by, taken_by } = shown;
  if (status !== "open") return null;
  const may = person?.rights.includes("respond");
  /** By the last part of the operation's path. */
  const respond = (
    how: "acknowledge" | "take" | "hand-back" | "retry" | "close",
    fields = {},
  ) => acts.run(() => call("POST", `/v1/itsm/tickets/${ticket_id}/${how}`, fields));
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

import type { ApprovalContext, ApprovalDetails } from "./shapes.ts";
import { Time } from "./time.tsx";

/** What undoes an act, how it did before, and what came of it; each as the gateway knows it. */
export function Around({ shown, context }: {
  readonly shown: ApprovalDetails;
  readonly context: ApprovalContext | undefined;
}) {
  const { instead_of, offered } = shown;
  return (
    <>
      {instead_of && (
        <p class="note">
          It is offered instead of <a href={`/console/approvals/${instead_of}`}>{instead_of}</a>.
        </p>
      )}
      {offered && (
        <p class="note">
          <a href={`/console/approvals/${offered}`}>{offered}</a> was offered instead.
        </p>
      )}
      {context && <Outcome outcome={context.outcome} />}
      {context && (
        <section aria-labelledby="undo">
          <h2 id="undo">What undoes it</h2>
          {context.undo.length === 0
            ? <p>Nothing that the platform does: it has to be undone by hand.</p>
            : <ul>{context.undo.map(({ does, undo }) => <li key={does}>{does} {undo}</li>)}</ul>}
        </section>
      )}
      {context?.before && <Before before={context.before} />}
    </>
  );
}

function Outcome({ outcome }: { readonly outcome: ApprovalContext["outcome"] }) {
  if (!outcome) return null;
  const { state, error, receipt_id, ticket_id, resolution } = outcome;
  return (
    <section aria-labelledby="outcome">
      <h2 id="outcome">What came of it</h2>
      <p>
        {ticket_id
          ? <a href={`/console/incidents/${ticket_id}`}>{ticket_id}: {state}</a>
          : `The call: ${state}`}
        {error && `, ${error}`}
        {resolution && `. ${resolution}`}{" "}
        {receipt_id && <span class="quiet">receipt {receipt_id}</span>}
      </p>
    </section>
  );
}

function Before({ before }: { readonly before: NonNullable<ApprovalContext["before"]> }) {
  const { runs, succeeded, newest } = before;
  return (
    <section aria-labelledby="before">
      <h2 id="before">How it did before</h2>
      <p>
        {runs === 0
          ? "It was not done before."
          : `It was done ${runs} times, and helped ${succeeded} times.`}
      </p>
      <ul>
        {newest.map(({ at, id, state, helped }) => (
          <li key={id + at}>
            <Time at={at} />{" "}
            <a href={`/console/${id.startsWith("INC") ? "incidents" : "approvals"}/${id}`}>{id}</a>
            {" "}
            {helped ? "helped" : helped === false ? "did not help" : state}
          </li>
        ))}
      </ul>
    </section>
  );
}

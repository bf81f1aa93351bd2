/** The page of one approval: what will be done, why it asks, and the decision. It stands alone. */
import { render } from "preact";
import { signal } from "@preact/signals";
import { challengeOf, shownLines, statementOf } from "../../ledger/passkeys/mod.ts";
import { HASHES } from "../../ledger/page/checks/mod.ts";
import { createActs } from "./acts.ts";
import { call, read } from "./api.ts";
import { sign } from "./authenticator.ts";
import { Around } from "./around.tsx";
import { follow, view, viewers } from "./live.ts";
import { Offer } from "./offer.tsx";
import type { ApprovalContext, ApprovalDetails, Person, Proposal } from "./shapes.ts";
import { Page } from "./shell.tsx";
import { durationText, Time } from "./time.tsx";

const id = location.pathname.split("/").at(-1)!;
const person = signal<Person | undefined>(undefined);
const approval = signal<ApprovalDetails | undefined>(undefined);
const acts = createActs(refresh);
/** What is known around it. */
const context = signal<ApprovalContext | undefined>(undefined);

async function refresh(): Promise<void> {
  [person.value, approval.value] = await Promise.all([
    person.value ?? read<Person>("/v1/console/session"),
    read<ApprovalDetails>(`/v1/approvals/${id}/info`),
  ]);
  context.value = await read<ApprovalContext>(`/v1/approvals/${id}/context`);
}

const decide = (how: "deny" | "reopen") =>
  acts.run(() => call("POST", `/v1/approvals/${id}/${how}`, {}));

/** Has the person's passkey sign exactly what this page shows; what the server proposes counts only where it is the same. */
const approve = (shown: ApprovalDetails) =>
  acts.run(async () => {
    const path = `/v1/console/approvals/${id}/statement`;
    const { challenge_id, challenge, statement, rp_id, credentials } = await call<Proposal>(
      "POST",
      path,
      {},
    );
    if (challengeOf(HASHES, statementOf(HASHES, shown, statement)) !== challenge) {
      throw new Error("It has changed since this page showed it: read it again, and decide");
    }
    const assertion = await sign(challenge, rp_id, credentials);
    await call("POST", `/v1/approvals/${id}/approve`, { passkey: { challenge_id, assertion } });
  });

function ApprovalPage() {
  const shown = approval.value;
  return (
    <Page person={person.value} title={id}>
      {acts.problem && <p class="problem" role="alert">{acts.problem}</p>}
      {shown ? <Decision shown={shown} /> : !acts.problem && <p class="quiet">Loading …</p>}
    </Page>
  );
}

function Decision({ shown }: { readonly shown: ApprovalDetails }) {
  const { description, subject, reasons, reaches, ticket_id } = shown;
  return (
    <>
      <h1>{description || subject}</h1>
      <Status shown={shown} />
      <Looking />
      <section aria-labelledby="why">
        <h2 id="why">Why people are asked</h2>
        <ul>{reasons.map((reason) => <li key={reason}>{reason}</li>)}</ul>
        {reaches.length > 0 && <p>It reaches {reaches.join(", ")}.</p>}
        {ticket_id && (
          <p>
            It is about <a href={`/console/incidents/${ticket_id}`}>{ticket_id}</a>.
          </p>
        )}
      </section>
      <section aria-labelledby="exactly">
        <h2 id="exactly">Exactly what is decided</h2>
        <pre tabIndex={0}>{shownLines(shown).join("\n")}</pre>
        <p class="quiet">
          {shown.passkey && "Its rule takes a passkey: a key alone can't approve it. "}
          A passkey signs these very lines; the same ones are shown by npm run approvals -- show
          {" "}
          {id}.
        </p>
      </section>
      <Around shown={shown} context={context.value} />
      <Moves shown={shown} />
      {shown.status === "pending" && <Buttons shown={shown} />}
      {(shown.status === "pending" || shown.status === "approved") &&
        (shown.act || shown.action.runbook) && person.value?.rights.includes("approve") && (
        <p>
          <a href={`/console/grants?approval=${id}`}>Grant this for a while</a>
        </p>
      )}
      {shown.status === "pending" && person.value?.rights.includes("approve") && context.value && (
        <Offer shown={shown} context={context.value} acts={acts} />
      )}
      {(shown.status === "denied" && !shown.offered || shown.status === "expired") && (
        <p class="actions">
          <button
            type="button"
            class="plain"
            disabled={acts.busy}
            onClick={() => decide("reopen")}
          >
            Reopen
          </button>
        </p>
      )}
    </>
  );
}

/** Others who have this page open now. */
function Looking() {
  const others = viewers.value.filter((name) => name !== person.value?.principal);
  return (
    <p class="quiet" role="status">
      {others.length > 0 && `${others.join(", ")} is looking at it, too`}
    </p>
  );
}

function Status({ shown }: { readonly shown: ApprovalDetails }) {
  const { status, requested_by, asked_at, expires_at, approvers, needed, act: ran } = shown;
  const names = approvers.map(({ principal }) => principal).join(", ");
  if (status !== "pending") {
    return (
      <p class={`state ${status}`}>
        <strong>{STATES[status]}</strong>
        {names && ` by ${names}`}
        {shown.decided_at && (
          <>
            , <Time at={shown.decided_at} />
          </>
        )}
        {ran && <span>. The call: {ran.state}{ran.error && `, ${ran.error.message}`}</span>}
      </p>
    );
  }
  return (
    <p class="state pending">
      <strong>Waits for {needed === 1 ? "a person" : `${needed} people`}</strong>
      {` since ${durationText(Date.parse(asked_at), Date.now())}; asked for by ${requested_by}`}
      {names && `; approved by ${names}`}
      ; until <Time at={expires_at} />
    </p>
  );
}

const STATES = {
  approved: "Approved",
  denied: "Denied",
  expired: "Expired",
  outdated: "Outdated: what it was about has changed",
} as const;

function Moves({ shown: { moves } }: { readonly shown: ApprovalDetails }) {
  return (
    <section aria-labelledby="moves">
      <h2 id="moves">What happened so far</h2>
      <ol class="moves">
        {moves.map(({ at, move, principal, reason, receipt_id }) => (
          <li key={receipt_id}>
            <Time at={at} /> {move}
            {principal && ` by ${principal}`}
            {reason && `: ${reason}`} <span class="quiet">receipt {receipt_id}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Buttons({ shown }: { readonly shown: ApprovalDetails }) {
  const { rights = [], passkeys = 0 } = person.value ?? {};
  if (!rights.includes("approve")) {
    return (
      <p class="note">You may not decide about it: that takes a key issued with may_approve.</p>
    );
  }
  return (
    <div class="actions decide">
      {passkeys > 0
        ? (
          <button type="button" disabled={acts.busy} onClick={() => approve(shown)}>
            Approve with your passkey
          </button>
        )
        : <a class="button" href={`/console/you?to=${id}`}>Enrol a passkey to approve</a>}
      <button type="button" class="plain" disabled={acts.busy} onClick={() => decide("deny")}>
        Deny
      </button>
    </div>
  );
}

render(<ApprovalPage />, document.body);
view(id);
follow(acts.look);

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { GrantTerms } from "../../../contract/domain/mod.ts";
import { NOBLE } from "../../../ledger/page/checks/mod.ts";
import {
  challengeOf,
  grantLines,
  grantStatementOf,
  shownLines,
} from "../../../ledger/passkeys/mod.ts";
import { createActs } from "../acts.ts";
import { call, read } from "../api.ts";
import { sign } from "../authenticator.ts";
import { follow } from "../live.ts";
import type { ApprovalDetails, Person } from "../shapes.ts";
import { Page } from "../shell.tsx";
import { Time } from "../time.tsx";

/** A standing grant. */
interface Grant extends GrantTerms {
  readonly state: "asked" | "in_force" | "used_up" | "expired" | "revoked";
  readonly uses: number;
  readonly approval_id: string | null;
  readonly revoked_by: string | null;
}

/** A grant that the session is given to sign. */
interface ProposedGrant {
  readonly challenge_id: string;
  readonly challenge: string;
  readonly terms: GrantTerms;
  readonly rp_id: string;
  readonly credentials: readonly string[];
}

const DAY_SECONDS = 86_400;
const STATES = {
  asked: "waits for others",
  in_force: "in force",
  used_up: "used up",
  expired: "expired",
  revoked: "revoked",
} as const;

const approvalId = new URLSearchParams(location.search).get("approval");
const person = signal<Person | undefined>(undefined);
const grants = signal<readonly Grant[] | undefined>(undefined);
const approval = signal<ApprovalDetails | undefined>(undefined);
const proposed = signal<ProposedGrant | undefined>(undefined);
const uses = signal("10");
const days = signal("7");
const acts = createActs(refresh);

async function refresh(): Promise<void> {
  [person.value, grants.value, approval.value] = await Promise.all([
    person.value ?? read<Person>("/v1/console/session"),
    read<{ grants: Grant[] }>("/v1/console/grants").then(({ grants: list }) => list),
    approvalId
      ? approval.value ?? read<ApprovalDetails>(`/v1/approvals/${approvalId}/info`)
      : undefined,
  ]);
}

const propose = () =>
  acts.run(async () => {
    proposed.value = await call<ProposedGrant>("POST", "/v1/console/grants/statement", {
      approval_ids: [approvalId],
      max_uses: Number(uses.value),
      expires_in_seconds: Number(days.value) * DAY_SECONDS,
    });
  });

/** Has the person's passkey sign exactly the lines that this page shows, of the act that it shows. */
const make = (given: ProposedGrant, shown: ApprovalDetails) =>
  acts.run(async () => {
    const { challenge_id, challenge, terms, rp_id, credentials } = given;
    const [act, ...others] = terms.acts;
    const isShown = act?.action_sha256 === shown.action_sha256 && others.length === 0;
    if (
      !isShown || challengeOf(NOBLE, grantStatementOf(NOBLE, terms, challenge_id)) !== challenge
    ) {
      throw new Error("It is not what this page shows: read it again, and decide");
    }
    const assertion = await sign(challenge, rp_id, credentials);
    const passkey = { challenge_id, assertion };
    proposed.value = undefined;
    await call("POST", "/v1/console/grants", { approval_ids: [approvalId], passkey });
  });

const revoke = ({ grant_id, tenant_id }: Grant) =>
  acts.run(() => call("POST", `/v1/console/grants/${grant_id}/revoke`, { tenant_id }));

/** Standing grants, and the form that makes one of an approval's act. */
export function GrantsPage() {
  useEffect(() => follow(acts.look), []);
  const list = grants.value;
  return (
    <Page title="Standing grants" person={person.value}>
      <h1>Standing grants</h1>
      {acts.problem && <p class="problem" role="alert">{acts.problem}</p>}
      {approval.value && person.value?.rights.includes("approve") && (
        <NewGrant shown={approval.value} />
      )}
      {list ? <GrantList list={list} /> : !acts.problem && <p class="quiet">Loading …</p>}
    </Page>
  );
}

/** All grants, each with its uses, and one click to revoke it. */
function GrantList({ list }: { readonly list: readonly Grant[] }) {
  const responds = person.value?.rights.includes("respond");
  return (
    <section aria-labelledby="grants">
      <h2 id="grants">What may run without asking</h2>
      {list.length === 0 && <p class="quiet">There is none.</p>}
      <ul class="cards">
        {list.map((one) => (
          <li key={one.grant_id}>
            <strong>{one.acts.map(({ what }) => what).join(", ")}</strong>
            <p>
              {STATES[one.state]}
              {one.revoked_by && ` by ${one.revoked_by}`} · used {one.uses} of {one.max_uses}{" "}
              times · until <Time at={one.expires_at} />
            </p>
            <p class="quiet">
              {one.grant_id} · made by {one.made_by} · exactly as{" "}
              {one.acts.map(({ approval_id }) => (
                <a key={approval_id} href={`/console/approvals/${approval_id}`}>{approval_id}</a>
              ))}
              {one.approval_id && one.state === "asked" && (
                <>
                  {" "}· decide about it on{" "}
                  <a href={`/console/approvals/${one.approval_id}`}>{one.approval_id}</a>
                </>
              )}
            </p>
            {responds && (one.state === "in_force" || one.state === "asked") && (
              <p class="actions">
                <button
                  type="button"
                  class="plain"
                  disabled={acts.busy}
                  onClick={() => revoke(one)}
                >
                  Revoke {one.grant_id}
                </button>
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function NewGrant({ shown }: { readonly shown: ApprovalDetails }) {
  const given = proposed.value;
  return (
    <section aria-labelledby="new">
      <h2 id="new">Let this run without asking</h2>
      <pre tabIndex={0}>{shownLines(shown).join("\n")}</pre>
      <p>
        Exactly this action, and no other. {shown.approval_id}{" "}
        itself goes on waiting until it is decided.
      </p>
      {given
        ? (
          <>
            <pre tabIndex={0}>{grantLines(given.terms).join("\n")}</pre>
            <p class="actions">
              <button type="button" disabled={acts.busy} onClick={() => make(given, shown)}>
                Grant with your passkey
              </button>
              <button
                type="button"
                class="plain"
                disabled={acts.busy}
                onClick={() => proposed.value = undefined}
              >
                Change it
              </button>
            </p>
          </>
        )
        : (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void propose();
            }}
          >
            <p>
              <label>
                At most{" "}
                <input
                  type="number"
                  min={1}
                  max={1_000}
                  required
                  value={uses.value}
                  onInput={({ currentTarget }) => uses.value = currentTarget.value}
                />{" "}
                times
              </label>
            </p>
            <p>
              <label>
                For{" "}
                <input
                  type="number"
                  min={1}
                  max={30}
                  required
                  value={days.value}
                  onInput={({ currentTarget }) => days.value = currentTarget.value}
                />{" "}
                days
              </label>
            </p>
            <p class="actions">
              <button type="submit" disabled={acts.busy}>Show what you sign</button>
            </p>
          </form>
        )}
    </section>
  );
}

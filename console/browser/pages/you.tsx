import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { createActs } from "../acts.ts";
import { read } from "../api.ts";
import { enrol } from "../enrol.ts";
import { follow } from "../live.ts";
import type { Person } from "../shapes.ts";
import { Page, signOut } from "../shell.tsx";
import { Time } from "../time.tsx";

/** A passkey of the person's. */
interface PasskeyInfo {
  readonly passkey_id: string;
  readonly name: string;
  readonly enrolled_at: string;
  readonly last_used_at: string | null;
}

const person = signal<Person | undefined>(undefined);
const passkeys = signal<readonly PasskeyInfo[]>([]);
const name = signal("");
const acts = createActs(refresh);

async function refresh(): Promise<void> {
  const [who, found] = await Promise.all([
    read<Person>("/v1/console/session"),
    read<{ passkeys: PasskeyInfo[] }>("/v1/console/passkeys"),
  ]);
  [person.value, passkeys.value] = [who, found.passkeys];
}

/** Makes a passkey, and leads back to the approval that waits for it. */
const add = () =>
  acts.run(async () => {
    await enrol(name.value || "Passkey");
    name.value = "";
    const to = new URLSearchParams(location.search).get("to") ?? "";
    if (/^APR-[0-9a-f]{12}$/.test(to)) location.assign(`/console/approvals/${to}`);
  });

/** The person who has signed in, and their passkeys. */
export function YouPage() {
  useEffect(() => follow(acts.look), []);
  const who = person.value;
  return (
    <Page title="You" person={who}>
      <h1>{who?.principal ?? "You"}</h1>
      {acts.problem && <p class="problem" role="alert">{acts.problem}</p>}
      {who && (
        <p>
          You may {who.rights.join(", ")} for {who.tenant_id}; signed in until{" "}
          <Time at={who.expires_at} />.
        </p>
      )}
      <section aria-labelledby="passkeys">
        <h2 id="passkeys">Passkeys</h2>
        <p class="quiet">
          Approving takes one. Have two, on two devices: one of them confirms another.
        </p>
        <ul class="cards">
          {passkeys.value.map(({ passkey_id, name, enrolled_at, last_used_at }) => (
            <li key={passkey_id}>
              <strong>{name}</strong>
              <p class="quiet">
                {passkey_id} · enrolled <Time at={enrolled_at} /> · {last_used_at
                  ? (
                    <>
                      used <Time at={last_used_at} />
                    </>
                  )
                  : "never used"}
              </p>
            </li>
          ))}
        </ul>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void add();
          }}
        >
          <label for="name">What to call a new one</label>
          <div class="line">
            <input
              id="name"
              type="text"
              maxLength={100}
              placeholder="This device"
              value={name.value}
              onInput={({ currentTarget }) => name.value = currentTarget.value}
            />
            <button type="submit" disabled={acts.busy}>Enrol a passkey</button>
          </div>
        </form>
      </section>
      <p class="actions">
        <button type="button" class="plain" onClick={() => void signOut()}>Sign out</button>
      </p>
    </Page>
  );
}

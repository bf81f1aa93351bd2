import { signal } from "@preact/signals";
import { createActs } from "../acts.ts";
import { call, read } from "../api.ts";
import { Time } from "../time.tsx";
import type { KeyInfo } from "./shapes.ts";

const keys = signal<readonly KeyInfo[]>([]);
/** The key whose revocation was begun: it takes a second click, as it can't be undone. */
const chosen = signal("");
const acts = createActs(lookAtKeys);

/** Fetches the keys. */
export async function lookAtKeys(): Promise<void> {
  ({ keys: keys.value } = await read<{ keys: readonly KeyInfo[] }>("/v1/keys"));
}

const revoke = (key_id: string) => acts.run(() => call("POST", "/v1/keys/revoke", { key_id }));

/** The keys that are valid. */
export function Keys() {
  return (
    <section aria-labelledby="api-keys">
      <h2 id="api-keys">Keys</h2>
      {acts.problem && <p class="problem" role="alert">{acts.problem}</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="All keys">
        <table class="rows">
          <thead>
            <tr>
              <th>Holder</th>
              <th>May</th>
              <th>Last used</th>
              <th>
                <span class="unseen">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>{keys.value.map((one) => <Row key={one.key_id} one={one} />)}</tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ one }: { readonly one: KeyInfo }) {
  const { key_id, tenant, tier, scope, principal, may_approve, last_used_at, expires_at } = one;
  const isChosen = chosen.value === key_id;
  return (
    <tr>
      <td class="subject">
        {principal}
        <br />
        <span class="quiet">{key_id} · {tenant}</span>
      </td>
      <td>
        {[tier, scope, may_approve ? "may approve" : ""].filter(Boolean).join(", ")}
        {expires_at && (
          <>
            {" "}
            until <Time at={expires_at} />
          </>
        )}
      </td>
      <td>{last_used_at ? <Time at={last_used_at} /> : "never"}</td>
      <td>
        <button
          type="button"
          class="plain"
          disabled={acts.busy}
          aria-label={isChosen ? `Revoke the key ${key_id} for good` : `Revoke the key ${key_id}`}
          onClick={() => isChosen ? void revoke(key_id) : chosen.value = key_id}
        >
          {isChosen ? "Revoke for good" : "Revoke"}
        </button>
      </td>
    </tr>
  );
}

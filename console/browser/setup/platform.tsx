import { signal } from "@preact/signals";
import { daysChart } from "../../../ledger/page/views/mod.ts";
import { read } from "../api.ts";
import type { Person, PlatformStatus } from "../shapes.ts";
import { preciseText } from "../time.tsx";
import { showView } from "../view.ts";
import type { Flag, Integration, Resolutions } from "./shapes.ts";

/** What is known of the platform. */
interface Known {
  readonly status: PlatformStatus;
  readonly integrations: readonly Integration[];
  readonly resolutions: Resolutions;
  readonly flags: readonly Flag[];
}

const known = signal<Known | undefined>(undefined);

/** Fetches parts, integrations, figures and, for those who may operate, flags. */
export async function lookAtPlatform({ rights }: Person): Promise<void> {
  const [status, { integrations }, resolutions, { flags }] = await Promise.all([
    read<PlatformStatus>("/v1/status"),
    read<{ integrations: readonly Integration[] }>("/v1/integrations/all"),
    read<Resolutions>("/v1/itsm/mttr"),
    rights.includes("operate")
      ? read<{ flags: readonly Flag[] }>("/v1/admin/flags")
      : Promise.resolve({ flags: [] }),
  ]);
  known.value = { status, integrations, resolutions, flags };
}

/** The platform's parts, its figures as plots, its integrations and its flags. */
export function Platform() {
  const found = known.value;
  if (!found) return null;
  const { status: { backends }, integrations, flags } = found;
  return (
    <>
      <section aria-labelledby="parts">
        <h2 id="parts">Parts</h2>
        <ul class="lights">
          {Object.entries(backends).map(([name, { ok, error }]) => (
            <li key={name} class={ok ? "ok" : "bad"}>
              <strong>{name}</strong> {ok ? "is well" : error ?? "is not well"}
            </li>
          ))}
        </ul>
      </section>
      <Figures found={found.resolutions} />
      <section aria-labelledby="integrations">
        <h2 id="integrations">Integrations</h2>
        <ul class="plain">
          {integrations.map(({ integration, status, detail }) => (
            <li key={integration}>
              <strong>{integration}</strong> <span class="tag">{status.replaceAll("_", " ")}</span>
              {" "}
              <span class="quiet">{detail}</span>
            </li>
          ))}
        </ul>
      </section>
      {flags.length > 0 && (
        <section aria-labelledby="flags">
          <h2 id="flags">Flags</h2>
          <ul class="plain">
            {flags.map(({ key, value, about }) => (
              <li key={key}>
                <code>{key}</code> <span class="tag">{value ? "set" : "not set"}</span>{" "}
                <span class="quiet">{about}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Figures({ found: { resolved, median_seconds, by_day } }: {
  readonly found: Resolutions;
}) {
  const days = new Map(by_day.map(({ day, resolved }) => [day, resolved]));
  const today = new Date().toISOString().slice(0, 10);
  return (
    <section aria-labelledby="figures">
      <h2 id="figures">Resolved incidents</h2>
      <p>
        {resolved} without drills
        {median_seconds !== null &&
          `, half of them within ${preciseText(0, median_seconds * 1_000)}`}
        .
      </p>
      {showView(daysChart(days, today, { noun: "incident", hrefOf }))}
    </section>
  );
}

/** Leads to the incidents that were opened until the end of a day. */
const hrefOf = (day: string) => `/console/incidents?state=resolved&to=${day}`;

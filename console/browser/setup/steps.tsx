import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type Acts, createActs } from "../acts.ts";
import { call } from "../api.ts";
import type { Person } from "../shapes.ts";
import { preciseText, Time } from "../time.tsx";
import type { Setup } from "./shapes.ts";

/** The key of an agent that was issued just now: it can be read this once. */
const issued = signal("");
const channel = signal("");
/** Approval that a test message waits for; empty: none does. */
const held = signal("");
const refreshed = signal<() => Promise<unknown>>(() => Promise.resolve());
const acts: Acts = createActs(() => refreshed.value());

/** The answer to a message; `governance` where a rule leaves it to people. */
interface Sent {
  readonly governance?: { readonly approval_id?: string };
}

const SERVICE = `services:
  - name: shop
    check: { http: "http://127.0.0.1:9000/health" }
    restart: { command: [systemctl, restart, shop] }
`;

/** The five steps of the first day. */
export function Steps({ person, setup, refresh }: {
  readonly person: Person;
  readonly setup: Setup;
  readonly refresh: () => Promise<unknown>;
}) {
  refreshed.value = refresh;
  const { drill, services, alert_source, message, agent } = setup;
  const done = [drill, services > 0 || alert_source, message, person.passkeys > 0, agent];
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">{done.filter(Boolean).length} of 5 steps of the first day are done</h2>
      {acts.problem && <p class="problem" role="alert">{acts.problem}</p>}
      <ol class="cards">
        <Drill drill={drill} />
        <Services setup={setup} />
        <Channel setup={setup} />
        <Step title="Enrol a passkey, to approve with" isDone={person.passkeys > 0}>
          <p>
            {person.passkeys > 0
              ? `You have ${person.passkeys}. Have two, on two devices. `
              : "A fingerprint, a face or a PIN of your device. "}
            <a href="/console/you">Passkeys</a>
          </p>
        </Step>
        <Agent person={person} setup={setup} />
      </ol>
    </section>
  );
}

function Step({ title, isDone, children }: {
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <li>
      <strong>{title}</strong>{" "}
      <span class={`verdict ${isDone ? "checked" : "open"}`}>{isDone ? "done" : "not yet"}</span>
      {children}
    </li>
  );
}

function Drill({ drill }: Pick<Setup, "drill">) {
  const run = () => acts.run(() => call("POST", "/v1/itsm/test", { wait_seconds: 30 }));
  return (
    <Step title="See a fault healed" isDone={drill !== null}>
      {drill && (
        <p>
          <a href={`/console/incidents/${drill.ticket_id}`}>{drill.ticket_id}</a> was healed after
          {" "}
          {preciseText(Date.parse(drill.opened_at), Date.parse(drill.resolved_at))},{" "}
          <Time at={drill.resolved_at} />.
        </p>
      )}
      <p class="quiet">A drill breaks a small service of the platform's own, and nothing else.</p>
      <button type="button" class="plain" disabled={acts.busy} onClick={() => void run()}>
        {acts.busy ? "Working …" : "Run a drill"}
      </button>
    </Step>
  );
}

function Services({ setup: { services, alert_source } }: { readonly setup: Setup }) {
  return (
    <Step title="Add a service, or a source of alerts" isDone={services > 0 || alert_source}>
      <p>
        {services} of your own {services === 1 ? "service is" : "services are"}{" "}
        watched; alerts of your monitoring are {alert_source ? "read" : "not read"}.
      </p>
      <details>
        <summary>How</summary>
        <p>
          Write what to watch into sealoop.services.yaml in the data folder; it is in force within
          seconds. For Alertmanager, set SEALOOP_ALERTMANAGER_URL.
        </p>
        <pre tabIndex={0}>{SERVICE}</pre>
      </details>
    </Step>
  );
}

function Channel({ setup: { channels, message } }: { readonly setup: Setup }) {
  const chosen = channels.find(({ name }) => name === channel.value) ?? channels[0];
  const send = () =>
    acts.run(async () => {
      held.value = "";
      const { governance } = await call<Sent>("POST", "/v1/comms/send", {
        channel: chosen!.kind,
        to: chosen!.name,
        text: "A test from the console: this channel works.",
      });
      held.value = governance?.approval_id ?? "";
    });
  return (
    <Step title="Have people told over a channel" isDone={message !== null}>
      {message && (
        <p>
          {message.channel} has taken {message.message_id}, <Time at={message.at} />.
        </p>
      )}
      {held.value && (
        <p>
          The message waits for a person who may approve:{" "}
          <a href={`/console/approvals/${held.value}`}>{held.value}</a>.
        </p>
      )}
      {chosen
        ? (
          <div class="line">
            <select
              aria-label="Channel"
              value={chosen.name}
              onChange={({ currentTarget }) => channel.value = currentTarget.value}
            >
              {channels.map(({ name, kind }) => (
                <option key={name} value={name}>{name} ({kind})</option>
              ))}
            </select>
            <button type="button" class="plain" disabled={acts.busy} onClick={() => void send()}>
              Send a test message
            </button>
          </div>
        )
        : <p>Name one in sealoop.comms.yaml in the data folder: ntfy, Slack, Teams, mail, …</p>}
    </Step>
  );
}

function Agent({ person, setup: { agent, mcp_port } }: {
  readonly person: Person;
  readonly setup: Setup;
}) {
  const issue = () =>
    acts.run(async () => {
      const { api_key } = await call<{ api_key: string }>("POST", "/v1/keys/generate", {
        tenant: person.tenant_id,
        tier: "partner",
        principal: "AI agent",
      });
      issued.value = api_key;
    });
  const url = `${location.protocol}//${location.hostname}:${mcp_port}/mcp`;
  return (
    <Step title="Connect an AI agent" isDone={agent !== null}>
      {agent && (
        <p>
          {agent.principal} called <code>{agent.tool}</code>, <Time at={agent.at} />.
        </p>
      )}
      {issued.value && (
        <>
          <p>Paste this into the settings of your MCP client. The key is shown this once.</p>
          <pre tabIndex={0}>{settingsOf(url, issued.value)}</pre>
        </>
      )}
      {person.rights.includes("operate")
        ? (
          <div class="line">
            <button type="button" class="plain" disabled={acts.busy} onClick={() => void issue()}>
              Issue a key for an agent
            </button>
          </div>
        )
        : <p class="quiet">Issuing its key takes a key of tier admin.</p>}
    </Step>
  );
}

const settingsOf = (url: string, key: string) =>
  JSON.stringify(
    { mcpServers: { sealoop: { url, headers: { Authorization: `Bearer ${key}` } } } },
    null,
    2,
  );

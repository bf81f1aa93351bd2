import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { findManagedProcess, stopManagedProcess } from "../../integrations/host/mod.ts";
import { platformSettings, startPlatform, type TestPlatform } from "../_platform.ts";
import { freePort, testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";

const READY = /sealoop is ready/;

/** Listens on a port, where another one answers: without its database it can't start. Ends after a time. */
const PROGRAM = `
import { connect, createServer } from "node:net";
const [port, needs, endsAfterMs] = process.argv.slice(2).map(Number);
const listen = () => createServer((socket) => socket.end()).listen(port, "127.0.0.1");
if (needs) connect(needs, "127.0.0.1", listen).on("error", () => process.exit(3));
else listen();
if (endsAfterMs) setTimeout(() => process.exit(1), endsAfterMs);
`;

/** What these tests read of answers. */
interface Answer {
  readonly tickets?: readonly {
    readonly service: string | null;
    readonly status: string;
    readonly escalated: boolean;
    readonly resolution: string | null;
  }[];
  readonly services?: readonly {
    readonly name: string;
    readonly status: string;
    readonly restarts: number | null;
  }[];
}

describe("services that sealoop runs", () => {
  let data: string;
  let settings: Record<string, string>;
  let platform: TestPlatform;
  const ports: Record<string, number> = {};
  const names = ["base", "front", "kept", "dies"] as const;

  before(async () => {
    data = join(await testFolder(), "data");
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "service.mjs"), PROGRAM);
    for (const name of names) ports[name] = await freePort();
    declare("front", "base", "kept");
    // No sweep of the schedule comes by within this test.
    settings = { ...await platformSettings(data), SEALOOP_SWEEP_SECONDS: "86400" };
    platform = startPlatform(settings);
    await platform.until(READY);
  });

  /** Writes the services file. */
  function declare(...declared: (typeof names)[number][]): void {
    const entry = (name: string, more: object, ...args: unknown[]) => ({
      name,
      check: { tcp: `127.0.0.1:${ports[name]}` },
      restart: {
        process: {
          command: [process.execPath, join(data, "service.mjs"), ports[name], ...args].map(String),
        },
      },
      ...more,
    });
    const entries = {
      front: entry("front", { on_stop: "stop", depends_on: ["base"] }, ports.base),
      base: entry("base", { on_stop: "stop" }),
      kept: entry("kept", {}),
      dies: entry("dies", { on_stop: "stop" }, 0, 2_000),
    };
    const services = declared.map((name) => entries[name]);
    writeFileSync(join(data, "sealoop.services.yaml"), JSON.stringify({ services }));
  }

  after(async () => {
    await platform?.end();
    for (const name of names) await stopManagedProcess(data, name);
  });

  const pidOf = (name: string) => findManagedProcess(data, name)?.pid;
  const answers = (name: string) =>
    new Promise<boolean>((resolve) => {
      const socket = createConnection(ports[name]!, "127.0.0.1");
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });

  async function call(method: "GET" | "POST", path: string, body?: object) {
    const response = await fetch(`http://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}${path}`, {
      method,
      headers: {
        "x-api-key": readFileSync(join(data, "admin.key"), "utf8").trim(),
        "content-type": "application/json",
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return await response.json() as Answer;
  }

  const tickets = async () => (await call("GET", "/v1/itsm/incidents?limit=200")).tickets!;
  const ticketsOf = async (service: string) =>
    (await tickets()).filter((ticket) => ticket.service === service);

  it("are looked at as soon as they end", async () => {
    for (const service of ["base", "front", "kept"]) {
      await call("POST", "/v1/itsm/loop", { service, wait_seconds: 0 });
      await eventually(async () => await answers(service) || undefined);
    }
    await eventually(async () =>
      (await tickets()).every(({ status }) => status === "resolved") || undefined
    );
    const before = pidOf("kept")!;
    process.kill(before, "SIGKILL");
    await eventually(async () => (pidOf("kept") ?? before) !== before || undefined);
    await eventually(async () => {
      const [second, first] = await ticketsOf("kept");
      return first && second!.status === "resolved" || undefined;
    });
  });

  it("are left running when it stops, or stopped, as their entry says", async () => {
    const kept = pidOf("kept");
    assert.equal(await platform.end(), 0);
    assert.match(platform.output(), /Left running \(on_stop: keep\): kept\n/);
    assert.match(platform.output(), /Stopped, .*\(on_stop: stop\): (base, front|front, base)\n/);
    assert.deepEqual(["kept", "base", "front"].map(pidOf), [kept, undefined, undefined]);
  });

  it("are started again before it sweeps, after what they depend on, and neither as an incident nor as a repair", async () => {
    platform = startPlatform(settings);
    await platform.until(READY);
    assert.match(
      platform.output(),
      /Started again, as the last stop had ended them: base, front\n/,
    );
    assert.ok(await answers("base") && await answers("front") && await answers("kept"));
    await call("POST", "/v1/itsm/loop", { wait_seconds: 20 }); // a sweep
    const opened = (await tickets()).map(({ service }) => service);
    assert.deepEqual(opened.toSorted(), [
      "base",
      "front",
      "kept",
      "kept",
    ]);
    const ledger = `http://127.0.0.1:${settings.SEALOOP_LEDGER_PORT}/api/receipts?limit=200`;
    await eventually(async () => {
      const { receipts } = await (await fetch(ledger)).json() as { receipts: { type: string }[] };
      const starts = receipts.filter(({ type }) => type === "service_brought_back");
      return starts.length === 4 || undefined; // an intent and an end of each
    });
  });

  it("are left to people when they end again and again", async () => {
    declare("front", "base", "kept", "dies");
    await call("POST", "/v1/itsm/loop", { wait_seconds: 0 }); // a sweep
    const escalated = await eventually(async () =>
      (await ticketsOf("dies")).find((ticket) => ticket.escalated && ticket.status === "open")
    );
    const repaired = (await ticketsOf("dies")).filter(({ status }) => status === "resolved");
    assert.equal(repaired.length, 4);
    assert.equal(escalated.service, "dies");
  });

  it("of its own close their incident when the supervisor has started them again", async () => {
    const ledger = () => platform.processes().find(({ name }) => name === "ledger")!.pid;
    const sweep = () => call("POST", "/v1/itsm/loop", { wait_seconds: 50 });
    const ticket = async () => (await ticketsOf("public-ledger"))[0];
    process.kill(ledger(), "SIGSTOP");
    await eventually(async () => {
      await sweep();
      return (await ticket())?.escalated || undefined;
    });
    process.kill(ledger(), "SIGKILL");
    await eventually(async () => {
      const { services } = await call("GET", "/v1/admin/services");
      return services!.some(({ name, status, restarts }) =>
        name === "ledger" && status === "running" && restarts === 1
      ) || undefined;
    });
    await sweep();
    const closed = (await ticket())!;
    assert.equal(closed.status, "resolved");
    assert.match(closed.resolution!, /supervisor has started public-ledger again/);
  });
});

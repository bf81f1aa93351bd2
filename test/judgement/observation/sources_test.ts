import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { openSync } from "node:fs";
import { appendFile, mkdir, utimes, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import type { Observation, ObserverName } from "../../../contract/domain/mod.ts";
import { OBSERVERS } from "../../../contract/domain/mod.ts";
import {
  actOnce,
  findManagedProcess,
  type Service,
  stopManagedProcess,
} from "../../../integrations/host/mod.ts";
import {
  chooseObservers,
  describeObservers,
  observe,
  type Subject,
} from "../../../judgement/observation/mod.ts";
import { stopProcess } from "../../../runtime/embedded/mod.ts";
import { putServices } from "../../../store/cmdb/mod.ts";
import type { FindingRecord } from "../../../store/incidents/mod.ts";
import { freePort } from "../../_run.ts";
import { eventually } from "../../_time.ts";
import { anyRequest, startSealing } from "../../ledger/_ledger.ts";
import { testCertificate } from "../../runtime/web/_certificate.ts";
import { createTestContext, type TestContext } from "../detection/_context.ts";

const DAY_MS = 86_400_000;
/** Waits until it is told to end. */
const IDLE = "process.stdin.resume(); console.log('ready'); setInterval(() => {}, 1000);";

describe("sources of observations", () => {
  let context: TestContext;
  let count = 0;
  const closing: (() => unknown)[] = [];
  before(async () => {
    context = await createTestContext("");
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  after(() => context.close());

  async function service(more: Partial<Service> = {}): Promise<Service> {
    const made: Service = {
      name: `site-${++count}`,
      type: "web",
      host: "localhost",
      owner: null,
      origin: "file",
      check: null,
      restart: null,
      watched: false,
      dependsOn: [],
      ...more,
    };
    await putServices(context.store.asPlatform(), [made]);
    return made;
  }
  async function folder(): Promise<string> {
    const path = join(context.folder, `folder-${++count}`);
    await mkdir(path);
    return path;
  }

  async function look(
    source: ObserverName,
    service: Service | undefined,
    values: Readonly<Record<string, string>> = {},
    isLocal = true,
    record?: FindingRecord,
  ): Promise<readonly Observation[]> {
    const { config, store } = context;
    return await observe(source, subjectOf(service, values, isLocal, record), { config, store });
  }

  function subjectOf(
    service: Service | undefined,
    values: Readonly<Record<string, string>> = {},
    isLocal = true,
    record?: FindingRecord,
  ): Subject {
    const finding = {
      service: service?.name ?? null,
      check: "http",
      code: "refused",
      fingerprint: "0123456789abcdef",
      observed_at: new Date().toISOString(),
    } as const;
    return {
      finding,
      code: "refused",
      service,
      isLocal,
      record,
      values,
      since: new Date(Date.now() - 300_000),
    };
  }

  async function serve(answer: RequestListener, server: Server = createServer()): Promise<string> {
    server.on("request", answer).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => (server.closeAllConnections(), server.close()));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Runs a program that prints `ready`. */
  async function run(code: string, limit = ":"): Promise<ChildProcess> {
    const command = `${limit}; exec "$@"`;
    const child = spawn("sh", ["-c", command, "sh", process.execPath, "-e", code], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    closing.push(async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    await once(child.stdout!, "data");
    return child;
  }

  /** Lets the platform start a program for a service. */
  async function start(service: Service): Promise<void> {
    const { dataDir } = context.config;
    closing.push(() => stopManagedProcess(dataDir, service.name));
    await actOnce({
      dataDir,
      effectId: randomBytes(12).toString("hex"),
      service: service.name,
      act: service.restart!,
    });
  }
  const nodeProcess = (code: string, more: object = {}) => ({
    restart: { process: { command: [process.execPath, "-e", code], ...more } },
  });

  const only = (seen: readonly Observation[]) => {
    assert.equal(seen.length, 1, JSON.stringify(seen));
    return seen[0]!;
  };

  it("says of each what it looks at", () => {
    assert.deepEqual(describeObservers().map(({ source }) => source), [...OBSERVERS]);
  });

  it("sees nothing where there is no service", async () => {
    for (const source of OBSERVERS) {
      assert.deepEqual(await look(source, undefined, {}, false), [], source);
    }
  });

  describe("chooseObservers()", () => {
    const choose = async (more: Partial<Service> | undefined, rest: Partial<Subject> = {}) =>
      chooseObservers({ ...subjectOf(more && await service(more)), ...rest });
    const near = ["output", "log", "process", "port", "storage", "changes"];
    const http = { check: { http: "http://127.0.0.1:1/" } };

    it("asks the check and what this host knows about a simple service, in two looks", async () => {
      assert.deepEqual(await choose(http), [near, ["check"]]);
    });

    it("asks each source that waits for others by itself, where it may see something", async () => {
      const secure = { check: { http: "https://127.0.0.1:1/" } };
      assert.deepEqual(await choose(secure), [near, ["check"], ["certificate"]]);
      assert.deepEqual(await choose({ check: { tcp: "db.example:1" } }), [
        near.filter((one) => !["output", "process", "port"].includes(one)),
        ["check"],
        ["names"],
      ]);
      const others = [["check"], ["names"], ["certificate"], ["dependencies"]];
      const dependsOn = [{ service: "db", kind: "depends_on" }] as const;
      assert.deepEqual(await choose({ ...http, dependsOn }), [near, ...others]);
      assert.deepEqual(await choose({ ...http, ...nodeProcess("") }), [near, ...others]);
      const values = { unit: "shop.service", container: "shop" };
      assert.deepEqual(await choose(http, { values }), [
        near,
        ["check"],
        ["unit"],
        ["container"],
      ]);
    });

    it("does not look into a host that is another's, nor anywhere for a report of nothing", async () => {
      assert.deepEqual(await choose(http, { isLocal: false }), [["changes"], ["check"]]);
      assert.deepEqual(await choose(undefined, { isLocal: false }), []);
      const finding = { ...subjectOf(undefined).finding, service: "DEV-0123456789ab" };
      assert.deepEqual(await choose(undefined, { isLocal: false, finding }), [["device"]]);
    });
  });

  describe("check", () => {
    it("reads the answer, its words without markup, and how far its clock is off", async () => {
      const place = await serve((_, res) => {
        res.setHeader("Date", new Date(Date.now() - 3_600_000).toUTCString());
        res.writeHead(503, { "content-type": "text/html", "retry-after": "9" })
          .end("<style>p {}</style><p>No <b>lease</b></p>");
      });
      const { says, text, figures } = only(
        await look("check", await service({ check: { http: `http://${place}/` } })),
      );
      assert.match(String(says), /^It answers 503 in \d+ ms/);
      assert.match(text!, /retry-after: 9/);
      assert.match(text!, /No lease/);
      assert.ok(Math.abs(Number(figures!.clock_offset_s) + 3_600) < 30);
    });

    it("takes no clock from an answer that a cache keeps", async () => {
      const place = await serve((_, res) => {
        res.setHeader("Date", new Date(0).toUTCString());
        res.writeHead(500, { age: "900" }).end();
      });
      const { figures } = only(
        await look("check", await service({ check: { http: `http://${place}/` } })),
      );
      assert.equal(figures!.clock_offset_s, undefined);
    });

    it("says why there is no answer", async () => {
      const http = `http://127.0.0.1:${await freePort()}/`;
      const { code, figures } = only(await look("check", await service({ check: { http } })));
      assert.deepEqual([code, figures!.reason], ["no_answer", "econnrefused"]);
    });

    it("reads what a command prints", async () => {
      const command = ["sh", "-c", "echo lease lost; exit 3"];
      const { text, figures } = only(await look("check", await service({ check: { command } })));
      assert.deepEqual([text!.trim(), figures!.reason], ["lease lost", "exit_3"]);
    });
  });

  describe("output", () => {
    it("reads what a process printed that runs", async () => {
      const site = await service(nodeProcess("console.log('started'); setInterval(() => {}, 1e3)"));
      await start(site);
      const { figures } = await eventually(async () => {
        const one = only(await look("output", site));
        return one.text?.includes("started") ? one : undefined;
      });
      assert.equal(figures!.running, true);
      assert.equal(figures!.ended_by, undefined);
    });

    it("leaves lines out that are older than the fault", async () => {
      const old = new Date(Date.now() - DAY_MS).toISOString();
      const code = `console.log("${old} ERROR an old one\\n  of two lines");
        console.log(new Date().toISOString() + " a new one"); setInterval(() => {}, 1e3)`;
      const site = await service(nodeProcess(code));
      await start(site);
      const text = await eventually(async () => {
        const { text } = only(await look("output", site));
        return text?.includes("a new one") ? text : undefined;
      });
      assert.doesNotMatch(text, /old one|of two lines/);
    });

    it("tells how a process ended", async () => {
      const site = await service(nodeProcess("setTimeout(() => { throw new Error('lost') }, 300)"));
      await start(site);
      const { text, figures } = await eventually(async () => {
        const one = only(await look("output", site));
        return one.figures!.ended_by ? one : undefined;
      });
      assert.match(text!, /Error: lost/);
      assert.deepEqual([figures!.running, figures!.ended_by], [false, "exit_1"]);
    });

    it("tells by which signal a process ended", async () => {
      const site = await service(nodeProcess(IDLE));
      await start(site);
      await stopProcess(findManagedProcess(context.config.dataDir, site.name)!, "SIGKILL", 0);
      const ended = await eventually(async () =>
        only(await look("output", site)).figures!.ended_by
      );
      assert.equal(ended, "sigkill");
    });

    it("reads the file of a process that another program has started", async () => {
      const port = await freePort();
      const path = join(await folder(), "out.txt");
      const code =
        `require("net").createServer().listen(${port}, "127.0.0.1", () => console.log("up"))`;
      const out = openSync(path, "a");
      const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", out, out] });
      closing.push(async () => {
        child.kill("SIGKILL");
        await once(child, "exit");
      });
      const site = await service({ check: { tcp: `127.0.0.1:${port}` } });
      const text = await eventually(async () => (await look("output", site))[0]?.text);
      assert.equal(text.trim(), "up");
    });
  });

  describe("log", () => {
    it("reads the logs in the folder of a service that were written lately", async () => {
      const cwd = await folder();
      await mkdir(join(cwd, "logs"));
      await writeFile(join(cwd, "logs", "web.log"), "ERROR lease lost, password=hunter2222\n");
      await writeFile(join(cwd, "old.log"), "ERROR long ago\n");
      const old = new Date(Date.now() - DAY_MS);
      await utimes(join(cwd, "old.log"), old, old);
      const site = await service(nodeProcess(IDLE, { cwd }));
      const { says, text } = only(await look("log", site));
      assert.match(String(says), /^web\.log has /);
      assert.equal(text!.trim(), "ERROR lease lost, password=[secret]");
    });

    it("shows the lines that the finding keeps, without secrets", async () => {
      const record = {
        detail: { path: "/var/log/shop.log", samples: ["ERROR first", "ERROR token=hunter2222"] },
      } as unknown as FindingRecord;
      const { code, text } = only(await look("log", undefined, {}, true, record));
      assert.deepEqual([code, text], ["samples", "ERROR first\nERROR token=[secret]"]);
    });

    it("leaves lines out that were written before the fault", async () => {
      const cwd = await folder();
      const line = (ago: number, words: string) =>
        `${new Date(Date.now() - ago).toISOString()} ERROR ${words}\n`;
      await appendFile(join(cwd, "web.log"), line(DAY_MS, "an old one") + line(1_000, "a new one"));
      const { text } = only(await look("log", await service(nodeProcess(IDLE, { cwd }))));
      assert.match(text!, /a new one/);
      assert.doesNotMatch(text!, /an old one/);
    });
  });

  describe("process and port", () => {
    /** Runs a server in a process, which does something first. */
    async function server(code: string, limit?: string) {
      const port = await freePort();
      const listen =
        `require("net").createServer().listen(${port}, "127.0.0.1", () => console.log("ready"))`;
      const child = await run(`${code}; ${listen}`, limit);
      return { child, site: await service({ check: { tcp: `127.0.0.1:${port}` } }) };
    }

    it("measure descriptors beside their limit", async () => {
      const open = "for (let i = 0; i < 60; i++) require('fs').openSync('/dev/null')";
      const { child, site } = await server(open, "ulimit -n 100");
      const { figures } = only(await look("process", site));
      assert.equal(figures!.pid, child.pid);
      assert.equal(figures!.open_files_limit, 100);
      assert.ok(Number(figures!.open_files_share) > 0.7);
    });

    it("say which descriptors a process does not close, where it has few left", async () => {
      const path = join(await folder(), "data");
      await writeFile(path, "");
      const open = `for (let i = 0; i < 60; i++) require('fs').openSync(${JSON.stringify(path)})`;
      const { site } = await server(open, "ulimit -n 90");
      assert.match(
        String(only(await look("process", site)).says),
        /of 90 descriptors are open \(60 of them on one file: it does not close them\)/,
      );
      const { site: other } = await server(open, "ulimit -n 900");
      assert.doesNotMatch(String(only(await look("process", other)).says), /does not close/);
    });

    it("measure memory beside the limit of the heap", async () => {
      const fill = "globalThis.kept = Array.from({ length: 2e6 }, (_, n) => ({ n }))";
      const { site } = await server(fill, "export NODE_OPTIONS=--max-old-space-size=200");
      const { figures } = only(await look("process", site));
      assert.equal(figures!.memory_limit_mib, 200);
      assert.ok(Number(figures!.memory_share) > 0.2, String(figures!.memory_share));
    });

    it("count threads that wait for locks, without those that wait for work", async () => {
      const wait = `require("worker_threads"); for (let i = 0; i < 3; i++) {
        new (require("worker_threads").Worker)(
          "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", { eval: true }) }`;
      const { site: idle } = await server("require('fs').readFile('/etc/hosts', () => {})");
      const { site: stuck } = await server(wait);
      await eventually(async () =>
        Number(only(await look("process", stuck)).figures!.lock_waits) >= 3
      );
      assert.ok(Number(only(await look("process", idle)).figures!.lock_waits) < 2);
    });

    it("see processes that the process has started, and to whom it is connected", async () => {
      const other = createTcpServer().listen(0, "127.0.0.1");
      await once(other, "listening");
      closing.push(() => other.close());
      const { port } = other.address() as AddressInfo;
      const { site } = await server(
        `require("child_process").spawn("sleep", ["600"]); require("net").connect(${port}, "127.0.0.1")`,
      );
      const seen = await eventually(async () => {
        const all = await look("process", site);
        return all[0]?.figures?.outgoing === 1 ? all : undefined;
      });
      closing.unshift(() => process.kill(Number(seen[1]!.figures!.pid)));
      assert.equal(seen.length, 2);
      assert.equal(seen[0]!.figures!.outgoing_to, `127.0.0.1:${port}`);
    });

    it("see that a process is halted", async () => {
      const { child, site } = await server("0");
      child.kill("SIGSTOP");
      const state = await eventually(async () => {
        const { state } = only(await look("process", site)).figures!;
        return state === "stopped" ? state : undefined;
      });
      assert.equal(state, "stopped");
    });

    it("see that another program holds the port", async () => {
      const { child, site } = await server("0");
      const managed = await service({
        check: site.check!,
        ...nodeProcess("setTimeout(() => {}, 300)"),
      });
      await start(managed);
      await eventually(() =>
        Promise.resolve(!findManagedProcess(context.config.dataDir, managed.name))
      );
      const { figures } = only(await look("port", managed));
      assert.deepEqual([figures!.listening, figures!.foreign, figures!.pid], [
        true,
        true,
        child.pid,
      ]);
      assert.deepEqual(await look("process", managed), []);
    });

    it("see that nobody listens", async () => {
      const tcp = `127.0.0.1:${await freePort()}`;
      const { code, figures } = only(await look("port", await service({ check: { tcp } })));
      assert.deepEqual([code, figures!.listening], ["free", false]);
    });
  });

  it("measures the file systems of a service, each once, and the fullest of the host", async () => {
    const cwd = await folder();
    await mkdir(join(cwd, "spool"));
    const env = { SPOOL: join(cwd, "spool") };
    const seen = await look("storage", await service(nodeProcess(IDLE, { cwd, env })));
    assert.deepEqual(seen.map(({ code }) => code), ["measured", "host"]);
    const [own, host] = seen.map(({ figures }) => figures!);
    assert.ok(Number(own!.fullest_percent) <= Number(host!.host_fullest_percent) + 0.2);
    assert.equal(own!.read_only, false);
  });

  it("resolves names in variables and in files of settings, and says where they stand", async () => {
    const cwd = await folder();
    await writeFile(join(cwd, "app.yaml"), "queue:\n  host: queue.invalid\n# host: no.invalid\n");
    const env = { DB_HOST: "db.invalid", MODE: "fast", SELF: "http://localhost:1/" };
    const seen = await look("names", await service(nodeProcess(IDLE, { cwd, env })));
    assert.deepEqual(seen.map(({ figures }) => [figures!.name, figures!.unresolved]), [
      ["db.invalid", "setting"],
      ["localhost", undefined],
      ["queue.invalid", "file"],
    ]);
  });

  describe("certificate", () => {
    const tls = (days: number) => {
      const { cert, key } = testCertificate({ from: -90 * DAY_MS, to: days * DAY_MS });
      return { pem: cert + key, server: createTlsServer({ cert, key }) as unknown as Server };
    };

    it("reads that of an address in a variable, and those in the folder", async () => {
      const place = await serve((_, res) => res.end(), tls(-1).server);
      const cwd = await folder();
      await writeFile(join(cwd, "front.pem"), tls(9).pem);
      const env = { PARTNER: `https://${place}/` };
      const seen = await look("certificate", await service(nodeProcess(IDLE, { cwd, env })));
      assert.deepEqual(seen.map(({ figures }) => [figures!.expired, figures!.file_expired]), [
        [true, undefined],
        [undefined, false],
      ]);
    });

    it("is not had where nobody shows one", async () => {
      const http = `https://127.0.0.1:${await freePort()}/`;
      const { code, figures } = only(await look("certificate", await service({ check: { http } })));
      assert.deepEqual([code, figures!.reason], ["not_had", "econnrefused"]);
    });
  });

  it("tells dependencies that are down from late ones, and leaves the service's own address out", async () => {
    const quick = await service({
      check: { http: `http://${await serve((_, res) => res.end())}/` },
    });
    const down = await service({ check: { tcp: `127.0.0.1:${await freePort()}` } });
    const slow = await serve((_, res) => void setTimeout(() => res.end(), 1_200));
    const own = await freePort();
    const site = await service({
      check: { tcp: `127.0.0.1:${own}` },
      dependsOn: [quick, down].map(({ name }) => ({ service: name, kind: "depends_on" as const })),
      ...nodeProcess(IDLE, { env: { API: `http://${slow}/v1`, BIND: `0.0.0.0:${own}` } }),
    });
    const seen = await look("dependencies", site);
    assert.deepEqual(
      seen.map(({ code, figures }) => [figures!.of, code, figures!.down, figures!.late]),
      [
        [quick.name, "answers", undefined, undefined],
        [down.name, "fails", "dependency", undefined],
        ["API", "answers", undefined, "setting"],
      ],
    );
  });

  describe("changes", () => {
    it("blames no settings that nothing has read, and finds what can't be parsed", async () => {
      const cwd = await folder();
      const [program, settings] = [join(cwd, "app.js"), join(cwd, "app.json")];
      await writeFile(program, "");
      await writeFile(settings, "{}");
      const site = await service(nodeProcess(IDLE, { cwd, env: { PROGRAM: program } }));
      const first = (await look("changes", site))[0]!.figures!;
      assert.deepEqual([first.setting_deployed, first.settings_invalid], [false, false]);
      assert.equal(first.files, 2, "one that is named besides its folder counts once");
      const before = new Date(Date.now() - 60_000);
      await utimes(program, before, before);
      await writeFile(settings, '{"size": }');
      const { says, figures } = (await look("changes", site))[0]!;
      assert.deepEqual(
        [figures!.setting_deployed, figures!.settings_invalid, figures!.newest_setting],
        [false, true, "app.json"],
        "nothing has read it yet",
      );
      assert.match(String(says), /app\.json can't be parsed/);
    });

    it("takes what a running program writes for no deploy", async () => {
      const cwd = await folder();
      await writeFile(join(cwd, "app.js"), "");
      const before = new Date(Date.now() - 60_000);
      await utimes(join(cwd, "app.js"), before, before);
      const site = await service(nodeProcess(IDLE, { cwd }));
      await start(site);
      await writeFile(join(cwd, "state.json"), "{}");
      const later = new Date(Date.now() + 5_000);
      await utimes(join(cwd, "state.json"), later, later);
      assert.equal((await look("changes", site))[0]!.figures!.setting_deployed, false);
    });

    it("sees what others have sealed about the service, and not about another one", async () => {
      const sealing = await startSealing();
      closing.push(() => sealing.stop());
      const site = await service();
      for (const subject of [site.name, "another"]) {
        const event = { category: "api_seal", actor: "key:ci", subject, action: "deploy" };
        await sealing.sealer.request(anyRequest({ id: `of-${subject}`, ...event }));
        await sealing.sealer.sealed(`of-${subject}`, { timeoutMs: 120_000 });
      }
      const seen = await observe("changes", subjectOf(site, {}, false), {
        config: context.config,
        store: sealing.app,
      });
      const sealed = seen.find(({ code }) => code === "sealed")!;
      assert.match(sealed.text!, / deploy \(says key:ci\) of site-\d+, receipt of-site-\d+$/);
      assert.equal(sealed.figures!.changes, 1);
    });
  });

  it("says of a unit and a container that can't be had why", async () => {
    const site = await service();
    const unit = only(await look("unit", site, { unit: "no-such.service" }));
    if (unit.code === "not_had") assert.equal(unit.figures!.reason, "no_program");
    else assert.match(String(unit.says), /no-such\.service/);
    const { code, figures } = only(await look("container", site, { container: "no-such" }));
    assert.equal(code, "not_had");
    assert.match(String(figures!.reason), /^[a-z_]+$/);
  });

  it("looks at no other host's files and processes", async () => {
    const site = await service(nodeProcess(IDLE, { cwd: await folder() }));
    for (
      const source of ["output", "log", "process", "port", "storage", "unit", "container"] as const
    ) {
      assert.deepEqual(await look(source, site, { unit: "a", container: "a" }, false), [], source);
    }
  });

  it("removes secrets, and keeps the end of at most 18 KiB a source", async () => {
    const cwd = await folder();
    for (const name of ["a.log", "b.log", "c.log", "d.log"]) {
      const lines = Array.from(
        { length: 60 },
        (_, n) => `ERROR ${n} token=abcdefgh${n} ${"ü".repeat(200)}`,
      );
      await writeFile(join(cwd, name), lines.join("\n"));
    }
    const seen = await look("log", await service(nodeProcess(IDLE, { cwd })));
    const all = seen.map(({ says, text = "" }) => says + text).join("");
    assert.ok(Buffer.byteLength(all) <= 18 * 1_024, String(Buffer.byteLength(all)));
    assert.doesNotMatch(all, /abcdefgh/);
    assert.match(seen[0]!.text!, /ERROR 59 token=\[secret\]/);
  });
});

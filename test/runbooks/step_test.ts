import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import {
  type AllowedCommand,
  checkCommand,
  performStep,
  undoStep,
  verifyStep,
} from "../../runbooks/mod.ts";
import { freePort, testFolder } from "../_servers.ts";
import { newId, shipped, step, surroundings } from "./_runbook.ts";

const allow = (...argv: string[]): AllowedCommand => ({
  ...{ name: "allowed", about: "Allowed by the test.", argv, users: [] },
});

describe("a command step", () => {
  let dataDir: string;
  before(async () => {
    dataDir = await testFolder();
  });
  const running = (argv: string[], bounds: object = {}, more: object = {}) =>
    step({ command: { argv, ...more }, bounds: { within: "60s", ...bounds } });
  const perform = (
    work: ReturnType<typeof step>,
    commands: readonly AllowedCommand[],
    id = newId(),
  ) => performStep(work, id, surroundings(dataDir, { commands }));
  const log = (id: string) => readFileSync(join(dataDir, "effects", id, "log"), "utf8");

  it("runs what the allow-list has, with its arguments as they are", async () => {
    const id = newId();
    const argv = ["echo", `a 'b' $HOME; $(id) | cat`];
    const happened = await perform(running(argv), [allow("echo", "/.*/")], id);
    assert.deepEqual(happened, { state: "done", code: "exit_0", ok: true });
    assert.equal(log(id), `a 'b' $HOME; $(id) | cat\n`);
  });

  it("runs once, however often it is asked for", async () => {
    const id = newId();
    const work = running(["echo", "once"]);
    for (const _ of [1, 2, 3]) await perform(work, [allow("echo", "once")], id);
    assert.equal(log(id), "once\n");
  });

  it("refuses what is not on the list, and arguments that only begin like those that are", async () => {
    const commands = [allow("echo", "/[a-z]+/"), { ...allow("touch"), more: "/x" }];
    for (
      const argv of [["id"], ["echo"], ["echo", "a", "b"], ["echo", "a; id"], ["echo", "a\nb"], [
        "/tmp/echo",
        "a",
      ], ["touch", "/x", "/y"]]
    ) {
      const happened = await perform(running(argv), commands);
      assert.deepEqual(
        [happened.state, happened.code],
        ["not_done", "not_allowed"],
        argv.join(" "),
      );
    }
  });

  it("refuses a program that this host does not have", async () => {
    const happened = await perform(running(["no-such-program"]), [allow("no-such-program")]);
    assert.deepEqual([happened.state, happened.code], ["not_done", "no_program"]);
  });

  it("is not ok when the program ends otherwise than expected", async () => {
    const happened = await perform(running(["false"]), [allow("false")]);
    assert.deepEqual(happened, { state: "done", code: "exit_1", ok: false });
    const expected = await perform(running(["false"], {}, { expect: [1] }), [allow("false")]);
    assert.equal(expected.ok, true);
  });

  it("is ended when it takes too long, and nobody says what became of it", async () => {
    const happened = await perform(running(["sleep", "30"], { within: "1s" }), [
      allow("sleep", "30"),
    ]);
    assert.deepEqual(happened, { state: "unknown", code: "timeout", ok: false });
  });

  it("takes no more processor time, memory and room in a file than its bounds say", async () => {
    const file = join(dataDir, "large");
    const writing = ["dd", "if=/dev/zero", `of=${file}`, "bs=1024", "count=4096"];
    const limited = await perform(running(writing, { file_size: "1MiB" }), [
      { ...allow("dd"), more: ".*" },
    ]);
    assert.equal(limited.ok, false);
    assert.equal(readFileSync(file).length, 2 ** 20);
    const id = newId();
    const shown = running(["prlimit", "--noheadings", "--output", "RESOURCE,SOFT"], {
      ...{ cpu: "7s", memory: "512MiB" },
    });
    await perform(shown, [{ ...allow("prlimit"), more: ".*" }], id);
    assert.match(log(id), /CPU\s+7\n/);
    assert.match(log(id), /AS\s+536870912\n/);
  });

  it("runs as another user where the allow-list says so, and not where it does not", async function () {
    if (process.getuid?.() !== 0) return this.skip(); // nobody else may
    const id = newId();
    const work = running(["id", "-un"], {}, { user: "nobody" });
    const refused = await perform(work, [allow("id", "-un")]);
    assert.equal(refused.code, "user_not_allowed");
    await perform(work, [{ ...allow("id", "-un"), users: ["nobody"] }], id);
    assert.equal(log(id), "nobody\n");
  });

  it("finds every command that ships on the list that ships", () => {
    const argvs = shipped.runbooks.flatMap(({ steps }) =>
      steps.flatMap((one) => one.command ?? [])
    );
    assert.ok(argvs.length > 10);
    for (const { argv } of argvs) {
      const filled = argv.map((arg) =>
        arg.replace("{db_port}", "5432").replace("{configuration}", "/etc/logrotate.conf")
          .replace("{mount_point}", "/srv/share").replace("{file}", "/srv/sealoop/spare.key")
          .replace(/\{[a-z_]+\}/, "name")
      );
      const permission = checkCommand({ argv: filled }, shipped.commands);
      assert.ok(permission.allowed || permission.code === "no_program", filled.join(" "));
    }
  });
});

describe("a restart step", () => {
  const inFolder = async (target: unknown) => {
    const dataDir = await testFolder();
    return await performStep(step({ restart: target }), newId(), surroundings(dataDir));
  };

  it("says that there is no systemd where there is none", async function () {
    if (existsSync("/run/systemd/system")) return this.skip();
    assert.deepEqual(await inFolder({ unit: "ssh.service" }), {
      ...{ state: "not_done", ok: false, code: "no_systemd" },
    });
    const dataDir = await testFolder();
    const reload = step({ command: { argv: ["systemctl", "reload", "nginx.service"] } });
    const happened = await performStep(reload, newId(), surroundings(dataDir));
    assert.ok(["no_systemd", "no_program"].includes(happened.code));
    assert.equal(happened.state, "not_done");
  });

  it("says that there is no container engine where there is none", async function () {
    if (existsSync("/var/run/docker.sock") || process.env.DOCKER_HOST) return this.skip();
    assert.equal((await inFolder({ container: "web" })).code, "no_docker");
  });

  it("says that the service lists no way to restart it", async () => {
    assert.deepEqual(await inFolder("service"), {
      ...{ state: "not_done", ok: false, code: "no_restart" },
    });
  });

  describe("of a container, on a socket that speaks as Docker's does", () => {
    let engine: Engine;
    before(async () => {
      engine = await openEngine();
    });
    after(() => engine.close());
    const restarting = step({ restart: { container: "web" } });

    it("restarts it once, and knows it again after a crash", async () => {
      const parts = surroundings(await testFolder());
      const id = newId();
      for (const _ of [1, 2]) {
        const happened = await performStep(restarting, id, parts);
        assert.deepEqual([happened.state, happened.code], ["done", "restarted"]);
      }
      assert.equal(engine.restarts(), 1);
    });

    it("sees that it was restarted by an act whose answer never came", async () => {
      const dataDir = await testFolder();
      const id = newId();
      const marks = join(dataDir, "effects", id);
      mkdirSync(marks, { recursive: true });
      await writeFile(join(marks, "before"), "an earlier start");
      await writeFile(join(marks, "sent"), "now");
      const before = engine.restarts();
      const happened = await performStep(restarting, id, surroundings(dataDir));
      assert.deepEqual([happened.state, engine.restarts()], ["done", before]);
    });

    it("refuses a container that is not there", async () => {
      const parts = surroundings(await testFolder());
      const happened = await performStep(step({ restart: { container: "no" } }), newId(), parts);
      assert.deepEqual([happened.state, happened.code], ["not_done", "no_container"]);
    });
  });
});

describe("an http step", () => {
  let server: Server;
  const asked: IncomingMessage[] = [];
  let answer: (res: ServerResponse) => void = (res) => res.writeHead(204).end();
  before(async () => {
    server = createServer((req, res) => {
      asked.push(req);
      answer(res);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  beforeEach(() => {
    asked.length = 0;
    answer = (res) => res.writeHead(204).end();
  });
  after(() => void server.close());
  const calling = (more: object = {}, within = "60s") => {
    const { port } = server.address() as AddressInfo;
    return step({
      http: { url: `http://127.0.0.1:${port}/clear`, ...more },
      bounds: { within },
    });
  };

  it("sends its request once, and tells the server which act it is", async () => {
    const parts = surroundings(await testFolder());
    const id = newId();
    for (const _ of [1, 2]) {
      const happened = await performStep(calling({ body: { all: true } }), id, parts);
      assert.deepEqual(happened, { state: "done", ok: true, code: "status_204" });
    }
    assert.equal(asked.length, 1);
    assert.deepEqual([asked[0]!.method, asked[0]!.headers["idempotency-key"]], ["POST", id]);
  });

  it("is not ok with an answer that was not expected, and follows nobody elsewhere", async () => {
    answer = (res) => res.writeHead(307, { location: "/other" }).end();
    const happened = await performStep(calling(), newId(), surroundings(await testFolder()));
    assert.deepEqual(happened, { state: "done", ok: false, code: "status_307" });
    assert.equal(asked.length, 1);
  });

  it("says unknown where no answer came, and does not ask again", async () => {
    answer = (res) => res.destroy();
    const parts = surroundings(await testFolder());
    const id = newId();
    const happened = await performStep(calling(), id, parts);
    assert.equal(happened.state, "unknown");
    answer = (res) => res.writeHead(204).end();
    assert.equal((await performStep(calling(), id, parts)).state, "unknown");
    assert.equal(asked.length, 1);
  });

  it("asks again after a crash where the server keeps count", async () => {
    answer = (res) => res.destroy();
    const parts = surroundings(await testFolder());
    const id = newId();
    await performStep(calling({ idempotent: true }), id, parts);
    answer = (res) => res.writeHead(200).end();
    const happened = await performStep(calling({ idempotent: true }), id, parts);
    assert.deepEqual([happened.state, asked.length], ["done", 2]);
  });

  it("proves that nothing was asked where nobody listens", async () => {
    const happened = await performStep(
      step({ http: { url: `http://127.0.0.1:${await freePort()}/` } }),
      newId(),
      surroundings(await testFolder()),
    );
    assert.deepEqual([happened.state, happened.code], ["not_done", "econnrefused"]);
  });

  it("waits until something answers, and says what it saw where it does not", async () => {
    const { port } = server.address() as AddressInfo;
    const parts = surroundings(await testFolder());
    const waiting = (look: object, within: string) =>
      step({ wait: { for: look }, bounds: { within } });
    const answering = waiting({ tcp: `127.0.0.1:${port}` }, "60s");
    assert.equal((await performStep(answering, newId(), parts)).ok, true);
    const nobody = waiting({ tcp: `127.0.0.1:${await freePort()}` }, "1s");
    const vain = await performStep(nobody, newId(), parts);
    assert.deepEqual([vain.ok, vain.code], [false, "refused"]);
  });
});

describe("other steps", () => {
  it("tell people", async () => {
    const parts = surroundings(await testFolder());
    await performStep(step({ notify: { message: "Somebody should look." } }), newId(), parts);
    assert.deepEqual(parts.told, ["Somebody should look."]);
  });

  it("are undone by their opposite, or say that they have none", async () => {
    const commands = [allow("echo", "/.*/")];
    const parts = surroundings(await testFolder(), { commands });
    const doing = step({ command: { argv: ["echo", "do"] } });
    const undoing = { ...doing, undo: { command: { argv: ["echo", "undo"], expect: [0] } } };
    const [id, undoId] = [newId(), newId()];
    await performStep(undoing, id, parts);
    assert.equal((await undoStep(undoing, id, undoId, parts)).ok, true);
    const log = readFileSync(join(parts.dataDir, "effects", undoId, "log"), "utf8");
    assert.equal(log, "undo\n");
    assert.equal((await undoStep(doing, id, newId(), parts)).code, "no_opposite");
  });

  it("are verified by figures of this host", async function () {
    if (!existsSync("/proc/meminfo")) return this.skip();
    const parts = surroundings(await testFolder());
    const verified = (look: object) =>
      verifyStep(step({ wait: { at_least: "1s" }, verify: { look, within: "1s" } }), parts);
    assert.equal((await verified({ memory_below: 100 })).ok, true);
    assert.match((await verified({ memory_below: 1 })).code, /^used_\d+$/);
    assert.equal((await verified({ zombies_below: 10_000 })).ok, true);
    assert.equal((await verified({ disk: "/nowhere", below: 90 })).code, "enoent");
    assert.equal((await verified({ service: "healthy" })).code, "no_check");
  });
});

interface Engine {
  restarts(): number;
  close(): void;
}

/** Answers as Docker's API does to the two requests that restarts make. */
async function openEngine(): Promise<Engine> {
  const socket = join(await testFolder(), "engine.sock");
  let restarts = 0;
  const server = createServer((req, res) => {
    if (!req.url!.startsWith("/containers/web/")) return void res.writeHead(404).end("{}");
    if (req.method === "POST") {
      restarts++;
      return void res.writeHead(204).end();
    }
    res.writeHead(200).end(JSON.stringify({ State: { StartedAt: `start ${restarts}` } }));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  process.env.DOCKER_HOST = `unix://${socket}`;
  return {
    restarts: () => restarts,
    close() {
      delete process.env.DOCKER_HOST;
      server.close();
    },
  };
}

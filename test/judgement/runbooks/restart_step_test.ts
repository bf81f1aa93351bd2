import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { performStep } from "../../../judgement/runbooks/mod.ts";
import { testFolder } from "../../_run.ts";
import { createContext, newId, step } from "./_runbook.ts";

describe("a restart step", () => {
  const perform = async (restart: unknown) =>
    await performStep(step({ restart }), newId(), createContext(await testFolder()));

  it("is not done where there is no systemd", async function () {
    if (existsSync("/run/systemd/system")) return this.skip();
    assert.deepEqual(await perform({ unit: "ssh.service" }), {
      state: "not_done",
      ok: false,
      code: "no_systemd",
    });
    const reload = step({ command: { argv: ["systemctl", "reload", "nginx.service"] } });
    const outcome = await performStep(reload, newId(), createContext(await testFolder()));
    assert.ok(["no_systemd", "no_program"].includes(outcome.code));
    assert.equal(outcome.state, "not_done");
  });

  it("is not done where there is no container engine", async function () {
    if (existsSync("/var/run/docker.sock") || process.env.DOCKER_HOST) return this.skip();
    assert.equal((await perform({ container: "web" })).code, "no_docker");
  });

  it("is not done where the service lists no way to restart it", async () => {
    assert.deepEqual(await perform("service"), {
      state: "not_done",
      ok: false,
      code: "no_restart",
    });
  });

  describe("of a container, on a socket with Docker's API", () => {
    let engine: Engine;
    before(async () => {
      engine = await openEngine();
    });
    after(() => engine.close());
    const restarting = step({ restart: { container: "web" } });

    it("restarts it once, and recognizes the restart after a crash", async () => {
      const context = createContext(await testFolder());
      const id = newId();
      for (const _ of [1, 2]) {
        const { state, code } = await performStep(restarting, id, context);
        assert.deepEqual([state, code], ["done", "restarted"]);
      }
      assert.equal(engine.restarts(), 1);
    });

    it("recognizes a restart whose answer never came", async () => {
      const dataDir = await testFolder();
      const id = newId();
      const marks = join(dataDir, "effects", id);
      mkdirSync(marks, { recursive: true });
      await writeFile(join(marks, "before"), "an earlier start");
      await writeFile(join(marks, "sent"), "now");
      const before = engine.restarts();
      const { state } = await performStep(restarting, id, createContext(dataDir));
      assert.deepEqual([state, engine.restarts()], ["done", before]);
    });

    it("is not done where there is no such container", async () => {
      const { state, code } = await perform({ container: "no" });
      assert.deepEqual([state, code], ["not_done", "no_container"]);
    });
  });
});

interface Engine {
  restarts(): number;
  close(): void;
}

/** Answers as Docker's API does to the two requests of a restart. */
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

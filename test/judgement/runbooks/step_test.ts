import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { performStep, undoStep, verifyStep } from "../../../judgement/runbooks/mod.ts";
import { freePort, testFolder } from "../../_run.ts";
import { createContext, newId, step } from "./_runbook.ts";

describe("performStep()", () => {
  it("waits until a port accepts connections, or says what it saw last", async () => {
    const server = createServer((socket) => socket.destroy());
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    const context = createContext(await testFolder());
    const waiting = (tcp: string, within: string) =>
      step({ wait: { for: { tcp } }, bounds: { within } });
    try {
      const outcome = await performStep(waiting(`127.0.0.1:${port}`, "60s"), newId(), context);
      assert.equal(outcome.ok, true);
    } finally {
      server.close();
    }
    const closed = waiting(`127.0.0.1:${await freePort()}`, "1s");
    const { ok, code } = await performStep(closed, newId(), context);
    assert.deepEqual([ok, code], [false, "refused"]);
  });

  it("sends a message to people", async () => {
    const context = createContext(await testFolder());
    await performStep(step({ notify: { message: "Somebody should look." } }), newId(), context);
    assert.deepEqual(context.messages, ["Somebody should look."]);
  });
});

describe("undoStep()", () => {
  it("performs the opposite, or says that there is none", async () => {
    const commands = [
      { name: "allowed", about: "Allowed by the test.", argv: ["echo", "/.*/"], users: [] },
    ];
    const context = createContext(await testFolder(), { commands });
    const doing = step({ command: { argv: ["echo", "do"] } });
    const undoing = { ...doing, undo: { command: { argv: ["echo", "undo"], expect: [0] } } };
    const [id, undoId] = [newId(), newId()];
    await performStep(undoing, id, context);
    assert.equal((await undoStep(undoing, id, undoId, context)).ok, true);
    const log = readFileSync(join(context.dataDir, "effects", undoId, "log"), "utf8");
    assert.equal(log, "undo\n");
    assert.equal((await undoStep(doing, id, newId(), context)).code, "no_opposite");
  });
});

describe("verifyStep()", () => {
  it("measures this host", async function () {
    if (!existsSync("/proc/meminfo")) return this.skip();
    const context = createContext(await testFolder());
    const verify = (look: object) =>
      verifyStep(step({ wait: { at_least: "1s" }, verify: { look, within: "1s" } }), context);
    assert.equal((await verify({ memory_below: 100 })).ok, true);
    assert.match((await verify({ memory_below: 1 })).code, /^used_\d+$/);
    assert.equal((await verify({ zombies_below: 10_000 })).ok, true);
    assert.equal((await verify({ disk: "/nowhere", below: 90 })).code, "enoent");
    assert.equal((await verify({ service: "healthy" })).code, "no_check");
  });
});

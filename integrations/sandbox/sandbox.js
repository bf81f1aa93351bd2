/**
 * A sandbox for practice attacks. Plain JavaScript, so that it starts at once.
 *
 *     node sandbox.js <port> <folder> <scenario>
 *
 * It listens on loopback, writes to its folder, and ends by itself. Node itself keeps the attacker from every file but the
 * baits, and from starting programs. The sandbox has baits and doors that let nobody in, and starts its attacker on request:
 *
 *     GET  /health    200, or what the attack has done: 500 baits altered, 503 the release keeps crashing, 509 data flow out
 *     POST /attack    starts the attack; once
 *     POST /contain   ends it, closes its doors, and restores the altered baits
 *     GET  /counts    what the attack has done so far
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBaits } from "./_baits.js";
import { openDoors } from "./_doors.js";
import { fenceOptions } from "./_fence.js";
import { openRelease } from "./_release.js";

const LIFE_MS = 10 * 60_000;
const EGRESS_BYTES = 256 * 1024;
const ATTACKER = fileURLToPath(new URL("attacker.js", import.meta.url));

/** Filled once everything is open: before, every answer is 404. */
const ANSWERS = {};
const [port, folder, scenario] = process.argv.slice(2);
const server = createServer(async (req, res) => {
  const [code, body] = await ANSWERS[`${req.method} ${req.url}`]?.() ?? [404, {}];
  res.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
});
await once(server.listen(Number(port), "127.0.0.1"), "listening"); // before a door takes the port
const baits = openBaits(join(folder, "baits"));
const doors = await openDoors(join(folder, "auth.log"));
const release = openRelease(folder);
let attacker;
let contained = false;

function status() {
  if (baits.altered() > 0) return 500;
  if (release.keepsCrashing()) return 503;
  if (!contained && doors.counts.bytes_out > EGRESS_BYTES) return 509;
  return 200;
}

function attack() {
  if (attacker || contained) return;
  if (scenario === "crash_loop") return release.deploy("bad");
  const target = { folder: baits.folder, ...doors.ports };
  const execArgv = fenceOptions(ATTACKER, baits.folder);
  attacker = fork(ATTACKER, [scenario, JSON.stringify(target)], { cwd: folder, env: {}, execArgv });
  attacker.on("error", () => {});
}

async function contain() {
  contained = true;
  if (attacker && attacker.exitCode === null && attacker.signalCode === null) {
    const ended = new Promise((resolve) => attacker.once("exit", resolve));
    attacker.kill("SIGKILL");
    await ended;
  }
  doors.close();
  baits.restore();
  release.deploy("good");
}

Object.assign(ANSWERS, {
  "GET /health": () => [status(), {}],
  "GET /counts": () => [200, { ...doors.counts, ...baits.counts, ...release.counts }],
  "POST /attack": () => {
    attack();
    return [202, {}];
  },
  "POST /contain": async () => {
    await contain();
    return [200, {}];
  },
});

setTimeout(end, LIFE_MS);
process.on("SIGTERM", end);

function end() {
  attacker?.kill("SIGKILL");
  release.end();
  process.exit(0);
}

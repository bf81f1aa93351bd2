import { existsSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createMark, marksFolder, readMark } from "./_marks.ts";
import { type Act, notDone, type StepOutcome, unknownOutcome } from "./_outcome.ts";

/** Seconds that a container has to stop by itself. */
const STOP_SECONDS = 10;
const INSPECT_TIMEOUT_MS = 5_000;
const POLL_MS = 250;

const RESTARTED: StepOutcome = { state: "done", ok: true, code: "restarted" };

/** Returns the socket of an engine with Docker's API: Docker's own, or Podman's. */
function findSocket(): string | undefined {
  const named = process.env.DOCKER_HOST?.replace(/^unix:\/\//, "");
  return [named, "/var/run/docker.sock", "/run/podman/podman.sock"]
    .find((path) => path?.startsWith("/") && existsSync(path));
}

/**
 * Restarts a container through the socket of this host's engine, once. The time at which it was started is written down
 * before, so that a restart can be recognized after a crash.
 *
 * @see https://docs.docker.com/reference/api/engine/ ContainerRestart, ContainerInspect
 */
export async function restartContainer(name: string, act: Act): Promise<StepOutcome> {
  const socket = findSocket();
  if (!socket) return notDone("no_docker");
  const path = `/containers/${encodeURIComponent(name)}`;
  const marks = marksFolder(act.dataDir, act.effectId);
  try {
    const before = readMark(marks, "before") ?? await startTime(socket, path);
    if (before === undefined) return notDone("no_container");
    createMark(marks, "before", before);
    const isFirst = createMark(marks, "sent", new Date().toISOString());
    const marked = readMark(marks, "before")!;
    if (!isFirst) return await waitForRestart(socket, path, marked);
    const { status } = await ask(
      socket,
      "POST",
      `${path}/restart?t=${STOP_SECONDS}`,
      act.withinMs,
    );
    if (status === 204) return RESTARTED;
    return status < 500 ? notDone(`status_${status}`) : await waitForRestart(socket, path, marked);
  } catch {
    return readMark(marks, "sent") === undefined
      ? notDone("docker_away")
      : unknownOutcome("docker_away");
  }
}

/** Waits until the container has a new start time, as long as a restart may take. */
async function waitForRestart(socket: string, path: string, before: string): Promise<StepOutcome> {
  const deadline = Date.now() + (STOP_SECONDS + 2) * 1_000;
  while (Date.now() < deadline) {
    if (await startTime(socket, path) !== before) return RESTARTED;
    await sleep(POLL_MS);
  }
  return unknownOutcome("no_answer");
}

async function startTime(socket: string, path: string): Promise<string | undefined> {
  const { status, body } = await ask(socket, "GET", `${path}/json`, INSPECT_TIMEOUT_MS);
  if (status === 404) return undefined;
  return String((JSON.parse(body) as { State: { StartedAt: string } }).State.StartedAt);
}

function ask(
  socketPath: string,
  method: string,
  path: string,
  timeout: number,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, timeout }, async (response) => {
      try {
        const parts: Buffer[] = [];
        for await (const part of response) parts.push(part as Buffer);
        resolve({ status: response.statusCode!, body: Buffer.concat(parts).toString() });
      } catch (error) {
        reject(error);
      }
    });
    sent.on(
      "timeout",
      () => sent.destroy(new Error("The container engine did not answer in time")),
    );
    sent.on("error", reject).end();
  });
}

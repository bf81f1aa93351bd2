import { existsSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { leaveMark, markOf, marksOf } from "./_marks.ts";
import type { CallOrder } from "./http_call.ts";
import type { StepOutcome } from "./step.ts";

/** Seconds that a container is given to stop by itself. */
const STOP_SECONDS = 10;
const POLL_MS = 250;

/** Sockets that speak Docker's API: Docker's own, and Podman's. */
function socketPath(): string | undefined {
  const named = process.env.DOCKER_HOST?.replace(/^unix:\/\//, "");
  return [named, "/var/run/docker.sock", "/run/podman/podman.sock"]
    .find((path) => path?.startsWith("/") && existsSync(path));
}

/**
 * Restarts a container through the socket of this host's Docker, once: when it started is written down before, so that
 * whether it has been restarted since can be seen after a crash.
 *
 * @see https://docs.docker.com/reference/api/engine/ ContainerRestart, ContainerInspect
 */
export async function restartContainer(name: string, order: CallOrder): Promise<StepOutcome> {
  const socket = socketPath();
  if (!socket) return refused("no_docker");
  const path = `/containers/${encodeURIComponent(name)}`;
  const marks = marksOf(order.dataDir, order.effectId);
  try {
    const before = markOf(marks, "before") ?? await startedAt(socket, path);
    if (before === undefined) return refused("no_container");
    if (markOf(marks, "sent") !== undefined) return await seen(socket, path, before);
    leaveMark(marks, "before", before);
    leaveMark(marks, "sent", new Date().toISOString());
    const { status } = await ask(
      socket,
      "POST",
      `${path}/restart?t=${STOP_SECONDS}`,
      order.withinMs,
    );
    return status === 204
      ? { state: "done", ok: true, code: "restarted" }
      : status < 500
      ? refused(`status_${status}`)
      : await seen(socket, path, before);
  } catch {
    return markOf(marks, "sent") === undefined
      ? refused("docker_away")
      : { state: "unknown", ok: false, code: "docker_away" };
  }
}

/** Whether it has started anew; waits as long as a restart that was asked for may take. */
async function seen(socket: string, path: string, before: string): Promise<StepOutcome> {
  const deadline = Date.now() + (STOP_SECONDS + 2) * 1_000;
  while (Date.now() < deadline) {
    if (await startedAt(socket, path) !== before) {
      return { state: "done", ok: true, code: "restarted" };
    }
    await sleep(POLL_MS);
  }
  return { state: "unknown", ok: false, code: "no_answer" };
}

async function startedAt(socket: string, path: string): Promise<string | undefined> {
  const { status, body } = await ask(socket, "GET", `${path}/json`, 5_000);
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
    const asked = request({ socketPath, method, path, timeout }, async (response) => {
      try {
        const parts: Buffer[] = [];
        for await (const part of response) parts.push(part as Buffer);
        resolve({ status: response.statusCode!, body: Buffer.concat(parts).toString() });
      } catch (error) {
        reject(error);
      }
    });
    asked.on("timeout", () => asked.destroy(new Error("The container's engine did not answer")));
    asked.on("error", reject).end();
  });
}

const refused = (code: string): StepOutcome => ({ state: "not_done", ok: false, code });

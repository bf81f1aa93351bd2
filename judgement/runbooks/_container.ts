import { setTimeout as sleep } from "node:timers/promises";
import { type ContainerEngine, openContainerEngine } from "../../integrations/host/mod.ts";
import { createMark, marksFolder, readMark } from "./_marks.ts";
import { type Act, notDone, type StepOutcome, unknownOutcome } from "./_outcome.ts";

/** Seconds that a container has to stop by itself. */
const STOP_SECONDS = 10;
const INSPECT_TIMEOUT_MS = 5_000;
const POLL_MS = 250;

const RESTARTED: StepOutcome = { state: "done", ok: true, code: "restarted" };

/**
 * Restarts a container through the socket of this host's engine, once. The time at which it was started is written down
 * before, so that a restart can be recognized after a crash.
 *
 * @see https://docs.docker.com/reference/api/engine/ ContainerRestart, ContainerInspect
 */
export async function restartContainer(name: string, act: Act): Promise<StepOutcome> {
  const engine = openContainerEngine();
  if (!engine) return notDone("no_docker");
  const path = `/containers/${encodeURIComponent(name)}`;
  const marks = marksFolder(act.dataDir, act.effectId);
  try {
    const before = readMark(marks, "before") ?? await startTime(engine, path);
    if (before === undefined) return notDone("no_container");
    createMark(marks, "before", before);
    const isFirst = createMark(marks, "sent", new Date().toISOString());
    const marked = readMark(marks, "before")!;
    if (!isFirst) return await waitForRestart(engine, path, marked);
    const { status } = await engine.ask("POST", `${path}/restart?t=${STOP_SECONDS}`, act.withinMs);
    if (status === 204) return RESTARTED;
    return status < 500 ? notDone(`status_${status}`) : await waitForRestart(engine, path, marked);
  } catch {
    return readMark(marks, "sent") === undefined
      ? notDone("docker_away")
      : unknownOutcome("docker_away");
  }
}

/** Waits until the container has a new start time, as long as a restart may take. */
async function waitForRestart(
  engine: ContainerEngine,
  path: string,
  before: string,
): Promise<StepOutcome> {
  const deadline = Date.now() + (STOP_SECONDS + 2) * 1_000;
  while (Date.now() < deadline) {
    if (await startTime(engine, path) !== before) return RESTARTED;
    await sleep(POLL_MS);
  }
  return unknownOutcome("no_answer");
}

async function startTime(engine: ContainerEngine, path: string): Promise<string | undefined> {
  const { status, body } = await engine.ask("GET", `${path}/json`, INSPECT_TIMEOUT_MS);
  if (status === 404) return undefined;
  return String((JSON.parse(body.toString()) as { State: { StartedAt: string } }).State.StartedAt);
}

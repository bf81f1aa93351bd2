import { type Observation, say } from "../../contract/domain/mod.ts";
import { openContainerEngine } from "../../integrations/host/mod.ts";
import { NotHad, type Observer } from "./observer.ts";
import { dropOldLines } from "./_recent.ts";

const LINES = 60;
const TIMEOUT_MS = 5_000;
/** Length of the head of each part of a log that has both streams. @see https://docs.docker.com/reference/api/engine/ ContainerAttach */
const HEAD_BYTES = 8;

/** Reads the state of a service's container and the end of its log. */
export const container: Observer = {
  name: "container",
  about:
    "Reads the state of the service's container, which the services file names, and the end of its log",
  applies: ({ isLocal, values: { container } }) => isLocal && typeof container === "string",
  async observe({ since, values }): Promise<Observation[]> {
    const container = String(values.container);
    const engine = openContainerEngine();
    if (!engine) throw new NotHad("no_docker");
    const path = `/containers/${encodeURIComponent(container)}`;
    const [state, logs] = await Promise.all([
      engine.ask("GET", `${path}/json`, TIMEOUT_MS),
      engine.ask("GET", `${path}/logs?stdout=1&stderr=1&tail=${LINES}`, TIMEOUT_MS),
    ]);
    if (state.status !== 200) throw new NotHad(state.status === 404 ? "no_container" : "refused");
    const { State, RestartCount, Config } = JSON.parse(state.body.toString());
    return [{
      code: "container",
      says:
        say`The container ${container} is ${State.Status}, exit code ${State.ExitCode}, restarted ${RestartCount} times${
          State.OOMKilled ? say`, and was killed for its memory` : ""
        }.`,
      text: dropOldLines(Config.Tty ? logs.body.toString() : withoutHeads(logs.body), since),
      figures: {
        status: String(State.Status),
        exit_code: Number(State.ExitCode),
        restarts: Number(RestartCount),
        memory_killed: Boolean(State.OOMKilled),
      },
    }];
  },
};

/** Returns the text of a log without the head of each part: its stream and its length. */
function withoutHeads(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const end = at + HEAD_BYTES + bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + HEAD_BYTES, end));
    at = end;
  }
  return Buffer.concat(parts).toString();
}

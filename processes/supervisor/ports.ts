import { checkPort, EmbeddedError } from "../../runtime/embedded/mod.ts";
import { type ListeningSocket, listSockets } from "../../integrations/host/mod.ts";

/** A port that a part of the platform is about to listen on. */
export interface WantedPort {
  /** Name of the part for people: `Gateway`. */
  readonly title: string;
  /** Setting that gives the port. */
  readonly setting: string;
  readonly port: number;
  /** Address that the part will listen on. */
  readonly address: string;
  /** Alternative to choosing another port: `or TEMPORAL_ADDRESS to use that server`. */
  readonly alternative?: string | undefined;
}

/**
 * Checks ports before anything starts.
 *
 * @throws {EmbeddedError} some are taken or forbidden, or two parts want the same; the message has two lines for each
 */
export async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  const codes = await Promise.all(wanted.map(({ port, address }) => checkPort(port, address)));
  const refused = wanted.map((want, index) => ({ ...want, code: codes[index] }))
    .filter(({ code }) => code !== undefined);
  const repeated = wanted.filter(({ port }, index) =>
    wanted.findIndex((other) => other.port === port) < index
  );
  if (refused.length === 0 && repeated.length === 0) return;
  const sockets = await listSockets();
  const problems = [
    ...refused.map((want) => explainRefusal(want, sockets)),
    ...repeated.map(({ title, port, setting }) =>
      explain(title, `port ${port} is given to two parts`, `Set ${setting} to another port.`)
    ),
  ];
  throw new EmbeddedError(problems.join("\n"));
}

function explainRefusal(
  { title, setting, port, address, alternative, code }: WantedPort & {
    readonly code: string | undefined;
  },
  sockets: readonly ListeningSocket[],
): string {
  const advice = `Set ${setting} to a free port${alternative ? `, ${alternative}` : ""}.`;
  if (code === "EACCES") {
    return explain(title, `port ${port} needs rights that this user lacks`, advice);
  }
  if (code !== "EADDRINUSE") {
    return explain(title, `cannot listen on ${address}:${port} (${code})`, "Set SEALOOP_BIND.");
  }
  const holder = sockets.find((socket) => socket.port === port);
  const process = holder?.pid ? ` (pid ${holder.pid}, ${holder.program ?? "unknown"})` : "";
  return explain(title, `port ${port} is in use by another program${process}`, advice);
}

const explain = (title: string, problem: string, advice: string) =>
  `  ${title.padEnd(13)}${problem}\n  ${"".padEnd(13)}${advice}`;

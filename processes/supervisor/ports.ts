import { checkPort, EmbeddedError } from "../../embedded/mod.ts";
import { type ListeningSocket, listeningSockets } from "../../integrations/host/mod.ts";

/** A port that a part of the platform is about to listen on. */
export interface WantedPort {
  /** Of the part: `Gateway`. */
  readonly title: string;
  /** Setting that gives it. */
  readonly setting: string;
  readonly port: number;
  /** Address that it will listen on. */
  readonly address: string;
  /** What else there is to do than to choose another port: `or TEMPORAL_ADDRESS to use that server`. */
  readonly instead?: string;
}

/**
 * Checks ports before anything starts.
 *
 * @throws {EmbeddedError} some are taken or forbidden, or two parts want the same; the message has a paragraph for each
 */
export async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  const codes = await Promise.all(wanted.map(({ port, address }) => checkPort(port, address)));
  const refused = wanted.map((want, at) => ({ ...want, code: codes[at] }))
    .filter(({ code }) => code !== undefined);
  const twins = wanted.filter(({ port }, at) => wanted.findIndex((w) => w.port === port) < at);
  if (refused.length === 0 && twins.length === 0) return;
  const sockets = await listeningSockets();
  const complaints = [
    ...refused.map((want) => complaint(want, sockets)),
    ...twins.map(({ title, port, setting }) =>
      explain(title, `port ${port} is given to two parts`, `Set ${setting} to another port.`)
    ),
  ];
  throw new EmbeddedError(complaints.join("\n"));
}

function complaint(
  { title, setting, port, address, instead, code }: WantedPort & { readonly code?: string },
  sockets: readonly ListeningSocket[],
): string {
  const advice = `Set ${setting} to a free port${instead ? `, ${instead}` : ""}.`;
  if (code === "EACCES") return explain(title, `port ${port} needs rights that we lack`, advice);
  if (code !== "EADDRINUSE") {
    return explain(title, `can't listen on ${address}:${port} (${code})`, "Set SEALOOP_BIND.");
  }
  const holder = sockets.find((socket) => socket.port === port);
  const who = holder?.pid ? ` (pid ${holder.pid}, ${holder.program ?? "unknown"})` : "";
  return explain(title, `port ${port} is in use by another program${who}`, advice);
}

const explain = (title: string, what: string, advice: string) =>
  `  ${title.padEnd(13)}${what}\n  ${"".padEnd(13)}${advice}`;

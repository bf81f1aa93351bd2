import { type Observation, say } from "../../contract/domain/mod.ts";
import { probe } from "../../integrations/host/mod.ts";
import { openHttpClient, type OutboundFailed } from "../../integrations/http/mod.ts";
import { runProgram } from "./_program.ts";
import type { Observer, ObserverContext } from "./observer.ts";

const TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 64 * 1024;
/** Of a page, the first lines say what is wrong. */
const MAX_TEXT = 3_000;
/** Headers that tell something about a failure. */
const HEADERS = [
  "server",
  "content-type",
  "retry-after",
  "www-authenticate",
  "location",
  "via",
  "x-cache",
  "x-ratelimit-remaining",
  "proxy-status",
  "warning",
];

/** Repeats the failed check, and reads what it got. */
export const check: Observer = {
  name: "check",
  about: "Repeats the check: its answer with the first lines of the body, or what a command prints",
  applies: ({ service }) => Boolean(service?.check),
  async observe({ service }, context) {
    if (!service?.check) return [];
    if ("http" in service.check) return [await readAnswer(service.check.http, context)];
    if ("command" in service.check) return [await readCommand(service.check.command)];
    const { code, elapsedMs } = await probe(service.check, TIMEOUT_MS);
    const elapsed_ms = Math.round(elapsedMs);
    return [{
      code: code === "ok" ? "connected" : "no_answer",
      says: code === "ok"
        ? say`It accepts a connection in ${elapsed_ms} ms.`
        : say`It accepts no connection after ${elapsed_ms} ms: ${code}.`,
      figures: { reason: code, elapsed_ms },
    }];
  },
};

/** Reads the answer of a server to one request. */
async function readAnswer(url: string, { deadline }: ObserverContext): Promise<Observation> {
  const begin = performance.now();
  const http = openHttpClient({ allowHosts: [new URL(url).hostname] });
  const elapsed = () => Math.round(performance.now() - begin);
  try {
    const { status, headers, body } = await http.request(url, {
      method: "GET",
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BODY_BYTES,
      signal: deadline,
    });
    // A cache repeats the time of the answer that it keeps.
    const date = headers.age === undefined ? headers.date : undefined;
    const offset = date === undefined ? NaN : (Date.parse(date) - Date.now()) / 1e3;
    const shown = HEADERS.filter((name) => headers[name] !== undefined)
      .map((name) => `${name}: ${headers[name]}`);
    return {
      code: "answer",
      says: say`It answers ${status} in ${elapsed()} ms.`,
      text: [...shown, "", textOf(headers["content-type"], body.toString("utf8"))].join("\n")
        .trim(),
      figures: {
        status,
        elapsed_ms: elapsed(),
        // The header has whole seconds, and the answer was under way.
        ...(Number.isNaN(offset) ? {} : { clock_offset_s: Math.round(offset) }),
      },
    };
  } catch (error) {
    const { code, systemCode } = error as OutboundFailed;
    const reason = String(systemCode ?? code ?? "failed").toLowerCase();
    return {
      code: "no_answer",
      says: say`It gives no answer after ${elapsed()} ms: ${reason}.`,
      figures: { reason, elapsed_ms: elapsed() },
    };
  }
}

/** Returns the words of a page: tags, scripts and styles are left out. */
function textOf(type = "", body: string): string {
  const words = /html/i.test(type)
    ? body.replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, " ").replace(/<[^>]{0,1000}>/g, " ")
    : body;
  return words.replace(/[ \t]+/g, " ").replace(/\s*\n\s*/g, "\n").trim().slice(0, MAX_TEXT);
}

async function readCommand(argv: readonly string[]): Promise<Observation> {
  const { code, text } = await runProgram(argv);
  return {
    code: "answer",
    says: say`The command of the check ends with ${code.replaceAll("_", " ")}.`,
    text,
    figures: { reason: code },
  };
}

/** Calls of the gateway by a person's key. */
import type { Config } from "../../config.ts";
import { escapeInvisible, toLine } from "../../contract/mod.ts";
import type { ApproverKey } from "../_approver_key.ts";

/** Calls the gateway. */
export type GatewayCall = <Answer>(
  method: "GET" | "POST",
  path: string,
  body?: object,
) => Promise<Answer>;

/**
 * Returns the function that calls the gateway with a key. Nothing in an answer can steer a terminal or hide: invisible
 * characters are spelled out, in errors as well.
 */
export function openGateway(
  { settings }: Config,
  { key, path: keyFile }: ApproverKey,
): GatewayCall {
  const scheme = settings.SEALOOP_TLS_CERT === undefined ? "http" : "https";
  const base = settings.SEALOOP_GATEWAY_URL ??
    `${scheme}://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}`;
  return async <Answer>(method: "GET" | "POST", path: string, body?: object) => {
    const headers = {
      "x-api-key": key,
      ...(body ? { "content-type": "application/json" } : {}),
    };
    const init = { method, headers, body: body && JSON.stringify(body) };
    const response = await fetch(base + path, init).catch((cause) => {
      const message =
        `Cannot reach the gateway at ${base}: start the platform first (npm start), ` +
        "or set SEALOOP_GATEWAY_URL";
      throw new Error(message, { cause });
    });
    const answer: unknown = escapeInvisible(await readJson(response, base));
    if (response.ok) return answer as Answer; // as the operation's output is described
    if (response.status !== 401) throw new Error(oneLine(problemText(Object(answer))));
    throw new Error(
      `The gateway at ${base} refuses the key in ${keyFile}: it was revoked or has expired; remove the file to be issued ` +
        "another one. Or it is another platform's gateway; then set SEALOOP_GATEWAY_URL",
    );
  };
}

async function readJson(response: Response, base: string): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    const message = `${base} is no gateway: its answer (${response.status}) is no JSON`;
    throw new Error(message, { cause });
  }
}

function problemText({ detail }: { readonly detail?: unknown }): string {
  if (typeof detail === "string") return detail;
  const [first] = Array.isArray(detail) ? detail as { loc?: unknown[]; msg?: string }[] : [];
  return first ? `${first.loc?.at(-1)}: ${first.msg}` : "The gateway gave no reason";
}

/** Returns a text of the gateway's as one line, so that it can't pass for several. */
export function oneLine(text: unknown): string {
  return toLine(String(text));
}

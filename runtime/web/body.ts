import type { IncomingMessage } from "node:http";
import type { Context } from "koa";
import { Problem } from "../../contract/mod.ts";
import { MalformedJson, parseJson } from "./json.ts";

/** Default maximum of bytes in a request's body. */
export const MAX_BODY = 1024 * 1024;

/** Limits of what is still read from a client after 413, so that it can read the answer before the connection closes. */
const MAX_LINGER_BYTES = 8 * MAX_BODY;
const LINGER_MS = 1_000;

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;

/**
 * Reads a request's JSON body.
 *
 * @param maxBytes of the body
 * @param onBytes is called with the bytes of a body before they are parsed
 * @returns the value; undefined where there is no body
 * @throws {Problem} `TooLarge` where it is larger, `UnsupportedMediaType` where it is not declared as JSON in UTF-8
 * without a content coding, `InvalidInput` where it is malformed, `Cancelled` when the client leaves
 */
export async function readJson(
  ctx: Context,
  maxBytes = MAX_BODY,
  onBytes?: (bytes: Buffer) => void,
): Promise<unknown> {
  const { req } = ctx;
  if (!hasBody(req)) return undefined;
  checkType(req);
  if (req.headers.expect !== undefined) ctx.res.writeContinue();
  const bytes = await readBytes(req, maxBytes);
  onBytes?.(bytes);
  if (bytes.length === 0) return undefined;
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw toMalformedProblem(error);
  }
}

/** Refuses a body whose declared size is too large, before reading it. */
export function refuseDeclaredSize(req: IncomingMessage, maxBytes = MAX_BODY): void {
  const declared = req.headers["content-length"];
  if (declared !== undefined && Number(declared) > maxBytes) throw tooLarge(maxBytes);
}

/** Waits, within limits, until a client has stopped sending. A connection that is closed earlier loses the answer. */
export function linger(req: IncomingMessage): Promise<void> {
  if (req.complete || req.destroyed || req.headers.expect !== undefined) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, LINGER_MS);
    req.on("data", (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > MAX_LINGER_BYTES) resolve();
    });
    req.once("close", resolve).once("end", resolve);
    timer.unref();
  });
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

function checkType({ headers }: IncomingMessage): void {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";");
  if (!JSON_TYPE.test(type.trim())) {
    throw new Problem(
      "UnsupportedMediaType",
      type
        ? `Cannot read a body of type ${type.trim()}; send content-type: application/json`
        : "Cannot read a body of unknown type; send content-type: application/json",
    );
  }
  const charset = parameters.map((p) => p.trim()).find((p) => p.startsWith("charset="));
  if (charset && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new Problem("UnsupportedMediaType", `Cannot read JSON in ${charset}; send UTF-8`);
  }
  const coding = headers["content-encoding"] ?? "identity";
  if (coding !== "identity") {
    throw new Problem(
      "UnsupportedMediaType",
      `Cannot read the content coding ${coding}; send none`,
    );
  }
}

function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const cancelled = () => new Problem("Cancelled", "The client left while sending the body");
  if (req.destroyed) return Promise.reject(cancelled()); // it emits nothing any more
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (end: () => void) => {
      req.off("data", append).off("end", finish).off("close", abort).off("error", abort);
      end();
    };
    const append = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) settle(() => reject(tooLarge(maxBytes)));
      else chunks.push(chunk);
    };
    const finish = () => settle(() => resolve(Buffer.concat(chunks, size)));
    const abort = () => settle(() => reject(cancelled()));
    req.on("data", append).on("end", finish).on("close", abort).on("error", abort);
  });
}

const tooLarge = (maxBytes: number) =>
  new Problem("TooLarge", `The body is too large; at most ${maxBytes} bytes are accepted`, {
    headers: { connection: "close" },
  });

function toMalformedProblem(error: unknown): Problem {
  const fault = error instanceof MalformedJson
    ? error
    : new MalformedJson(0, "the body is not UTF-8");
  const msg = `Malformed JSON at offset ${fault.offset}: ${fault.message}`;
  return new Problem("InvalidInput", msg, {
    body: { detail: [{ loc: ["body", fault.offset], msg, type: "json_invalid" }] },
  });
}

import type { IncomingMessage } from "node:http";
import type { Context } from "koa";
import { Problem } from "../contract/mod.ts";
import { MalformedJson, parseJson } from "./_json.ts";

/** Most bytes that a request's body may have, where nothing else is said. */
export const MAX_BODY = 1024 * 1024;

/** What a client that is told `413` while it still sends may go on sending, so that it gets to read the answer. */
const LINGER = { bytes: 8 * MAX_BODY, milliseconds: 1000 };

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;

/**
 * Reads a request's JSON body.
 *
 * @param most bytes that it may have
 * @returns the value; undefined where there is no body
 * @throws {Problem} `TooLarge` where it is larger, `UnsupportedMediaType` where it is not declared as JSON in UTF-8
 * without a content coding, `InvalidInput` where it is malformed, `Cancelled` when the client leaves
 */
export async function readJson(ctx: Context, most = MAX_BODY): Promise<unknown> {
  const { req } = ctx;
  if (!hasBody(req)) return undefined;
  refuseType(req);
  if (req.headers.expect !== undefined) ctx.res.writeContinue();
  const bytes = await readBytes(req, most);
  if (bytes.length === 0) return undefined;
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw malformed(error);
  }
}

/** Refuses a body that says itself that it is too large, before a byte of it is read. */
export function refuseDeclaredSize(req: IncomingMessage, most = MAX_BODY): void {
  const declared = req.headers["content-length"];
  if (declared !== undefined && Number(declared) > most) throw tooLarge(most);
}

/** Lets a client that still sends finish, within bounds, as a connection closed too early loses the answer. */
export function linger(req: IncomingMessage): Promise<void> {
  if (req.complete || req.destroyed || req.headers.expect !== undefined) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, LINGER.milliseconds);
    req.on("data", (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > LINGER.bytes) resolve();
    });
    req.once("close", resolve).once("end", resolve);
    timer.unref();
  });
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

function refuseType({ headers }: IncomingMessage): void {
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

function readBytes(req: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (end: () => void) => {
      req.off("data", take).off("end", whole).off("close", gone).off("error", gone);
      end();
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > most) settle(() => reject(tooLarge(most)));
      else chunks.push(chunk);
    };
    const whole = () => settle(() => resolve(Buffer.concat(chunks, size)));
    const gone = () =>
      settle(() => reject(new Problem("Cancelled", "The client left while sending the body")));
    req.on("data", take).on("end", whole).on("close", gone).on("error", gone);
  });
}

const tooLarge = (most: number) =>
  new Problem("TooLarge", `The body is too large; at most ${most} bytes are accepted`, {
    headers: { connection: "close" },
  });

function malformed(error: unknown): Problem {
  const fault = error instanceof MalformedJson
    ? error
    : new MalformedJson(0, "the body is not UTF-8");
  const msg = `Malformed JSON at offset ${fault.offset}: ${fault.message}`;
  return new Problem("InvalidInput", msg, {
    body: { detail: [{ loc: ["body", fault.offset], msg, type: "json_invalid" }] },
  });
}

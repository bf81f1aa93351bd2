import { Agent, request } from "node:http";
import { verifyEd25519 } from "../crypto/mod.ts";
import { SignerAway } from "./errors.ts";
import type { ReceiptKey } from "./receipt_key.ts";

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Opens the key of a signer process ({@linkcode serveKey}) by its Unix socket.
 *
 * @throws {SignerAway} it does not answer as a signer
 */
export async function openSocketKey(path: string): Promise<ReceiptKey> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const ask = (method: "GET" | "POST", route: string, body?: unknown) =>
    askSigner(agent, path, method, route, body);
  const hex = readHex(path, (await ask("GET", "/key")).public_key, 32);
  return {
    publicKey: Buffer.from(hex, "hex"),
    async sign(messages) {
      if (messages.length === 0) return [];
      const answer = await ask("POST", "/sign", {
        messages: messages.map((message) => Buffer.from(message).toString("base64")),
      });
      const list: unknown[] = Array.isArray(answer.signatures) ? answer.signatures : [];
      const signatures = list.map((one) => Buffer.from(readHex(path, one, 64), "hex"));
      // The process may have been started again with another key meanwhile. One signature shows that.
      if (
        signatures.length !== messages.length ||
        !verifyEd25519(hex, messages.at(-1)!, signatures.at(-1)!)
      ) {
        throw new SignerAway(`The signer at ${path} does not sign with the key ${hex}`);
      }
      return signatures;
    },
    close() {
      agent.destroy();
      return Promise.resolve();
    },
  };
}

function readHex(path: string, value: unknown, bytes: number): string {
  if (typeof value === "string" && /^[0-9a-f]+$/.test(value) && value.length === 2 * bytes) {
    return value;
  }
  throw new SignerAway(`What answers at ${path} is no signer`);
}

/** Sends one request. @returns the fields of the answer @throws {SignerAway} */
function askSigner(
  agent: Agent,
  socketPath: string,
  method: string,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) =>
      reject(new SignerAway(`The signer at ${socketPath} does not answer: ${reason}`, { cause }));
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const sent = request(
      { agent, socketPath, method, path, headers, timeout: TIMEOUT_MS },
      (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on("data", (part: Buffer) => {
          size += part.length;
          if (size > MAX_ANSWER_BYTES) response.destroy(new Error("the answer is too long"));
          else parts.push(part);
        });
        response.on("error", (error) => fail(error.message, error));
        response.on("end", () => {
          if (response.statusCode !== 200) return fail(`status ${response.statusCode}`);
          try {
            resolve(JSON.parse(Buffer.concat(parts).toString()));
          } catch (error) {
            fail("its answer is no JSON", error);
          }
        });
      },
    );
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    sent.on("error", (error) => fail(error.message, error));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

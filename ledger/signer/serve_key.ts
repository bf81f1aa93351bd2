import { chmodSync, existsSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { BadKeyFile } from "../crypto/mod.ts";
import { openFileKey, type ReceiptKey } from "./receipt_key.ts";

/** A key that is served. */
export interface ServedKey {
  readonly publicKey: Buffer;
  close(): Promise<void>;
}

/** A batch has at most 256 receipts of 256 KiB, and base64 takes a third more. */
const MAX_REQUEST_BYTES = 96 * 1024 * 1024;

/**
 * Serves the key of a file on a Unix socket, which this process's user alone can reach: `GET /key` answers `public_key` (hex),
 * `POST /sign` takes `messages` (base64) and answers `signatures` (hex). It signs whatever it is asked to, as a key of
 * PKCS#11 or a KMS does; what may be signed is the journal's business.
 *
 * @throws {BadKeyFile} the key is not there, as none is made here, or it can't be used
 * @throws {Error} another signer answers at the socket
 */
export async function serveKey(keyFile: string, socketPath: string): Promise<ServedKey> {
  if (!existsSync(keyFile)) {
    throw new BadKeyFile(
      `There is no key ${keyFile}, and a signer makes none. Put it there; of a new ledger: ` +
        `(umask 077; openssl genpkey -algorithm ed25519 -out ${keyFile})`,
    );
  }
  await removeStaleSocket(socketPath);
  const key = openFileKey(keyFile);
  const server = createServer((request, response) => {
    answer(key, request, response).catch(() => end(response, 400, { error: "bad request" }));
  });
  const mask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.on("error", reject).listen(socketPath, resolve);
    });
    chmodSync(socketPath, 0o600);
  } catch (error) {
    await key.close();
    throw error;
  } finally {
    process.umask(mask);
  }
  return {
    publicKey: key.publicKey,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await key.close();
    },
  };
}

async function answer(
  key: ReceiptKey,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, url } = request;
  if (method === "GET" && url === "/key") {
    return end(response, 200, { public_key: key.publicKey.toString("hex") });
  }
  if (method !== "POST" || url !== "/sign") return end(response, 404, { error: "not found" });
  const { messages } = JSON.parse((await readBody(request)).toString());
  const signatures = await key.sign(
    messages.map((message: string) => Buffer.from(message, "base64")),
  );
  end(response, 200, { signatures: signatures.map((one) => one.toString("hex")) });
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_REQUEST_BYTES) throw new Error("The request is too long");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function end(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Removes the socket of a process that was killed. @throws {Error} it is no socket, or somebody may answer there */
async function removeStaleSocket(path: string): Promise<void> {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file) return;
  if (!file.isSocket()) {
    throw new Error(`Cannot listen on ${path}: it is no socket. Name a path that is free`);
  }
  const isServed = await new Promise<boolean>((resolve, reject) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    }).on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") resolve(false);
      else reject(error);
    });
  });
  if (isServed) throw new Error(`Another signer answers at ${path}`);
  rmSync(path);
}

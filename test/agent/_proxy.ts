/** A proxy, and a server behind it that speaks TLS. */
import { execFileSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { testFolder } from "../_run.ts";

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A proxy that opens tunnels. Emits `tunnel` for each. */
export class TestProxy extends EventEmitter {
  /** Addresses that tunnels were asked for. */
  readonly targets: string[] = [];
  address = "";
  readonly #server = createServer((_, response) => void response.writeHead(500).end());
  readonly #sockets = new Set<Socket>();

  get tunnels(): number {
    return this.targets.length;
  }

  async start(): Promise<this> {
    this.#server.on("connect", ({ url }, inside: Socket) => {
      this.targets.push(url!);
      const outside = connect(Number(url!.split(":")[1]), url!.split(":")[0]);
      for (const socket of [inside, outside]) {
        this.#sockets.add(socket);
        socket.on("error", () => [inside, outside].forEach((one) => one.destroy()));
      }
      outside.once("connect", () => inside.write("HTTP/1.1 200 OK\r\n\r\n"));
      inside.pipe(outside).pipe(inside);
      this.emit("tunnel");
    });
    this.address = `http://127.0.0.1:${await listen(this.#server)}`;
    return this;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** Returns whether this machine can make certificates. */
export function canMakeCertificates(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    console.log("    not run: it needs openssl");
    return false;
  }
}

/** A server that speaks TLS and passes requests on. */
export class TlsServer {
  address = "";
  /** File of the certificate, which clients have to trust. */
  certificate = "";
  #server?: Server;

  constructor(private readonly target: string) {}

  async start(): Promise<this> {
    const folder = await testFolder();
    const [key, certificate] = [join(folder, "tls.key"), join(folder, "tls.pem")];
    execFileSync("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=DNS:localhost"],
    ], { stdio: "ignore" });
    this.certificate = certificate;
    const files = { key: readFileSync(key), cert: readFileSync(certificate) };
    this.#server = createTlsServer(files, (inner, response) => {
      const { method, url, headers } = inner;
      const passed = request(this.target + url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      passed.on("error", () => response.destroy());
      inner.pipe(passed);
    });
    this.address = `https://localhost:${await listen(this.#server)}`;
    return this;
  }

  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}

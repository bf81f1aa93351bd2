/** The platform's side of the protocol, as small as it can be: enrolment, heartbeats, sealing, over the test's ledger. */
import { createHash, createPublicKey, hash, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { DeviceBundle } from "../../contract/domain/mod.ts";
import { canonicalize } from "../../ledger/rules/mod.ts";
import { AGENT } from "./_device.ts";
import { pins, TestLedger } from "./_ledger.ts";

type Fields = Record<string, unknown>;

/** A heartbeat that was received. */
export interface Heartbeat {
  readonly fields: Fields;
  /** SHA-256 of body and signature. */
  readonly sha256: string;
}

const SPKI = Buffer.from("302a300506032b6570032100", "hex");

const verifies = (publicKey: string, text: string | Buffer, signature: Buffer): boolean => {
  const key = Buffer.concat([SPKI, Buffer.from(publicKey, "hex")]);
  const object = createPublicKey({ key, format: "der", type: "spki" });
  return verify(null, Buffer.from(text), object, signature);
};

/** An answer with another status than 200. */
class Refused extends Error {
  constructor(readonly status: number, readonly body: Fields) {
    super(JSON.stringify(body));
  }
}

/** A platform with one ledger and some devices. */
export class TestGateway {
  ledger = new TestLedger();
  trust: Fields = pins();
  readonly heartbeats: Heartbeat[] = [];
  readonly statements: Fields[] = [];
  /** Bundles that the next heartbeat of a device is given, until it acknowledges them. */
  readonly queues = new Map<string, DeviceBundle[]>();
  readonly outputs = new Map<string, { salt: string; output: Buffer }>();
  readonly inventories = new Map<string, Fields>();
  /** The program that it serves. */
  agent = readFileSync(AGENT, "utf8");
  /** Number of requests so far. */
  requests = 0;
  /** Answers nothing while true. */
  silent = false;
  /** Returns the status of requests that it does not take. */
  refuses: (path: string, fields: Fields) => number | undefined = () => undefined;
  /** Longest time that a heartbeat waits for commands. */
  waitMs = 200;
  readonly #server: Server;
  readonly #codes = new Set<string>();
  readonly #devices = new Map<
    string,
    { publicKey: string; runnerKey: string; counter: number; answer?: Promise<Fields> }
  >();
  readonly #sealed = new Map<string, { content: string; answer: Fields }>();
  address = "";

  constructor() {
    this.#server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      this.requests++;
      if (request.url === "/v1/devices/agent/download") {
        return void response.end(this.agent);
      }
      let [status, answer]: [number, Fields] = [200, {}];
      try {
        answer = await this.#answer(request, body);
      } catch (error) {
        [status, answer] = error instanceof Refused
          ? [error.status, error.body]
          : [500, { detail: String((error as Error).stack) }];
      }
      if (this.silent) return void request.socket.destroy();
      response.writeHead(status, { "content-type": "application/json" }).end(
        JSON.stringify(answer),
      );
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  mintCode(): string {
    const code = `code-${this.#codes.size + 1}-${Math.random().toString(36).slice(2)}`;
    this.#codes.add(code);
    return code;
  }

  runnerKey(deviceId: string): string {
    return this.#devices.get(deviceId)!.runnerKey;
  }

  async #answer(request: IncomingMessage, body: string): Promise<Fields> {
    const path = request.url!;
    if (path === "/v1/devices/enroll") return this.#enroll(JSON.parse(body));
    const deviceId = this.#authenticate(request, body);
    const refused = this.refuses(path, JSON.parse(body));
    if (refused) throw new Refused(refused, { detail: "It is not taken" });
    if (path === "/v1/shield/devices/heartbeat") {
      return await this.#heartbeat(deviceId, request, body);
    }
    if (path === `/v1/shield/devices/${deviceId}/seal`) {
      return this.seal(deviceId, JSON.parse(body));
    }
    throw new Refused(404, { detail: `There is no ${path}` });
  }

  #enroll({ proof, name: _, platform: __, ...proven }: Fields): Fields {
    const { code, public_key, runner_key } = proven as Record<string, string>;
    const text = canonicalize(proven);
    const { device, runner } = proof as Record<string, string>;
    const isProven = verifies(public_key!, text, Buffer.from(device!, "hex")) &&
      verifies(runner_key!, text, Buffer.from(runner!, "hex"));
    if (!this.#codes.has(code!) || !isProven) throw new Refused(403, { detail: "no" });
    const id = hash("sha256", Buffer.from(public_key!, "hex")).slice(0, 12);
    const device_id = `DEV-${id}`;
    this.#devices.set(device_id, { publicKey: public_key!, runnerKey: runner_key!, counter: 0 });
    const { id: receipt_id } = JSON.parse(
      this.ledger.seal({ category: "device", action: "enrolled" }),
    );
    const checkpoint = this.ledger.checkpoint();
    return {
      device_id,
      org_id: "platform",
      interval_seconds: 60,
      trust: this.trust,
      checkpoint,
      receipt_id,
    };
  }

  /** Verifies the signature of a request (RFC 9421), and returns its device. */
  #authenticate({ method, url, headers }: IncomingMessage, body: string): string {
    const input = /^sealoop=(\("@method" "@path" "@query" "content-digest"\);(.*))$/.exec(
      String(headers["signature-input"]),
    );
    const signature = /^sealoop=:(.*):$/.exec(String(headers.signature));
    const deviceId = /keyid="(DEV-[0-9a-f]{12})"/.exec(input?.[2] ?? "")?.[1] ?? "";
    const device = this.#devices.get(deviceId);
    const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
    if (!input || !signature || !device || headers["content-digest"] !== digest) {
      throw new Refused(401, { detail: "The request is not signed" });
    }
    const [path, query = ""] = url!.split("?");
    const base = [
      `"@method": ${method}`,
      `"@path": ${path}`,
      `"@query": ?${query}`,
      `"content-digest": ${digest}`,
      `"@signature-params": ${input[1]}`,
    ].join("\n");
    if (!verifies(device.publicKey, base, Buffer.from(signature[1]!, "base64"))) {
      throw new Refused(401, { detail: "The signature does not verify" });
    }
    return deviceId;
  }

  async #heartbeat(deviceId: string, request: IncomingMessage, body: string): Promise<Fields> {
    const device = this.#devices.get(deviceId)!;
    const fields = JSON.parse(body) as Fields;
    const sha256 = hash("sha256", body + request.headers.signature);
    const last = this.heartbeats.at(-1);
    this.heartbeats.push({ fields, sha256 });
    if (last?.sha256 === sha256 && device.answer) return await device.answer;
    if (Number(fields.counter) <= device.counter) throw new Refused(409, { code: "cloned" });
    device.counter = Number(fields.counter);
    device.answer = this.#answerHeartbeat(deviceId, fields);
    return await device.answer;
  }

  async #answerHeartbeat(deviceId: string, fields: Fields): Promise<Fields> {
    const inventory: Fields = { ...this.inventories.get(deviceId), ...fields.delta as Fields };
    this.inventories.set(deviceId, inventory);
    const queue = this.queues.get(deviceId) ?? [];
    for (const ack of (fields.acks ?? []) as Record<string, string>[]) {
      const at = queue.findIndex(({ command }) => command.command_id === ack.command_id);
      if (at >= 0 && !["busy", "stale"].includes(ack.result!)) queue.splice(at, 1);
      if (ack.result === "output") {
        const output = Buffer.from(ack.output!, "base64");
        this.outputs.set(ack.command_id!, { salt: ack.salt!, output });
      }
    }
    const until = Date.now() + this.waitMs;
    while (Date.now() < until && (this.queues.get(deviceId) ?? []).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const commands = this.queues.get(deviceId) ?? [];
    const checkpoint = this.ledger.checkpoint();
    const size = this.ledger.records.length;
    return {
      server_time: this.ledger.now().toISOString(),
      interval_seconds: 0,
      log: await this.ledger.log(Number(fields.log_size), checkpoint),
      policy_version: 1,
      inventory_sha256: hash("sha256", canonicalize(inventory)),
      commands: await Promise.all(commands.map((bundle) => this.ledger.proveAgain(bundle, size))),
    };
  }

  /** Seals a statement of a device's runner. The same statement again is the same receipt. */
  seal(deviceId: string, body: Fields): Fields {
    const { signature, ...signed } = body;
    const runnerKey = this.runnerKey(deviceId);
    if (!verifies(runnerKey, canonicalize(signed), Buffer.from(String(signature), "hex"))) {
      throw new Refused(403, { detail: "The runner has not signed it" });
    }
    const id = hash("sha256", `${deviceId} ${body.sequence}`).slice(0, 16);
    const content = canonicalize(body);
    const before = this.#sealed.get(id);
    if (before && before.content !== content) {
      throw new Refused(409, {
        code: "journal_rolled_back",
        detail: "Another statement has this number",
      });
    }
    if (before) return before.answer;
    this.statements.push(body);
    const category = body.action === "data_egress" ? "data_egress" : "device_command";
    const fields = { id, category, action: String(body.status), subject: deviceId };
    const { record, salt } = this.ledger.sealPrivately(fields, "statement", body);
    const { chain_position, hash_sha256 } = JSON.parse(record);
    const answer = { ok: true, receipt_id: id, sha256: hash_sha256, chain_position, record, salt };
    this.#sealed.set(id, { content, answer });
    return answer;
  }
}

/** A gateway that shows approvals as a test says, and another one each time if the test wants that. */
import { hash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { canonicalize } from "../../../ledger/rules/mod.ts";

export const APPROVAL_ID = "APR-5b1e09c77a42";

/** Returns a command for a device as people approve it. */
export const commandAction = (more: object = {}) => ({
  command_id: "CMD-5b1e09c77a42",
  device_id: "DEV-5b1e09c77a42",
  argv: ["df", "-h"],
  user: "agent",
  timeout_seconds: 60,
  output_bytes: 1000,
  read_only: true,
  script: null,
  expires_at: "2026-07-01T12:00:00.000Z",
  ...more,
});

export const sha256Of = (action: unknown) => hash("sha256", canonicalize(action));

/** Returns an approval as a gateway shows it. */
export const shownApproval = (action: object, more: object = {}) => ({
  approval_id: APPROVAL_ID,
  status: "pending",
  subject: "CMD-5b1e09c77a42",
  description: "Show how full the file systems are",
  rule: "people-decide",
  reasons: ["A command is an act on the outside"],
  reaches: [],
  evidence: [],
  decide: "npm run approvals -- approve",
  action,
  action_sha256: sha256Of(action),
  requested_by: "robin",
  needed: 1,
  approvers: [],
  asked_at: "2026-06-01T12:00:00.000Z",
  expires_at: "2026-07-01T12:00:00.000Z",
  tenant_id: "platform",
  moves: [],
  receipt_id: "5b1e09c77a42d0e1",
  ...more,
});

/** A gateway that may lie. */
export class LyingGateway {
  /** Approvals that it shows, one after the other; the last one again and again. */
  shows: object[] = [];
  /** Bodies of decisions. */
  readonly decisions: Record<string, unknown>[] = [];
  address = "";
  readonly #server: Server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.method === "POST") this.decisions.push(JSON.parse(body));
    const shown = this.shows.length > 1 ? this.shows.shift() : this.shows[0];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(shown));
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

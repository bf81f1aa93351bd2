import { createHash } from "node:crypto";
import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { JsonText } from "../../contract/mod.ts";
import { DeviceApprovers } from "./_schemas.ts";
import { answerHeartbeat, isInventory, MAX_SECTIONS } from "./protocol/mod.ts";
import { Sha256, Timestamp } from "../schemas/mod.ts";

const Hex = z.string().regex(/^[0-9a-f]{0,64}$/);
const Ack = z.union([
  z.object({
    command_id: z.string().regex(/^CMD-[0-9a-f]{12}$/),
    result: z.enum(["begun", "known", "busy", "stale", "refused", "output"]),
    code: z.string().max(100).optional().describe("Of a refusal"),
    salt: Sha256.optional().describe("Of the commitment to the output"),
    output: z.string().max(400_000).optional().describe("Base64"),
  }),
  z.object({
    approvers_version: z.number().int().min(0),
    result: z.enum(["taken", "refused"]),
  }),
]);
const Firewall = z.object({
  backend: z.enum(["nft", "iptables"]),
  observed_sha256: Sha256,
  drift: z.boolean().nullable(),
  applied_sha256: Sha256.nullable(),
});
const Log = z.object({
  checkpoint: z.string().describe("Newest checkpoint, a signed note (C2SP tlog-checkpoint)"),
  consistency: z.array(z.string()).describe("Hashes that lead from log_size to it, hex"),
});
const example = {
  counter: 42,
  log_size: 1024,
  journal: { seq: 0, head: "" },
  approvers_version: 0,
  inventory_sha256: "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
  wait_seconds: 25,
};

/** One heartbeat of a device. */
export const heartbeat = operation({
  name: "devices.heartbeat",
  group: "shield",
  summary: "Take a device's heartbeat, and give it the newest log and its commands",
  description:
    "The request is signed by the device (RFC 9421). Its exact repetition gets the same answer. A lower counter is late: 409 " +
    "with the code `counter_late` and a challenge, which the device's next heartbeat repeats. The newest counter with other " +
    "content, or a lower one after that challenge, is a copy of the device: 409 with the code `counter_cloned`. It is " +
    "quarantined, and gets no commands until a person decides. " +
    "It waits for commands as long as wait_seconds says. No API key reaches it.",
  effect: "write",
  access: "device",
  input: z.object({
    counter: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).describe(
      "Rises with each heartbeat",
    ),
    log_size: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).describe(
      "Size of the log that the device has accepted",
    ),
    checkpoint: z.string().max(65_536).optional().describe(
      "The accepted checkpoint, a signed note",
    ),
    cosignature: z.string().max(1_000).optional().describe(
      "The runner's signature line under it (C2SP tlog-cosignature)",
    ),
    journal: z.object({
      seq: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
      head: Hex.describe("SHA-256 of its newest line; empty: there is none"),
    }).describe("End of the runner's journal"),
    approvers_version: z.number().int().min(0).max(1_000_000).describe(
      "Of the approvers that are pinned on the device; 0: none are",
    ),
    inventory_sha256: Sha256.describe("Of the canonical form of all sections"),
    delta: z.record(z.string().regex(/^[a-z][a-z0-9_]{0,39}$/), z.unknown())
      .refine(
        isInventory,
        `Expected at most ${MAX_SECTIONS} sections, of values that JSON has a canonical form for`,
      )
      .optional().describe("Sections of the inventory that have changed"),
    firewall: Firewall.optional(),
    challenge: Sha256.optional().describe("Of the answer to a late heartbeat before"),
    acks: z.array(Ack).max(50).optional().describe("What became of commands"),
    wait_seconds: z.number().min(0).max(25).default(0),
  }),
  output: z.object({
    server_time: Timestamp,
    interval_seconds: z.number().describe("Until the next heartbeat, where this one did not wait"),
    log: Log.nullable().describe(
      "Null: nothing is published that begins with what the device has accepted",
    ),
    policy_version: z.number().int().describe("Of the policies that devices are checked by"),
    commands: z.array(z.record(z.string(), z.unknown())).describe(
      "In the order of their numbers, each with its receipt and proofs at the size of the checkpoint",
    ),
    inventory_sha256: z.string().nullable().describe(
      "Of the sections that the platform has; where it differs, all are sent again",
    ),
    update: z.object({ sha256: Sha256, receipt_id: z.string() }).optional().describe(
      "The agent that is served, where the device has told of another one. It only informs",
    ),
    approvers: z.object({
      approvers: DeviceApprovers,
      version: z.number().int(),
      signatures: z.array(z.object({ key: z.string(), signature: z.string() })),
    }).optional().describe("Other approvers, signed by those that the device has pinned"),
  }),
  rest: { shield_heartbeat: "POST /v1/shield/devices/heartbeat" },
  presentation: {
    hints: { destructive: false, idempotent: true },
    errors: ["Unauthenticated", "NotFound", "Conflict", "RateLimited", "Unavailable"],
  },
  governance: {
    rule: "key-decides",
    limits: { counted: false, perMinute: "heartbeats" },
    signedByDevice: true,
  },
  durability: { sealsItself: true },
  example: {
    input: example,
    output: {
      server_time: "2026-07-01T12:00:00.000Z",
      interval_seconds: 60,
      log: { checkpoint: "sealoop.localhost\n1030\n…", consistency: [] },
      policy_version: 0,
      commands: [],
      inventory_sha256: example.inventory_sha256,
    },
  },
  run: async (message, { store, devices, caller, signed, signal }) => {
    const parts = { store, watch: devices, holder: await devices.holder.number() };
    const request = createHash("sha256").update(signed!.signature).update(signed!.bodySha256);
    const call = {
      deviceId: caller.keyId!,
      message,
      request: request.digest(),
      signal,
    };
    return new JsonText(await answerHeartbeat(parts, call));
  },
});

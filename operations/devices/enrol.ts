import { z } from "zod";
import { forTenant, operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  deviceIdOf,
  INTERVAL_SECONDS,
  isProven,
  readCode,
  readDeviceRoots,
} from "./protocol/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import {
  addDevice,
  type DeviceRecord,
  findEnrolment,
  getDevice,
  type NewDevice,
  renewEnrolment,
  type UsedCode,
  useEnrolmentCode,
} from "../../store/devices/mod.ts";
import { findTenantTokenById } from "../../store/keys/mod.ts";
import { oneLine, ReceiptId } from "../schemas/mod.ts";
import { askToReplace, checkReplaced } from "./_replace.ts";
import { DeviceId, DevicePlatform, DeviceTrust, PublicKey, Signature } from "./_schemas.ts";

const Enrolled = z.object({
  device_id: DeviceId,
  org_id: z.string().describe("The organization that it is a device of"),
  interval_seconds: z.number().int().describe("Seconds between heartbeats"),
  trust: DeviceTrust,
  checkpoint: z.string().describe("Checkpoint of the log that the device begins with"),
  receipt_id: ReceiptId.describe("Receipt of the enrolment"),
});

/** Makes a machine a device. */
export const enrolDevice = operation({
  name: "devices.enroll",
  group: "devices",
  summary: "Enrol a machine as a device",
  description:
    "Called by the agent. The code comes from an install script, and is good for one device within 15 minutes. Repeated " +
    "with the same code and keys, it gives the same answer. The same keys with another code are the same device, which pins " +
    "what is in force now.",
  effect: "write",
  access: "device",
  input: z.object({
    code: z.string().min(1).max(200).describe("From the install script"),
    public_key: PublicKey.describe("Ed25519 key that signs the device's requests, hex"),
    runner_key: PublicKey.describe("Ed25519 key that signs what the device did, hex"),
    name: oneLine(1, 200).describe("A name for people; it identifies nothing"),
    platform: DevicePlatform,
    replaces: DeviceId.optional().describe(
      "A device of the same organization whose keys are lost. A person is asked; once approved, that one is quarantined",
    ),
    proof: z.object({ device: Signature, runner: Signature }).describe(
      "Signatures by both keys over the canonical form of {code, public_key, runner_key}",
    ),
  }),
  output: Enrolled,
  rest: { devices_enroll: "POST /v1/devices/enroll" },
  presentation: { errors: ["NotFound", "Conflict", "Unavailable"] },
  governance: { rule: "key-decides", limits: { counted: false } },
  durability: { sealsItself: true },
  example: {
    input: {
      code: "1f0c9a2b3d4e5f60.00112233445566778899aabbccddeeff.1782907200.MAC",
      public_key: "41".repeat(32),
      runner_key: "42".repeat(32),
      name: "web-1",
      platform: "linux",
      proof: { device: "0a".repeat(64), runner: "0b".repeat(64) },
    },
    output: {
      device_id: "DEV-41c41e2abac4",
      org_id: "acme",
      interval_seconds: INTERVAL_SECONDS,
      trust: {
        ledger_keys: [{
          public_key: "d1".repeat(32),
          from_position: 0,
          recovery_key: "7c".repeat(32),
        }],
        log_key: "sealoop.localhost+24b11847+AdpF…",
        witnesses: [],
        quorum: 0,
        approvers: { signatures_required: 0, keys: [] },
      },
      checkpoint: "sealoop.localhost\n4211\nq8Zp…\n\n— sealoop.localhost …\n",
      receipt_id: "6a0bdf7e2c1f3390",
    },
  },
  run: async (input, context) => {
    const { store, failures, caller: { address } } = context;
    const { public_key, runner_key, name, platform, proof } = input;
    const refuse = (why: string) => {
      failures.check(address, "wrong codes");
      failures.count(address);
      return new Problem("Forbidden", `Cannot enrol: ${why}; get a new install script`);
    };
    const code = await readCode(store, input.code);
    if (!code) throw refuse("the code is none of this platform's");
    if (!isProven(input, proof)) throw refuse("the proof is not signed by both keys");
    const token = await findTenantTokenById(store.db, code.tokenId);
    if (!token) throw refuse("the organization's token has been replaced since, or has expired");
    const tenantStore = store.forTenant(token.tenant);
    const device = {
      id: deviceIdOf(public_key),
      name,
      platform,
      publicKey: public_key,
      runnerKey: runner_key,
    };
    if (input.replaces) await checkReplaced(tenantStore.db, device.id, input.replaces);
    const earlier = await findEnrolment(tenantStore.db, code.nonce);
    if (!earlier && code.isExpired) throw refuse("the code is older than 15 minutes");
    const used = earlier ?? await enrol(tenantStore, code.nonce, device);
    const isSame = used.deviceId === device.id && used.runnerKey === runner_key;
    if (!isSame) throw refuse("another machine has used the code");
    if (input.replaces) {
      await askToReplace(forTenant(context, token.tenant), device, input.replaces);
    }
    return used.enrolment as z.output<typeof Enrolled>;
  },
});

type Device = Pick<NewDevice, "id" | "name" | "platform" | "publicKey" | "runnerKey">;

/** Another request came first, with the same code or the same key. */
class TakenMeanwhile extends Error {}

/** Adds a device, or has it pin anew. @returns the answer, or that to the request which used the code first */
async function enrol(store: Store, nonce: string, device: Device): Promise<UsedCode> {
  const { trust, checkpoint } = await readDeviceRoots(store);
  const approversVersion = trust.approvers.version ?? 0;
  try {
    return await store.db.transaction(async (trx) => {
      const known = await getDevice(trx, device.id);
      const enrolment = {
        device_id: device.id,
        org_id: store.tenant,
        interval_seconds: INTERVAL_SECONDS,
        trust,
        checkpoint,
        receipt_id: known?.receiptId ?? randomHex(16),
      };
      const fields = { ...device, receiptId: enrolment.receipt_id, approversVersion, enrolment };
      if (known) await pinAnew(trx, known, fields);
      else await addAndSeal(trx, fields);
      if (!await useEnrolmentCode(trx, nonce, device.id)) throw new TakenMeanwhile();
      return { deviceId: device.id, runnerKey: device.runnerKey, enrolment };
    });
  } catch (error) {
    if (!(error instanceof TakenMeanwhile)) throw error;
    const used = await findEnrolment(store.db, nonce);
    if (!used) throw otherDevice(device);
    return used;
  }
}

async function pinAnew(trx: Db, known: DeviceRecord, device: NewDevice): Promise<void> {
  if (known.runnerKey !== device.runnerKey) throw otherDevice(device);
  await renewEnrolment(trx, device);
}

async function addAndSeal(trx: Db, device: NewDevice): Promise<void> {
  const { id, name, platform, publicKey, runnerKey, receiptId } = device;
  if (!await addDevice(trx, device)) throw new TakenMeanwhile();
  await requestSeal(trx, {
    id: receiptId,
    category: "device_enrolled",
    actor: id,
    subject: id,
    action: "devices.enroll",
    outcome: "success",
    details: { device_id: id, public_key: publicKey, runner_key: runnerKey },
    evidence: { tenant: trx.tenant, name, platform },
  });
}

function otherDevice({ id }: Pick<NewDevice, "id">): Problem {
  return new Problem(
    "Conflict",
    `Cannot enrol ${id}: it is enrolled with another runner key, or by another organization; ` +
      "uninstall the agent, which makes new keys",
  );
}

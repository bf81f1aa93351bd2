import { z } from "zod";
import { DEVICE_PLATFORMS } from "../../contract/domain/mod.ts";

/** Id of a device. */
export const DeviceId = z.string().regex(/^DEV-[0-9a-f]{12}$/).describe(
  "DEV- and the first 12 hex characters of its public key's SHA-256",
);

/** A public Ed25519 key. */
export const PublicKey = z.string().regex(/^[0-9a-f]{64}$/, "Expected 64 hex characters").describe(
  "Ed25519 public key, hex",
);

/** An Ed25519 signature. */
export const Signature = z.string().regex(/^[0-9a-f]{128}$/, "Expected 128 hex characters")
  .describe("Ed25519 signature, hex");

/** System of a device. */
export const DevicePlatform = z.enum(DEVICE_PLATFORMS);

/** People whose own signatures devices ask for. */
export const DeviceApprovers = z.object({
  signatures_required: z.number().int().min(0).describe(
    "Approvers who have to sign a command; 0: none",
  ),
  keys: z.array(PublicKey),
  passkeys: z.array(z.object({
    credential_id: z.string(),
    public_key: z.record(z.string(), z.string()).describe("JWK of P-256, Ed25519 or RSA"),
    rp_id: z.string().describe("Domain that it is for"),
    origin: z.string().describe("Origin of the pages on which it signs"),
  })).optional().describe("Passkeys that count as approvers; absent: none"),
});

/** Keys and approvers that a device pins. */
export const DeviceTrust = z.object({
  ledger_keys: z.array(z.object({
    public_key: PublicKey,
    from_position: z.number().int().min(0).describe("First position that it signs"),
    recovery_key: PublicKey.optional(),
  })).describe("Keys of the ledger, in the order of their positions"),
  log_key: z.string().describe("Verifier key of the Merkle log"),
  witnesses: z.array(z.string()).describe("Verifier keys of its witnesses"),
  quorum: z.number().int().min(0).describe("Witnesses that must have cosigned a checkpoint"),
  approvers: DeviceApprovers.extend({
    version: z.number().int().optional().describe("Absent: nobody has named approvers"),
  }),
}).describe("What the device pins: it runs nothing that these keys do not prove");

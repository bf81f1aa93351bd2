/** Passkeys of approvers, as files: the platform names them, and people compare their fingerprints. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { siteOf } from "../../calls/mod.ts";
import type { ApproverPasskey } from "../../contract/domain/mod.ts";
import { canonicalize, NODE_PRIMITIVES } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { listPasskeys } from "../../store/people/mod.ts";
import { loadRunningConfig } from "../_running.ts";
import { UsageError } from "./_arguments.ts";

const Bytes = z.string().regex(/^[A-Za-z0-9_-]+$/, "Expected base64url");
const PasskeyFile = z.strictObject({
  credential_id: Bytes,
  public_key: z.union([
    z.strictObject({ kty: z.literal("EC"), crv: z.literal("P-256"), x: Bytes, y: Bytes }),
    z.strictObject({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: Bytes }),
    z.strictObject({ kty: z.literal("RSA"), n: Bytes, e: Bytes }),
  ]),
  rp_id: z.string().min(1),
  origin: z.url(),
});

/** Reads the passkey of an approver. @throws {UsageError} the file has none */
export function readPasskeyFile(path: string): ApproverPasskey {
  try {
    return PasskeyFile.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new UsageError(
      `${path} has no passkey, as npm run tenants -- passkeys prints one: ${
        cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause)
      }`,
    );
  }
}

/** Returns a passkey's fingerprint, as devices print it. */
export function passkeyFingerprint(passkey: ApproverPasskey): string {
  return NODE_PRIMITIVES.sha256(new TextEncoder().encode(canonicalize(passkey)));
}

/** Prints a person's passkeys, one a line, as files that name them take them. */
export async function printPasskeys(store: Store, tenant: string, who: string): Promise<void> {
  const { settings } = loadRunningConfig(process.env);
  const gateway = settings.SEALOOP_GATEWAY_URL ??
    `http://localhost:${settings.SEALOOP_GATEWAY_PORT}`;
  const { rpId: rp_id, origins: [origin] } = siteOf({ urls: { gateway } });
  const found = await listPasskeys(store.asTenant(tenant), who);
  if (found.length === 0) throw new Error(`${who} of ${tenant} has no passkey`);
  for (const { id, name, credential_id, public_key } of found) {
    const passkey = { credential_id, public_key, rp_id, origin: origin! };
    console.log(JSON.stringify(passkey));
    console.error(`${id}, ${name}: SHA-256 ${passkeyFingerprint(passkey)}`);
  }
}

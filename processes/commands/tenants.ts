/** `npm run tenants -- …`: lists organizations, replaces their tokens, and names the approvers of their devices. */
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type ApproverSignature,
  approversText,
  changeApprovers,
  signAsApprover,
  TENANT_TOKEN_DAYS,
} from "../../operations/devices/protocol/mod.ts";
import { requestSeal, type SealRequest } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { type ApproversVersion, getApprovers } from "../../store/devices/mod.ts";
import {
  getTenantRecord,
  getTenantToken,
  listTenantRecords,
  replaceTenantToken,
  revokeTenantTokens,
} from "../../store/keys/mod.ts";
import { loadRunningConfig } from "../_running.ts";
import { passkeyFingerprint, printPasskeys, readPasskeyFile } from "./_approver_passkeys.ts";
import { UsageError } from "./_arguments.ts";
import { type CommandArguments, formatTable, parseSeconds, runCommand } from "./_command.ts";
import { OPERATOR } from "../_operator.ts";
import { formatSignature, parseSignature } from "./_signing.ts";

const USAGE = `Usage: npm run tenants -- list
       npm run tenants -- token <organization> [--expires 90d]
       npm run tenants -- revoke-token <organization>
       npm run tenants -- approvers <organization>
       npm run tenants -- approvers <organization> --require <n> [--key <public key> …] [--passkey <file> …]
                                    [--sign <PEM file> …] [--signature <public key>:<signature> …]
       npm run tenants -- sign-approvers <organization> --version <n> --require <n> [--key <public key> …]
                                    [--passkey <file> …] --sign <PEM file>
       npm run tenants -- passkeys <organization> <person>

token: makes the token by which machines of the organization become devices, prints it once, and ends the one before, with
the codes in install scripts that were made with it. Devices stay.
approvers: shows, or names, the people whose own signatures devices ask for. The first ones are pinned on machines that are
installed from then on. Later ones need signatures of approvers before them, or devices refuse them.
sign-approvers: prints such a signature, on the machine of the person who has the key. It needs no platform.
--require: how many approvers have to sign a command; 0: none.
--key: 64 hex characters, once for each approver who has a key.
--passkey: once for each approver who signs on the console, a file with a line of what passkeys prints.
passkeys: prints the passkeys of a person, and beside each the fingerprint that devices print of it. Whose they are is the
platform's word: each person compares the fingerprint of theirs.`;

await runCommand(USAGE, {
  expires: { type: "string", default: `${TENANT_TOKEN_DAYS}d` },
  require: { type: "string" },
  version: { type: "string" },
  key: { type: "string", multiple: true },
  passkey: { type: "string", multiple: true },
  sign: { type: "string", multiple: true },
  signature: { type: "string", multiple: true },
}, async (openStore, { words, options }) => {
  const [verb, id, ...more] = words;
  const [person] = verb === "passkeys" ? more.splice(0, 1) : [];
  if (more.length > 0) throw new UsageError(`Unexpected argument: ${more.join(" ")}`);
  if (verb === "list") return await list(openStore());
  if (!id) {
    throw new UsageError(
      "Give list, or one of token, revoke-token, approvers, sign-approvers, passkeys and an organization",
    );
  }
  if (verb === "sign-approvers") return printSignature(id, options);
  if (!["token", "revoke-token", "approvers", "passkeys"].includes(verb!)) {
    throw new UsageError(
      "Give one of list, token, revoke-token, approvers, sign-approvers, passkeys",
    );
  }
  const store = openStore();
  if (!await getTenantRecord(store.asPlatform(), id)) {
    throw new Error(`There is no organization ${id}; list shows them, POST /v1/tenants makes one`);
  }
  if (verb === "token") return await issueToken(store, id, parseSeconds(String(options.expires)));
  if (verb === "revoke-token") return await revokeToken(store, id);
  if (verb === "passkeys") {
    if (!person) throw new UsageError("Say whose passkeys: the name that their key has");
    return await printPasskeys(store, id, person);
  }
  if (options.require === undefined) return await showApprovers(store, id);
  await nameApprovers(store, id, options);
});

async function list(store: Store): Promise<void> {
  const tenants = await listTenantRecords(store.asPlatform());
  const rows = await Promise.all(tenants.map(async ({ id, name, status, devices }) => {
    const db = store.asTenant(id);
    const [token, approvers] = await Promise.all([getTenantToken(db), getApprovers(db)]);
    return [
      id,
      name,
      status,
      String(devices),
      token?.expiresAt.toISOString().slice(0, 16).replace("T", " ") ?? "none",
      approvers
        ? `${approvers.approvers.signatures_required} of ${countOf(approvers.approvers)}`
        : "none",
    ];
  }));
  console.log(formatTable(["id", "name", "status", "devices", "token until", "signatures"], rows));
}

async function issueToken(store: Store, id: string, seconds: number): Promise<void> {
  const expiresAt = new Date(Date.now() + seconds * 1_000);
  const { token, record } = await store.asTenant(id).transaction(async (trx) => {
    const issued = await replaceTenantToken(trx, expiresAt);
    await requestSeal(trx, tokenReceipt("tenants.token", { token_id: issued.record.id }, id));
    return issued;
  });
  const { settings } = loadRunningConfig(process.env);
  const gateway = settings.SEALOOP_GATEWAY_URL ??
    `http://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}`;
  console.log(token);
  console.error(
    `Its id is ${record.id}. It expires at ${expiresAt.toISOString()}, and is shown this once. ` +
      `Install scripts: ${gateway}/v1/devices/agent/install/<token>`,
  );
}

async function revokeToken(store: Store, id: string): Promise<void> {
  await store.asTenant(id).transaction(async (trx) => {
    const [token_id] = await revokeTenantTokens(trx);
    if (!token_id) throw new Error(`${id} has no valid token`);
    await requestSeal(trx, tokenReceipt("tenants.revoke-token", { token_id }, id));
  });
  console.log(`Revoked the token of ${id}; its codes ended with it, its devices stay`);
}

function tokenReceipt(
  action: string,
  details: Readonly<Record<string, unknown>>,
  tenant: string,
): SealRequest {
  return {
    category: "tenant_token",
    actor: OPERATOR,
    subject: "tenant",
    action,
    outcome: "success",
    details,
    evidence: { tenant },
  };
}

async function showApprovers(store: Store, id: string): Promise<void> {
  const current = await getApprovers(store.asTenant(id));
  if (!current) return console.log(`${id} has no approvers: devices ask for no signatures`);
  const { version, approvers: { signatures_required, keys, passkeys = [] } } = current;
  console.log(`Version ${version}: ${signatures_required} of these approvers have to sign`);
  for (const key of keys) console.log(`  ${key}`);
  for (const one of passkeys) {
    console.log(`  passkey, ${one.origin}, SHA-256 ${passkeyFingerprint(one)}`);
  }
}

function countOf({ keys, passkeys = [] }: ApproversVersion["approvers"]): number {
  return keys.length + passkeys.length;
}

async function nameApprovers(
  store: Store,
  id: string,
  options: CommandArguments["options"],
): Promise<void> {
  const receiptId = await store.asTenant(id).transaction(async (trx) => {
    const version = ((await getApprovers(trx))?.version ?? 0) + 1;
    const approvers = parseApprovers(options);
    const text = approversText(id, { approvers, version });
    const signatures = [...signaturesOf(options), ...signWith(text, options)];
    return await changeApprovers(trx, OPERATOR, { approvers, version, signatures });
  });
  await showApprovers(store, id);
  console.log(`Sealed as ${receiptId}. Devices take it with one of their next heartbeats`);
}

function printSignature(id: string, options: CommandArguments["options"]): void {
  const version = parseCount(options.version, "--version");
  const text = approversText(id, { approvers: parseApprovers(options), version });
  for (const one of signWith(text, options)) console.log(formatSignature(one));
}

function parseApprovers(options: CommandArguments["options"]): ApproversVersion["approvers"] {
  const keys = listOf(options.key);
  const wrong = keys.find((key) => !/^[0-9a-f]{64}$/.test(key));
  if (wrong !== undefined) throw new UsageError(`${wrong} is no public key of 64 hex characters`);
  if (new Set(keys).size < keys.length) throw new UsageError("A key is named twice");
  const passkeys = listOf(options.passkey).map(readPasskeyFile);
  if (new Set(passkeys.map((one) => one.credential_id)).size < passkeys.length) {
    throw new UsageError("A passkey is named twice");
  }
  const signatures_required = parseCount(options.require, "--require");
  const count = keys.length + passkeys.length;
  if (signatures_required > count) {
    throw new UsageError(`--require ${signatures_required} is more than the ${count} approvers`);
  }
  return { signatures_required, keys, ...(passkeys.length > 0 ? { passkeys } : {}) };
}

function parseCount(value: unknown, name: string): number {
  if (typeof value === "string" && /^\d{1,3}$/.test(value)) return Number(value);
  throw new UsageError(`${name} is a number`);
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function signWith(text: string, options: CommandArguments["options"]): ApproverSignature[] {
  return listOf(options.sign).map((path) =>
    signAsApprover(text, createPrivateKey(readFileSync(path, "utf8")))
  );
}

function signaturesOf(options: CommandArguments["options"]): ApproverSignature[] {
  return listOf(options.signature).map(parseSignature);
}

/** `npm run approvals -- …`: lists and shows what waits for people, and takes a person's decision. */
import { createPrivateKey, generateKeyPairSync, hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { type Config, loadConfig } from "../../config.ts";
import { referenceText } from "../../calls/approvals/mod.ts";
import { escapeInvisible } from "../../contract/mod.ts";
import {
  approvalText,
  type ApproverSignature,
  type CommandAction,
  hashAction,
  signAsApprover,
} from "../../integrations/devices/mod.ts";
import type { ApprovalDetails } from "../../operations/approvals/mod.ts";
import { type ApproverKey, keyOfFile, userKey } from "./_approver_key.ts";
import { UsageError } from "./_arguments.ts";
import { formatTable, runCommand } from "./_command.ts";

const USAGE = `Usage: npm run approvals -- list [--all]
       npm run approvals -- show <approval id>
       npm run approvals -- approve|deny|reopen <approval id> [--reason "<sentence>"] [--sign <PEM file>]
                                                  [--key-file <file>]
       npm run approvals -- new-key <PEM file>

Shows and decides about what waits for people, over REST as any other person does. The decision is yours: at the first use
you are issued a key that may approve, with your user name as its principal, in approver-<user>.key of the data folder.
--all: decided and expired ones, too.
--reason: why, for people; private evidence of the receipt.
--key-file: decides with the key in this file, as its principal.
--sign: approves a command for a device with your own signature, by a private key that no server has. It prints what you
sign: this very command, on this device, until it expires.
new-key: makes such a key in a file that only you can read, and prints its public key, by which npm run tenants names you as
an approver. Keep the file on a machine of your own, and a copy elsewhere.
The gateway is SEALOOP_GATEWAY_URL, or the one on this machine at SEALOOP_GATEWAY_PORT.`;

type Listed = Omit<ApprovalDetails, "moves" | "act">;

const PAST_OF = { approve: "Approved", deny: "Denied", reopen: "Reopened" } as const;
type Verb = keyof typeof PAST_OF;

const MAX_TEXT = 70;

await runCommand(USAGE, {
  all: { type: "boolean", default: false },
  reason: { type: "string" },
  "key-file": { type: "string" },
  sign: { type: "string" },
}, async (openStore, { words, options }) => {
  const [verb, id, ...more] = words;
  if (verb === "new-key") return makeApproverKey(id, more);
  const takesId = verb === "show" || isVerb(verb);
  if (verb !== "list" && !takesId) {
    throw new UsageError("Give one of list, show, approve, deny, reopen, new-key");
  }
  if (more.length > 0 || !takesId && id !== undefined) {
    throw new UsageError(`Unexpected argument: ${more[0] ?? id}`);
  }
  if (takesId && !/^APR-[0-9a-f]{12}$/.test(id ?? "")) {
    throw new UsageError(
      `${verb} needs an approval's id, APR- and 12 hex characters; list shows them`,
    );
  }
  const config = loadConfig(process.env);
  const file = options["key-file"] as string | undefined;
  const key = file === undefined ? await userKey(openStore, config.dataDir) : keyOfFile(file);
  const call = openGateway(config, key);
  if (verb === "list") return await list(call, options.all === true);
  if (!isVerb(verb)) return show(await call<ApprovalDetails>("GET", `/v1/approvals/${id}/info`));
  const pem = options.sign as string | undefined;
  if (pem !== undefined && verb !== "approve") throw new UsageError("--sign is for approve");
  const fields = {
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...(pem === undefined ? {} : { signature: await signApproval(call, id!, pem) }),
  };
  const decided = await call<Listed & Decision>("POST", `/v1/approvals/${id}/${verb}`, fields);
  printDecision(verb, decided);
});

function isVerb(word: string | undefined): word is Verb {
  return word !== undefined && Object.hasOwn(PAST_OF, word);
}

type Call = <Answer>(method: "GET" | "POST", path: string, body?: object) => Promise<Answer>;

/** Returns the function that calls the gateway with a key. */
function openGateway({ settings }: Config, { key, path: keyFile }: ApproverKey): Call {
  const scheme = settings.SEALOOP_TLS_CERT === undefined ? "http" : "https";
  const base = settings.SEALOOP_GATEWAY_URL ??
    `${scheme}://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}`;
  return async <Answer>(method: "GET" | "POST", path: string, body?: object) => {
    const headers = {
      "x-api-key": key,
      ...(body ? { "content-type": "application/json" } : {}),
    };
    const init = { method, headers, body: body && JSON.stringify(body) };
    const response = await fetch(base + path, init).catch((cause) => {
      const message =
        `Cannot reach the gateway at ${base}: start the platform first (npm start), ` +
        "or set SEALOOP_GATEWAY_URL";
      throw new Error(message, { cause });
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer as Answer; // as the operation's output is described
    if (response.status !== 401) throw new Error(problemText(Object(answer)));
    throw new Error(
      `The gateway refuses the key in ${keyFile}: it was revoked or has expired. ` +
        "Remove the file to be issued another one",
    );
  };
}

function problemText({ detail }: { readonly detail?: unknown }): string {
  if (typeof detail === "string") return detail;
  const [first] = Array.isArray(detail) ? detail as { loc?: unknown[]; msg?: string }[] : [];
  return first ? `${first.loc?.at(-1)}: ${first.msg}` : "The gateway gave no reason";
}

async function list(call: Call, all: boolean): Promise<void> {
  const query = all ? "limit=200" : "limit=200&status=pending";
  const { approvals } = await call<{ approvals: Listed[] }>("GET", `/v1/approvals?${query}`);
  if (approvals.length === 0) return console.log("Nothing waits for people");
  const head = ["id", "status", "tenant", "until", "asks for", "because"];
  const rows = approvals.map((one) => [
    one.approval_id,
    one.status,
    one.tenant_id,
    formatTime(one.expires_at),
    shorten(one.description || one.subject),
    shorten(one.reasons.join("; ")),
  ]);
  console.log(formatTable(head, rows));
}

/** Prints everything that a person needs to decide. */
function show(info: ApprovalDetails): void {
  const isPending = info.status === "pending";
  const fields: readonly (readonly [string, string])[] = [
    ["asks for", info.description || info.subject],
    ["because", info.reasons.join("; ")],
    ["rule", info.rule ?? "none"],
    ["reaches", info.reaches.join(", ")],
    ["evidence", info.evidence.map(referenceText).join(", ")],
    ["asked by", `${info.requested_by} of ${info.tenant_id} at ${info.asked_at}`],
    ["approvals", `${info.approvers.length} of ${info.needed}`],
    ["until", isPending ? info.expires_at : ""],
    ["action", `${info.action_sha256}\n${formatAction(info.action)}`],
    ["decide", isPending ? info.decide : ""],
  ];
  console.log(`${info.approval_id} is ${info.status}`);
  for (const [name, text] of fields) if (text !== "") console.log(formatField(name, text));
  for (const { at, move, principal, reason, receipt_id } of info.moves) {
    const by = principal ? ` by ${principal}` : "";
    const why = reason ? `: ${reason}` : "";
    console.log(formatField("move", `${at} ${move}${by}, receipt ${receipt_id}${why}`));
  }
}

/** An approval after a decision. */
interface Decision {
  readonly receipt_id: string | null;
}

function printDecision(verb: Verb, decided: Listed & Decision): void {
  const { approval_id, status, needed, approvers, receipt_id } = decided;
  const waits = verb === "approve" && status === "pending"
    ? `; ${approvers.length} of ${needed} have approved, and it waits for the others`
    : "";
  console.log(`${PAST_OF[verb]} ${approval_id}${waits}, receipt ${receipt_id}`);
}

/** Signs what an approval is about, after it was printed. @throws {Error} it is no command for a device */
async function signApproval(call: Call, id: string, pem: string): Promise<ApproverSignature> {
  const { action, action_sha256 } = await call<ApprovalDetails>("GET", `/v1/approvals/${id}/info`);
  const { command_id, device_id } = action as Partial<CommandAction>;
  if (command_id === undefined || device_id === undefined) {
    throw new Error(`${id} is about no command for a device, and takes no signature`);
  }
  // What is signed is what was shown, whatever the platform says its hash is.
  const shown = hashAction(action as unknown as CommandAction);
  if (shown !== action_sha256) {
    throw new Error(`Cannot sign ${id}: the platform shows another action than it asks about`);
  }
  const text = approvalText(id, { command_id, device_id }, shown);
  const key = createPrivateKey(readFileSync(pem));
  console.log(formatField("signs", `${shown}\n${JSON.stringify(action, null, 2)}`));
  return signAsApprover(text, key);
}

/** Makes a person's own key, in a file that must not be there yet. */
function makeApproverKey(path: string | undefined, more: readonly string[]): void {
  if (path === undefined || more.length > 0) throw new UsageError("new-key needs a file");
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ format: "pem", type: "pkcs8" });
  writeFileSync(path, pem, { mode: 0o600, flag: "wx" });
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  console.log(`Public key   ${raw.toString("hex")}`);
  console.log(`Fingerprint  SHA-256 ${hash("sha256", raw)}`);
  console.log(`The private key is in ${path}. Nobody else has it, and nobody can restore it.`);
}

/** Formats an action as JSON. Texts of several lines, such as articles, stand behind it, to be read. */
function formatAction(action: unknown): string {
  const texts: string[] = [];
  const json = JSON.stringify(action, (name, value) => {
    if (typeof value !== "string" || !value.includes("\n")) return value;
    texts.push(`\n${name}:\n\n${escapeInvisible(value)}`);
    return `${value.split("\n").length} lines, below`;
  }, 2);
  return [json, ...texts].join("\n");
}

function formatField(name: string, text: string): string {
  const [first, ...rest] = text.split("\n");
  return [
    `  ${name.padEnd(10)}${first}`,
    ...rest.map((line) => `${"".padEnd(12)}${line}`.trimEnd()),
  ]
    .join("\n");
}

function formatTime(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")}Z`;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
}

/** `npm run approvals -- …`: lists and shows what waits for people, and takes a person's decision. */
import { generateKeyPairSync, hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApproverSignature } from "../../operations/devices/protocol/mod.ts";
import type { ApprovalDetails } from "../../operations/approvals/mod.ts";
import { loadRunningConfig } from "../_running.ts";
import { formatApproval, formatApprovals, type ListedApproval } from "./_approval_text.ts";
import { keyOfFile, userKey } from "../_approver_key.ts";
import { UsageError } from "./_arguments.ts";
import { type CommandArguments, parseSeconds, runCommand } from "./_command.ts";
import { type GatewayCall, oneLine, openGateway } from "./_gateway_call.ts";
import {
  askAndSign,
  formatShown,
  formatSignature,
  parseSignature,
  readShown,
  saveShown,
  signShown,
  toShown,
} from "./_signing.ts";

const USAGE = `Usage: npm run approvals -- list [--all | --wait <time>]
       npm run approvals -- show <approval id> [--save <new file>]
       npm run approvals -- approve|deny|reopen <approval id> [--reason "<sentence>"] [--key-file <file>]
                                                  [--sign <PEM file> | --signature <signature>]
       npm run approvals -- sign <file> --sign <PEM file>
       npm run approvals -- new-key <PEM file>

Shows and decides about what waits for people, over REST as any other person does. The decision is yours: at the first use
you are issued a key that may approve, with your user name as its principal, in approver-<user>.key of the data folder.
--all: decided and expired ones, too.
--wait: where nothing waits, waits until something does, at most this long, such as 2m; then it ends with 1.
--reason: why, for people; private evidence of the receipt.
--key-file: decides with the key in this file, as its principal.
--sign: your private key, which no server has. approve shows a command for a device, asks whether to sign it, and signs what
it has shown: this very command, on this device, until it expires.
--save: writes what is shown into a file. sign signs such a file without a network, on a machine of your own, and prints the
signature, which --signature then gives to the platform.
new-key: makes such a key in a file that only you can read, and prints its public key, by which npm run tenants names you as
an approver. Keep the file on a machine of your own, and a copy elsewhere.
The gateway is SEALOOP_GATEWAY_URL, or the one of this data folder's platform, or that at SEALOOP_GATEWAY_PORT.`;

const PAST_OF = { approve: "Approved", deny: "Denied", reopen: "Reopened" } as const;
type Verb = keyof typeof PAST_OF;
type Options = CommandArguments["options"];
/** Between two looks at what waits. */
const POLL_MS = 1_000;

await runCommand(USAGE, {
  all: { type: "boolean", default: false },
  wait: { type: "string" },
  reason: { type: "string" },
  "key-file": { type: "string" },
  save: { type: "string" },
  sign: { type: "string" },
  signature: { type: "string" },
}, async (openStore, { words, options }) => {
  const [verb, id, ...more] = words;
  if (verb === "new-key") return makeApproverKey(id, more);
  if (verb === "sign") return signFile(id, more, options);
  const takesId = verb === "show" || isVerb(verb);
  if (verb !== "list" && !takesId) {
    throw new UsageError("Give one of list, show, approve, deny, reopen, sign, new-key");
  }
  if (more.length > 0 || !takesId && id !== undefined) {
    throw new UsageError(`Unexpected argument: ${more[0] ?? id}`);
  }
  if (takesId && !/^APR-[0-9a-f]{12}$/.test(id ?? "")) {
    throw new UsageError(
      `${verb} needs an approval's id, APR- and 12 hex characters; list shows them`,
    );
  }
  if (options.save !== undefined && verb !== "show") throw new UsageError("--save is for show");
  if (options.wait !== undefined && (verb !== "list" || options.all)) {
    throw new UsageError("--wait is for list, without --all");
  }
  const config = loadRunningConfig(process.env);
  const file = options["key-file"] as string | undefined;
  const key = file === undefined ? await userKey(openStore, config.dataDir) : keyOfFile(file);
  const call = openGateway(config, key);
  if (verb === "list") return await list(call, options);
  if (!isVerb(verb)) return await show(call, id!, options);
  const signature = await signatureFor(call, verb, id!, options);
  const fields = {
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...(signature === undefined ? {} : { signature }),
  };
  const decided = await call<ListedApproval & Decision>(
    "POST",
    `/v1/approvals/${id}/${verb}`,
    fields,
  );
  printDecision(verb, decided);
});

function isVerb(word: string | undefined): word is Verb {
  return word !== undefined && Object.hasOwn(PAST_OF, word);
}

async function list(call: GatewayCall, { all, wait }: Options): Promise<void> {
  const path = `/v1/approvals?limit=200${all ? "" : "&status=pending"}`;
  const read = () => call<{ approvals: ListedApproval[] }>("GET", path);
  let { approvals } = await read();
  if (typeof wait === "string") {
    const end = Date.now() + 1_000 * parseSeconds(wait);
    if (approvals.length === 0) console.error(`Nothing waits for people; waiting for ${wait}`);
    while (approvals.length === 0) {
      if (Date.now() >= end) throw new Error(`Nothing has waited for people within ${wait}`);
      await sleep(POLL_MS);
      ({ approvals } = await read());
    }
  }
  console.log(formatApprovals(approvals));
}

async function show(call: GatewayCall, id: string, { save }: Options): Promise<void> {
  const info = await call<ApprovalDetails>("GET", `/v1/approvals/${id}/info`);
  console.log(formatApproval(info));
  if (typeof save !== "string") return;
  saveShown(save, toShown(info));
  console.error(`What is shown is in ${save}: npm run approvals -- sign ${save} --sign <PEM file>`);
}

/** Returns the signature that a decision comes with; undefined: it has none. */
async function signatureFor(
  call: GatewayCall,
  verb: Verb,
  id: string,
  { sign, signature }: Options,
): Promise<ApproverSignature | undefined> {
  if (sign === undefined && signature === undefined) return undefined;
  if (verb !== "approve") throw new UsageError("--sign and --signature are for approve");
  if (sign !== undefined && signature !== undefined) {
    throw new UsageError("Give either --sign or --signature");
  }
  return signature === undefined
    ? await askAndSign(call, id, String(sign))
    : parseSignature(String(signature));
}

/** Signs what was shown and saved, without a network. The signature alone goes to standard output. */
function signFile(path: string | undefined, more: readonly string[], { sign }: Options): void {
  if (path === undefined || more.length > 0) throw new UsageError("sign needs one file");
  if (typeof sign !== "string") throw new UsageError("sign needs --sign and your key's file");
  const shown = readShown(path);
  console.error(formatShown(shown));
  console.log(formatSignature(signShown(shown, sign)));
}

/** An approval after a decision. */
interface Decision {
  readonly receipt_id: string | null;
}

function printDecision(verb: Verb, decided: ListedApproval & Decision): void {
  const { approval_id, status, needed, approvers, receipt_id } = decided;
  const waits = verb === "approve" && status === "pending"
    ? `; ${approvers.length} of ${needed} have approved, and it waits for the others`
    : "";
  console.log(oneLine(`${PAST_OF[verb]} ${approval_id}${waits}, receipt ${receipt_id}`));
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

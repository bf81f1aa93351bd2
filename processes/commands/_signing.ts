/** Signatures of approvers. What is signed is what was shown, and never what a server says afterwards. */
import { createPrivateKey } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { escapeInvisible } from "../../contract/mod.ts";
import {
  approvalText,
  type ApproverSignature,
  type CommandAction,
  hashAction,
  signAsApprover,
} from "../../operations/devices/protocol/mod.ts";
import type { ApprovalDetails } from "../../operations/approvals/mod.ts";
import { formatApproval, formatField } from "./_approval_text.ts";
import { UsageError } from "./_arguments.ts";
import type { GatewayCall } from "./_gateway_call.ts";

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A command as people approve it, with no field that this program does not know. */
const Action = z.strictObject({
  command_id: z.string().regex(/^CMD-[0-9a-f]{12}$/),
  device_id: z.string().regex(/^DEV-[0-9a-f]{12}$/),
  argv: z.array(z.string()).min(1),
  user: z.string(),
  timeout_seconds: z.number().int(),
  output_bytes: z.number().int(),
  read_only: z.boolean(),
  script: z.strictObject({ id: z.string(), version: z.number().int(), sha256: Sha256 }).nullable(),
  expires_at: z.string(),
});

/** A command that somebody was shown. */
const Shown = z.strictObject({
  approval_id: z.string().regex(/^APR-[0-9a-f]{12}$/),
  action_sha256: Sha256,
  action: Action,
});
type Shown = z.output<typeof Shown>;

/**
 * Returns what a signature of an approval is over.
 *
 * @throws {Error} it is about no command for a device, or the platform names another hash than that of what it shows
 */
export function toShown({ approval_id, action, action_sha256 }: ApprovalDetails): Shown {
  const parsed = Action.safeParse(action);
  if (!parsed.success) {
    throw new Error(`${approval_id} is about no command for a device, and takes no signature`);
  }
  if (hashAction(parsed.data) !== action_sha256) {
    throw new Error(
      `Cannot sign ${approval_id}: the platform shows another action than it asks about`,
    );
  }
  return { approval_id, action_sha256, action: parsed.data };
}

/** Writes what was shown into a file, which must not be there yet, to be signed on another machine. */
export function saveShown(path: string, shown: Shown): void {
  writeFileSync(path, `${JSON.stringify(shown, null, 2)}\n`, { flag: "wx" });
}

/**
 * Reads what was shown, as {@linkcode saveShown} has written it.
 *
 * @throws {Error} the file is another one, or has what can't be shown
 */
export function readShown(path: string): Shown {
  const shown = parseShown(readFileSync(path, "utf8"));
  if (!shown) throw new Error(`${path} is no file that show --save has written`);
  if (!isDeepStrictEqual(escapeInvisible(shown), shown)) {
    throw new Error(`Cannot sign ${path}: it has characters that nobody can see`);
  }
  if (hashAction(shown.action) === shown.action_sha256) return shown;
  throw new Error(`Cannot sign ${path}: its action is not the one of its SHA-256`);
}

function parseShown(text: string): Shown | undefined {
  try {
    return Shown.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Formats what is signed. */
export function formatShown({ approval_id, action_sha256, action }: Shown): string {
  const json = JSON.stringify(action, null, 2);
  return [formatField("approval", approval_id), formatField("signs", `${action_sha256}\n${json}`)]
    .join("\n");
}

/** Signs what was shown, with the private key in a file. */
export function signShown({ approval_id, action }: Shown, pem: string): ApproverSignature {
  const text = approvalText(approval_id, action, hashAction(action as CommandAction));
  return signAsApprover(text, createPrivateKey(readFileSync(pem)));
}

/**
 * Shows an approval, asks at the terminal whether to sign it, and signs what was shown.
 *
 * @throws {UsageError} there is no terminal
 * @throws {Error} the answer is no, or the platform has shown something else meanwhile
 */
export async function askAndSign(
  call: GatewayCall,
  id: string,
  pem: string,
): Promise<ApproverSignature> {
  if (!process.stdin.isTTY) {
    throw new UsageError(
      `Cannot ask whether to sign ${id}, as there is no terminal. Sign what was shown: show ${id} --save <file>, ` +
        `sign <file> --sign ${pem}, and approve ${id} --signature <its output>`,
    );
  }
  const fetchInfo = () => call<ApprovalDetails>("GET", `/v1/approvals/${id}/info`);
  const info = await fetchInfo();
  const shown = toShown(info);
  if (shown.approval_id !== id) throw new Error(`Cannot sign ${id}: the platform shows another`);
  console.log(`${formatApproval(info)}\n\n${formatShown(shown)}`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(
    `Sign SHA-256 ${shown.action_sha256} as shown above? Type yes: `,
  ).finally(() => terminal.close());
  if (answer.trim() !== "yes") throw new Error(`Signed nothing: the answer was not yes`);
  const now = toShown(await fetchInfo());
  if (!isDeepStrictEqual(now, shown)) {
    throw new Error(
      `Signed nothing: the platform shows another action than before, of SHA-256 ${now.action_sha256}`,
    );
  }
  return signShown(shown, pem);
}

/** Formats a signature as one word. */
export function formatSignature({ key, signature }: ApproverSignature): string {
  return `${key}:${signature}`;
}

/** Parses a signature. @throws {UsageError} it is none */
export function parseSignature(text: string): ApproverSignature {
  const match = /^([0-9a-f]{64}):([0-9a-f]{128})$/.exec(text.trim());
  if (match) return { key: match[1]!, signature: match[2]! };
  throw new UsageError(`${text} is no signature: it is <public key>:<signature>, both as hex`);
}

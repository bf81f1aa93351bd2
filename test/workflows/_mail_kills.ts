/** Mail that is being sent while its worker is killed. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sendMail } from "../../operations/mail/sending/mod.ts";
import { loadConfig } from "../../config.ts";
import { type Moment, MOMENTS, type SmtpStub } from "../integrations/mail/_smtp_stub.ts";
import type { CompiledPlatform } from "./_compiled.ts";
import { type EmailRecord, getEmail } from "../../store/mail/mod.ts";

/** The end of one mail. */
export interface MailEnd {
  /** The moment of SMTP at which its worker was killed. */
  readonly moment: Moment;
  readonly state: EmailRecord["state"];
  readonly attempts: number;
  /** Number of times that the server has taken it. */
  readonly taken: number;
  /** Differences from the expected end. */
  readonly faults: readonly string[];
}

/** The platform that sends. */
interface MailPlace extends Pick<CompiledPlatform, "store" | "client" | "dataDir"> {
  /** Kills the worker with -9, and waits until its successor runs. */
  kill(target: "worker"): Promise<void>;
}

/** Larger than what the system keeps of a connection, so that the mail is not at its end while the server does not read. */
const LARGE = "A line of a mail that is long enough\r\n".repeat(400_000);
const ENDS_WITHIN_MS = 120_000;

/** Sends a mail for each moment, kills the worker once the server was brought to all of them, and waits for their ends. */
export async function killDuringMails(
  platform: MailPlace,
  stub: SmtpStub,
  moments: readonly Moment[] = MOMENTS.slice(0, -1),
): Promise<MailEnd[]> {
  const arrived = new Set<Moment>();
  const mails: { readonly id: string; readonly moment: Moment }[] = [];
  for (const moment of moments) {
    const seen = stub.connections;
    stub.next.push({
      leavesAt: moment,
      isSilent: true,
      onMoment: (reached) => void (reached === moment && arrived.add(moment)),
    });
    mails.push({ id: await send(platform, stub, moment), moment });
    await until(() => stub.connections > seen, `a connection for ${moment}`);
  }
  await until(() => arrived.size === moments.length, "all moments");
  await platform.kill("worker");
  return await Promise.all(mails.map((mail) => endOf(platform, stub, mail)));
}

/** Sends a mail to a server that leaves at a moment, and takes the next attempt. */
export async function sendToLeavingServer(
  platform: MailPlace,
  stub: SmtpStub,
  moment: Moment,
): Promise<MailEnd> {
  stub.next.push({ leavesAt: moment });
  const id = await send(platform, stub, moment);
  return await endOf(platform, stub, { id, moment });
}

async function send(
  { store, client, dataDir }: MailPlace,
  { port }: SmtpStub,
  moment: Moment,
): Promise<string> {
  const config = loadConfig({
    SEALOOP_DATA: dataDir,
    SEALOOP_SMTP_URL: `smtp://127.0.0.1:${port}`,
  });
  const urls = { gateway: "http://127.0.0.1:8080", ledger: "http://127.0.0.1:8082" };
  const parts = { store, config, urls, temporal: () => Promise.resolve(client) };
  const { email_id } = await sendMail(parts, {
    id: `EML-${randomBytes(6).toString("hex")}`,
    kind: "notice",
    to: "ada@example.org",
    subject: `Killed at ${moment}`,
    body: moment === "body" ? LARGE : "Hello",
    askedBy: "test",
    askedByKey: null,
  });
  return email_id;
}

async function endOf(
  { store }: MailPlace,
  { taken: all }: SmtpStub,
  { id, moment }: { readonly id: string; readonly moment: Moment },
): Promise<MailEnd> {
  let email: EmailRecord | undefined;
  await until(async () => {
    email = await getEmail(store.db, id).catch(() => undefined);
    return email?.receiptId !== null && email !== undefined;
  }, `the end of the mail that was killed at ${moment}`);
  const { state, attempts } = email!;
  const taken = all.filter((text) => text.includes(id)).length;
  const expected = moment === "dot" ? "unknown" : "sent";
  const faults = [
    ...(state === expected ? [] : [`is ${state} in place of ${expected}`]),
    ...(taken === 1 ? [] : [`was taken ${taken} times`]),
  ];
  return { moment, state, attempts, taken, faults };
}

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + ENDS_WITHIN_MS;
  while (!await holds()) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}`);
    await sleep(20);
  }
}

import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { SMTPServer } from "smtp-server";
import type { Config } from "../../config.ts";
import { type MailAddress, parseAddress } from "./addresses.ts";
import { deliverToMailbox, mailboxFolder } from "./maildir.ts";
import { isLocalAddress } from "./route.ts";

/** Most bytes of a mail. */
export const MAX_MAIL_BYTES = 10 * 1024 * 1024;
const MAX_RECIPIENTS = 50;
const MAX_CLIENTS = 20;
const SILENCE_MS = 60_000;
const RETRY_MS = 5_000;

/** A running receiver. */
export interface MailReceiver {
  readonly port: number;
  close(): Promise<void>;
}

/** A mail that has come for the platform itself. */
export type OnMail = (mail: { readonly from: string; readonly bytes: Buffer }) => Promise<void>;

/**
 * Listens for mail to local domains, on loopback alone, and delivers it to mailboxes. Mail to the platform's own address
 * is given to `onMail` as well, before its sender is told that it has arrived. No other domain is relayed to.
 *
 * @throws {Error} the port is in use
 */
export async function startReceiver(
  { settings, dataDir }: Config,
  onMail?: OnMail,
): Promise<MailReceiver> {
  const own = settings.SEALOOP_MAIL_FROM.toLowerCase();
  const server = new SMTPServer({
    banner: "sealoop",
    disabledCommands: ["AUTH", "STARTTLS"],
    authOptional: true,
    hideSTARTTLS: true,
    size: MAX_MAIL_BYTES,
    maxClients: MAX_CLIENTS,
    socketTimeout: SILENCE_MS,
    closeTimeout: 1_000,
    logger: false,
    onRcptTo({ address }, session, done) {
      const parsed = parseAddress(address);
      if (!parsed || !isLocalAddress(parsed, settings)) {
        return done(refusal(550, "This receiver delivers to local domains alone"));
      }
      const isFull = session.envelope.rcptTo.length >= MAX_RECIPIENTS;
      done(isFull ? refusal(452, "Too many recipients") : null);
    },
    onData(stream, session, done) {
      const { mailFrom, rcptTo } = session.envelope;
      const from = mailFrom ? mailFrom.address : "";
      receive(stream, from, rcptTo.map(({ address }) => parseAddress(address)!))
        .then(() => done(null, "Delivered"), (error) => done(asRefusal(error)));
    },
  });

  async function receive(
    stream: Readable & { readonly sizeExceeded?: boolean },
    from: string,
    to: readonly MailAddress[],
  ): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of stream) if (!stream.sizeExceeded) pieces.push(piece);
    if (stream.sizeExceeded) throw refusal(552, `A mail has at most ${MAX_MAIL_BYTES} bytes`);
    const bytes = Buffer.concat(pieces);
    if (to.some(({ key }) => key === own)) await onMail?.({ from, bytes });
    for (const address of to) await deliverToMailbox(mailboxFolder(dataDir, address), bytes);
  }

  server.on("error", () => {}); // of single connections; that of listening is thrown below
  const { server: net } = server;
  server.listen(settings.SEALOOP_MAIL_PORT, "127.0.0.1");
  await once(net, "listening");
  return {
    port: settings.SEALOOP_MAIL_PORT,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The parts of a receiver that runs for as long as its process. */
export interface ReceiverParts {
  readonly config: Config;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onMail?: OnMail;
}

/**
 * Receives mail until the signal aborts. Where another worker of this machine has the port, it takes over once that one
 * has ended.
 */
export async function keepReceivingMail(
  { config, log, signal, onMail }: ReceiverParts,
): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    const receiver = await startReceiver(config, onMail).catch((error: Error) => {
      const port = config.settings.SEALOOP_MAIL_PORT;
      if (attempt === 1) log.warn({ err: error }, `No mail is received on port ${port} for now`);
      return undefined;
    });
    if (receiver) {
      await waitForAbort(signal);
      return await receiver.close();
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
  }
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true })
  );
}

/** A refusal as SMTP tells it. */
function refusal(responseCode: number, message: string): Error & { responseCode: number } {
  return Object.assign(new Error(message), { responseCode });
}

/** Returns what a sender is told of a failure: to try again later, unless it is told otherwise. */
function asRefusal(error: Error): Error {
  return "responseCode" in error ? error : refusal(451, "The mail can't be stored now");
}

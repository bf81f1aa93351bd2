import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ImapFlow } from "imapflow";
import type { Config } from "../../config.ts";
import { MAX_MAIL_BYTES } from "./receiver.ts";
import { readPassword } from "./route.ts";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const PORTS = { "imaps:": 993, "imap:": 143 } as const;
/** Interval at which a mailbox is looked into although the server has announced nothing. */
const POLL_MS = 60_000;
const SOCKET_TIMEOUT_MS = 120_000;

/** Takes in one mail of a mailbox. It may come again. */
export type OnMessage = (bytes: Buffer) => Promise<void>;

/** Takes note of a mail that can't be taken in. It stays in the mailbox, as read. */
export type OnUnreadable = (uid: number, error: Error) => void;

/**
 * Reads the mailbox of `SEALOOP_IMAP_URL` until the signal aborts: each mail that is not marked as read yet. It is marked
 * once it was taken in, so that a crash loses none; one that comes again is recognized by its bytes.
 *
 * @param isRetryable returns whether a mail that could not be taken in is tried again later, as the database is away
 * @throws {Error} the server can't be reached, or refuses the login
 */
export async function readMailbox(
  { settings }: Pick<Config, "settings">,
  { signal, onMessage, onUnreadable, isRetryable }: {
    readonly signal: AbortSignal;
    readonly onMessage: OnMessage;
    readonly onUnreadable: OnUnreadable;
    readonly isRetryable: (error: unknown) => boolean;
  },
): Promise<void> {
  const url = new URL(settings.SEALOOP_IMAP_URL!);
  const client = connectTo(url, settings.SEALOOP_IMAP_PASSWORD_FILE);
  let failure: Error | undefined;
  let isNews = false; // mail was announced since the mailbox was last looked into
  client.on("error", (error) => void (failure = error as Error));
  client.on("exists", () => void (isNews = true));
  const stop = () => client.close();
  await client.connect();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const lock = await client.getMailboxLock(decodeURIComponent(url.pathname.slice(1)) || "INBOX");
    try {
      while (!signal.aborted) {
        isNews = false;
        await readUnseen();
        if (!isNews) await waitForNews();
      }
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!signal.aborted) throw failure ?? error;
  } finally {
    signal.removeEventListener("abort", stop);
    client.close();
  }

  async function readUnseen(): Promise<void> {
    const uids = await client.search({ seen: false }, { uid: true }) || [];
    for (const uid of uids) {
      if (signal.aborted) return;
      const message = await client.fetchOne(
        String(uid),
        { source: { maxLength: MAX_MAIL_BYTES } },
        { uid: true },
      );
      if (!message || !message.source) continue;
      try {
        await onMessage(message.source);
      } catch (error) {
        if (isRetryable(error)) throw error;
        onUnreadable(uid, error as Error);
      }
      await client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true });
    }
  }

  async function waitForNews(): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const idling = client.idle().catch(() => false);
    try {
      await Promise.race([
        once(client, "exists", { signal: either }),
        once(client, "close", { signal: either }),
        sleep(POLL_MS, undefined, { signal: either }),
      ]).catch(() => {});
    } finally {
      over.abort();
    }
    if (!client.usable && !signal.aborted) throw new Error("The connection has ended");
    void idling; // the next command ends it
  }
}

/** TLS is required, except on this machine. */
function connectTo(url: URL, passwordFile: string | undefined): ImapFlow {
  const isImplicit = url.protocol === "imaps:";
  const isHere = LOOPBACK.test(url.hostname);
  return new ImapFlow({
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || PORTS[url.protocol as keyof typeof PORTS],
    secure: isImplicit,
    ...(isImplicit ? {} : { doSTARTTLS: !isHere }),
    auth: {
      user: decodeURIComponent(url.username),
      pass: readPassword("SEALOOP_IMAP_PASSWORD_FILE", passwordFile),
    },
    tls: { minVersion: "TLSv1.2" },
    disableAutoIdle: true,
    socketTimeout: SOCKET_TIMEOUT_MS,
    logger: false,
  });
}

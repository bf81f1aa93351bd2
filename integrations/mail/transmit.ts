import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { MailServer } from "./route.ts";

/** A mail as it is handed over: its envelope, and its bytes as they were composed. */
export interface FrozenMail {
  readonly from: string;
  readonly to: string;
  readonly bytes: Buffer;
}

/** The end of one attempt to hand a mail over. */
export interface Transmission {
  /** `unknown`: all of it was sent, and the answer is missing. */
  readonly state: "sent" | "not_sent" | "unknown";
  /** `accepted_250`, `refused_550`, `connection`, `timeout`, `tls`, `auth`, `name`, `superseded`, `answer_lost`. */
  readonly code: string;
  /** True where nothing was sent, and another attempt may help. */
  readonly isRetryable: boolean;
}

/** Limits of one attempt. */
export interface TransmitLimits {
  readonly connectMs: number;
  /** Longest silence of the server. RFC 5321 wants ten minutes for the answer to all of a mail. */
  readonly silenceMs: number;
}

const LIMITS: TransmitLimits = { connectMs: 20_000, silenceMs: 120_000 };
/** The mail is written in pieces of this size, so that a server which leaves in the middle is noticed. */
const PIECE_BYTES = 16 * 1024;
/** Wait before the end of a mail, in which a server that has left is noticed. */
const SETTLE_MS = 50;
const CODES: Readonly<Record<string, string>> = {
  ETIMEDOUT: "timeout",
  ETLS: "tls",
  EREQUIRETLS: "tls",
  EAUTH: "auth",
  ENOAUTH: "auth",
  EDNS: "name",
};

/** An error of nodemailer. */
interface SmtpError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
}

/**
 * Hands one mail over to a server, in one attempt.
 *
 * SMTP ends a mail by a line with a dot alone, and a server has it only from then on. `beforeEnd` is called when
 * all but this line is written: until it has resolved, every failure means that nothing was sent; after that, only an
 * answer says what became of the mail.
 *
 * @param beforeEnd notes that the mail is about to be sent; resolves to false where it must not be, since another attempt
 * has taken over
 */
export async function transmitMail(
  server: MailServer,
  mail: FrozenMail,
  beforeEnd: () => Promise<boolean>,
  { signal, connectMs, silenceMs }: Partial<TransmitLimits> & { readonly signal?: AbortSignal } =
    {},
): Promise<Transmission> {
  const connection = new SMTPConnection({
    host: server.host,
    port: server.port,
    secure: server.tls === "implicit",
    requireTLS: server.tls === "starttls",
    ignoreTLS: server.tls === "none",
    name: mail.from.slice(mail.from.lastIndexOf("@") + 1),
    connectionTimeout: connectMs ?? LIMITS.connectMs,
    greetingTimeout: connectMs ?? LIMITS.connectMs,
    socketTimeout: silenceMs ?? LIMITS.silenceMs,
    socketCloseTimeout: 1_000,
    tls: { minVersion: "TLSv1.2" },
    logger: false,
  });
  return await new Promise<Transmission>((resolve) => {
    let isEnding = false; // from here on, the server may have the mail
    let isOver = false;
    const end = (transmission: Transmission) => {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener("abort", abort);
      if (transmission.state === "sent") connection.quit();
      else connection.close();
      resolve(transmission);
    };
    const fail = (error: SmtpError) => end(isEnding ? failureAfterEnd(error) : failure(error));
    const abort = () => end(isEnding ? ANSWER_LOST : { ...notSent("stopped"), isRetryable: true });
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort);
    connection.on("error", fail);
    connection.on("end", () => fail(new Error("The connection has ended")));

    async function* pieces(): AsyncGenerator<Buffer> {
      const { bytes } = mail;
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        yield bytes.subarray(at, at + PIECE_BYTES);
      }
      await sleep(SETTLE_MS);
      if (isOver) throw new Error("The attempt has ended");
      const mayEnd = await beforeEnd();
      if (isOver) throw new Error("The attempt has ended");
      if (!mayEnd) {
        end(notSent("superseded"));
        throw new Error("Another attempt has taken over");
      }
      isEnding = true;
    }
    const send = () => {
      const envelope = { from: mail.from, to: [mail.to], size: mail.bytes.length };
      const body = Readable.from(pieces(), { objectMode: false, highWaterMark: PIECE_BYTES });
      connection.send(envelope, body, (error, info) => {
        if (error) return fail(error);
        // An answer to a mail that has not ended is none that SMTP knows.
        if (!isEnding) return end(notSent("early_answer"));
        end({ state: "sent", code: codeOf("accepted", info?.response), isRetryable: false });
      });
    };
    connection.connect((error) => {
      if (isOver) return;
      if (error) return fail(error);
      if (!server.login) return send();
      const { user, pass } = server.login;
      connection.login({ credentials: { user, pass } }, (error) => error ? fail(error) : send());
    });
  });
}

const ANSWER_LOST: Transmission = { state: "unknown", code: "answer_lost", isRetryable: false };

function notSent(code: string): Transmission {
  return { state: "not_sent", code, isRetryable: false };
}

/** Returns a failure before the end of the mail: nothing was sent. It may be repeated, unless the server has refused for good. */
function failure({ code = "", responseCode }: SmtpError): Transmission {
  const kind = CODES[code] ?? (responseCode ? `refused_${responseCode}` : "connection");
  const isFinal = kind !== "auth" && kind !== "tls" && responseCode !== undefined &&
    responseCode >= 500;
  return { state: "not_sent", code: kind, isRetryable: !isFinal };
}

/** Returns a failure after the end of the mail: only a complete refusal says that the server has not taken it. */
function failureAfterEnd({ code, responseCode }: SmtpError): Transmission {
  return code === "EMESSAGE" && responseCode !== undefined && responseCode >= 400
    ? notSent(`refused_${responseCode}`)
    : ANSWER_LOST;
}

function codeOf(word: string, response = ""): string {
  return `${word}_${/^\d{3}/.exec(response)?.[0] ?? "2xx"}`;
}

/** The cost of parsing mail apart: an ordinary mail in a process of the pool, against the same parser in this process. */
import { parseMail, readMail } from "../integrations/mail/mod.ts";
import { type Figure, measureInTurns, quantile } from "./_figures.ts";
import { rounds, scaled, timeMs } from "./_work.ts";

const ROUNDS = rounds(5);
const MAILS = scaled(300);
const KIB = 1024;

/** Measures mail of the usual size. */
export async function* run(): AsyncGenerator<Figure> {
  const mail = Buffer.from(
    "From: Ada <ada@example.org>\r\nTo: sealoop@sealoop.local\r\nSubject: Re: Maintenance\r\n" +
      "Message-ID: <1@example.org>\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n" +
      `--b\r\nContent-Type: text/plain\r\n\r\n${"Is the shop back?\r\n".repeat(200)}\r\n` +
      `--b\r\nContent-Type: text/html\r\n\r\n${
        "<p>Is the shop back?</p>\r\n".repeat(700)
      }\r\n--b--\r\n`,
  );
  const platform: number[] = [];
  const times = await measureInTurns(ROUNDS, {
    baseline: () => medianOf(() => readMail(mail, { envelopeFrom: null })),
    platform: () => medianOf(() => parseMail(mail, "ada@example.org")),
  });
  const label = `a mail of ${Math.round(mail.length / KIB)} KiB parsed, ms, median`;
  yield { label, ...times, baselineLabel: "in this process" };
  for (const [n, ms] of times.platform.entries()) platform.push(ms - times.baseline[n]!);
  yield { label: "added ms of a mail that is parsed apart", platform, goal: "≤ 20" };
}

async function medianOf(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < MAILS; n++) times.push(await timeMs(work));
  return quantile(times, 0.5);
}

/**
 * Kills the worker with -9 while it sends mail, at every moment of SMTP, and has servers leave at every moment,
 * `ROUNDS` times (default 8), and shows how the mails end. None may be delivered twice.
 *
 * A round is one kill, which meets seven mails, and a server that leaves seven others: 8 rounds are 112 mails.
 */
import { type Moment, MOMENTS, startSmtpStub } from "../test/integrations/mail/_smtp_stub.ts";
import { startCompiledPlatform } from "../test/workflows/_compiled.ts";
import {
  killDuringMails,
  type MailEnd,
  sendToLeavingServer,
} from "../test/workflows/_mail_kills.ts";
import { rounds } from "./_work.ts";

const ROUNDS = rounds(8);

/** Kills, and prints a table of its own. */
export async function run(): Promise<void> {
  const startedMs = performance.now();
  const say = (text: string) =>
    console.error(`    ${((performance.now() - startedMs) / 1000).toFixed(1)} s: ${text}`);
  const stub = await startSmtpStub({ leavesAt: "answered" });
  const platform = await startCompiledPlatform(say, {
    SEALOOP_SMTP_URL: `smtp://127.0.0.1:${stub.port}`,
    SEALOOP_SMTP_PAUSES: "0,0,0",
  });
  const killed: MailEnd[] = [];
  const left: MailEnd[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      killed.push(...await killDuringMails(platform, stub));
      for (const moment of MOMENTS.slice(0, -1)) {
        left.push(await sendToLeavingServer(platform, stub, moment));
      }
      say(`${killed.length + left.length} mails`);
    }
  } finally {
    await stub.close();
    await platform.close();
  }
  console.log(formatEnds("the worker was killed at", killed));
  console.log(formatEnds("the server left at", left));
  const all = [...killed, ...left];
  const twice = all.filter(({ taken }) => taken > 1).length;
  const faults = all.flatMap((end) => end.faults.map((fault) => `${end.moment}: ${fault}`));
  console.log(`\n${all.length} mails; ${twice} delivered twice; ${faults.length} unexpected ends`);
  for (const fault of faults) console.log(`  ${fault}`);
  if (twice + faults.length > 0) process.exitCode = 1;
}

function formatEnds(title: string, ends: readonly MailEnd[]): string {
  const line = (moment: Moment) => {
    const of = ends.filter((end) => end.moment === moment);
    const count = (state: string) => of.filter((end) => end.state === state).length;
    const taken = of.reduce((sum, end) => sum + end.taken, 0);
    return `  ${moment.padEnd(10)}${String(of.length).padStart(5)}${
      String(count("sent")).padStart(8)
    }` +
      `${String(count("unknown")).padStart(9)}${String(taken).padStart(11)}`;
  };
  const head = `\n${title}\n  ${"".padEnd(10)}${"mails".padStart(5)}${"sent".padStart(8)}` +
    `${"unknown".padStart(9)}${"delivered".padStart(11)}`;
  return [head, ...MOMENTS.slice(0, -1).map(line)].join("\n");
}

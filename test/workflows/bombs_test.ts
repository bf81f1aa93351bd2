import assert from "node:assert/strict";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import {
  type MailReceiver,
  type MailServer,
  startReceiver,
  transmitMail,
} from "../../integrations/mail/mod.ts";
import { detectAll, openDetectionContext } from "../../judgement/detection/mod.ts";
import { receiveMail } from "../../operations/mail/sending/mod.ts";
import type { itsmSweep } from "../../workflows/mod.ts";
import { openPeople, type People } from "../api/_people.ts";
import {
  ALERT_BOMB,
  bombOf,
  DEEP_ALERT_BOMB,
  LOG_BOMB,
  MAIL_BOMB,
  MAIL_OF_EMPTY_PARTS,
  mailOfDepth,
} from "../integrations/strangers/_bombs.ts";
import { startAlertmanager, type TestAlertmanager } from "../judgement/detection/_alertmanager.ts";
import { failedLogins } from "../judgement/detection/_logs.ts";
import { findMissingMedia, openTestMedia } from "../integrations/media/_media.ts";
import { freePort, testFolder } from "../_run.ts";
import { putAlertedService } from "./_alerted_service.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
type Json = any;

/** Bombs of mail by the reason of their refusal. */
const MAILS: Readonly<Record<string, Buffer>> = {
  too_slow: bombOf(MAIL_BOMB),
  too_many_parts: bombOf(MAIL_OF_EMPTY_PARTS),
  too_deep: mailOfDepth(300),
};
/** Answers of an Alertmanager. On a busy machine, the time to read one is over before its fault is known. */
const ALERTS = [ALERT_BOMB, DEEP_ALERT_BOMB];
const REFUSED_ALERTS = /^alerts_(too_many_labels|too_much_memory|too_slow)$/;
/** Rules that a key holder sends: two that give no day in a century and a half, and one of each day since years ago. */
const RULES: readonly string[] = [
  "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
  `FREQ=YEARLY;BYWEEKNO=${numbersTo(30)};BYYEARDAY=${numbersTo(30)};BYMONTH=12`,
  `FREQ=DAILY;BYMONTHDAY=${numbersTo(31)}`,
];
const RULES_EACH = 10;
const SOUND_BOMB = "bomb.flac";
/** Seconds of silence in it: one more than a recording may last. */
const SOUND_SECONDS = 1_801;
/** Loops before the bombs, and as many behind them, so that work of others on the machine slows both sides. */
const QUIET_LOOPS = 5;

/** What other work of the machine may add to a loop. */
const MACHINE_MS = 500;

describe("what strangers build to exhaust the worker", () => {
  let people: People;
  let receiver: MailReceiver;
  let server: MailServer;
  let alertmanager: TestAlertmanager;
  let log: string;
  /** Codes of what the detectors could not read, as their state has shown them after each sweep. */
  const shown: string[] = [];
  let soundIsMissing: string | undefined;
  let sweeps = 0;
  let loops = 0;

  before(async () => {
    const port = await freePort();
    const folder = await testFolder();
    const detectors = join(folder, "detectors.yaml");
    log = join(folder, "shop.log");
    await writeFile(log, "");
    await writeFile(
      detectors,
      `host_resources: { enabled: false }
certificates: { enabled: false }
platform: { enabled: false }
logs: { files: [{ path: "${log}", service: shop }] }
alerts: { rules: [{ match: { alertname: ShopDown }, service_label: job, code: down }] }
`,
    );
    alertmanager = await startAlertmanager();
    people = await openPeople({
      SEALOOP_MAIL_PORT: String(port),
      SEALOOP_DETECTORS: detectors,
      SEALOOP_ALERTMANAGER_URL: alertmanager.url,
    });
    await putAlertedService(people.store, "shop");
    soundIsMissing = await findMissingMedia();
    if (soundIsMissing === undefined) {
      await makeSoundBomb(join(people.loop.config.dataDir, "inbox"));
    }
    receiver = await startReceiver(people.loop.config, (mail) => receiveMail(people.loop, mail));
    server = { kind: "local", host: "127.0.0.1", port, tls: "none" };
  });
  after(async () => {
    await receiver?.close();
    await people?.stop();
    await alertmanager?.stop();
  });

  async function write(from: string, bytes: Buffer): Promise<void> {
    const mail = { from, to: "sealoop@sealoop.local", bytes };
    const { state } = await transmitMail(server, mail, () => Promise.resolve(true));
    assert.equal(state, "sent"); // so that its sender does not send it again
  }

  /** Runs the detectors as the worker does every minute, and notes what their state shows then. */
  async function sweep(): Promise<void> {
    await people.loop.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `sweep-${++sweeps}`,
      args: ["key:test"],
    });
    const { body } = await people.call("GET", "/v1/itsm/detectors", "program");
    for (const { state, error } of body.detectors) {
      if (state === "failing") shown.push(...error.split(" "));
    }
  }

  /** Runs a loop of another tenant. @returns milliseconds until its end */
  async function runLoop(): Promise<number> {
    const begin = performance.now();
    const { body } = await people.call("POST", "/v1/itsm/loop", "rival", {
      incident: `Weighbridge ${++loops} prints nonsense`,
    });
    await people.loop.client.workflow.getHandle(body.workflow_id).result();
    return performance.now() - begin;
  }

  async function runLoops(count: number): Promise<number[]> {
    const times: number[] = [];
    while (times.length < count) times.push(await runLoop());
    return times;
  }

  /** Books series by the costliest rules, one after the other. */
  async function book(): Promise<void> {
    const start = new Date();
    start.setUTCFullYear(start.getUTCFullYear() - 4);
    for (const rrule of Array(RULES_EACH).fill(RULES).flat()) {
      const { status, body } = await people.call("POST", "/v1/calendar/events", "program", {
        title: "Boom",
        start: start.toISOString(),
        duration_minutes: 1,
        rrule,
        busy: false,
      });
      assert.equal(status, 200, JSON.stringify(body));
    }
  }

  /** Has the platform write down a recording that unpacks to gigabytes. */
  async function transcribe(): Promise<void> {
    if (soundIsMissing !== undefined) return;
    const agent = await people.agent();
    const call = { name: "voice_transcribe", arguments: { source: SOUND_BOMB } };
    const answer = await agent.callTool(call, undefined, { timeout: 200_000 });
    assert.match(JSON.stringify(answer), /The recording is too long: it may last 30 minutes/);
  }

  /** Sends every bomb, and waits until each was refused. */
  async function sendBombs(): Promise<void> {
    let served = 0;
    alertmanager.hostile = ({ method }, response) => {
      const type = { "content-type": "application/json" };
      return method === "GET" && !!response.writeHead(200, type).end(ALERTS[served++]);
    };
    await appendFile(log, LOG_BOMB.join(""));
    await Promise.all([
      book(),
      transcribe(),
      ...Object.values(MAILS).map((bytes) => write("stranger@example.net", bytes)),
      (async () => {
        while (served < ALERTS.length || !shown.includes("log_too_slow")) {
          if (served >= ALERTS.length) alertmanager.hostile = () => false;
          await sweep();
        }
      })(),
    ]);
    alertmanager.hostile = () => false;
  }

  // The median of all loops from the first bomb to the last refusal: some of them wait for other work of the machine.
  it("lets loops of another tenant end in twice their time", async () => {
    await sweep(); // so that the log is known
    await runLoop(); // the first one loads what the others have
    const quiet = await runLoops(QUIET_LOOPS);
    let areRefused = false;
    const bombs = sendBombs().finally(() => areRefused = true);
    const bombed: number[] = [];
    while (!areRefused) bombed.push(await runLoop());
    await bombs;
    quiet.push(...await runLoops(QUIET_LOOPS));
    const [without, among] = [median(quiet), median(bombed)];
    // A loop takes a fifth of a second: what a busy machine adds by itself is left out.
    assert.ok(among <= 2 * without + MACHINE_MS, `${among} ms among bombs, ${without} ms without`);
  });

  it("is refused with its reason, which the detectors' state shows", () => {
    const refused = shown.filter((code) => code.startsWith("alerts_"));
    assert.ok(refused.length >= ALERTS.length, String(shown));
    for (const code of refused) assert.match(code, REFUSED_ALERTS);
    assert.equal(shown.filter((code) => code === "log_too_slow").length, 1);
  });

  it("is listed with its reason as mail, and people are told once", async () => {
    const { body } = await people.call("GET", "/v1/email-replies", "program");
    const refused = body.replies.filter(({ subject }: Json) => subject === "Boom");
    assert.deepEqual(
      refused.map(({ state, ignored_because }: Json) => `${state} ${ignored_because}`).sort(),
      Object.keys(MAILS).map((code) => `ignored ${code}`).sort(),
    );
    for (const { from, excerpt, draft } of refused) {
      assert.deepEqual([from, excerpt, draft], ["stranger@example.net", "", null]);
    }
    const feed: Json = (await people.call("GET", "/v1/comms", "program")).body;
    const told = feed.messages.filter(({ subject }: Json) => subject === "Boom");
    assert.equal(told.length, refused.length);
    for (const { text } of told) assert.match(text, /^It was refused, and nothing but its head/);
  });

  it("keeps the next mail, alert and lines from nobody", async () => {
    await write(
      "ops@sealoop.local",
      Buffer.from(
        "From: ops@sealoop.local\r\nTo: sealoop@sealoop.local\r\nSubject: After it\r\n" +
          "Message-ID: <after@test>\r\n\r\nIs all well?\r\n",
      ),
    );
    const { body } = await people.call("GET", "/v1/email-replies", "program");
    const read = body.replies.find(({ subject }: Json) => subject === "After it");
    assert.deepEqual([read.excerpt, read.ignored_because], ["Is all well?", null]);

    alertmanager.alerts = [{ labels: { alertname: "ShopDown", job: "shop" } }];
    await appendFile(log, failedLogins("203.0.113.5", 5).join(""));
    const { config, temporal, alerts } = people.loop;
    const context = openDetectionContext({ config, store: people.store, temporal, alerts });
    const errors = await people.eventually(async () => {
      const { findings, runs } = await detectAll(context, { save: false });
      const codes = findings.map(({ code }) => code).sort().join();
      // A reading of the alerts may be a second old.
      return codes === "alert_down,brute_force" && runs.flatMap(({ error }) => error ?? []);
    });
    assert.deepEqual(errors, []);
  });
});

/** Makes a small file of two channels of silence. */
async function makeSoundBomb(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { tools, cwd } = await openTestMedia();
  const silence = ["-f", "lavfi", "-t", String(SOUND_SECONDS), "-i", "anullsrc=r=96000:cl=stereo"];
  const path = join(folder, SOUND_BOMB);
  await tools.ffmpeg([...silence, "-c:a", "flac", path], { cwd, seconds: 120 });
}

function numbersTo(last: number): string {
  return Array.from({ length: last }, (_, index) => index + 1).join();
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

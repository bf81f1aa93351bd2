import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../config.ts";
import {
  BadCommsFile,
  BadCredential,
  endOfQuiet,
  followComms,
  type Notice,
  planDeliveries,
  readCommsFile,
  readCredential,
} from "../../../integrations/channels/mod.ts";
import { readBlocks } from "../../_readme.ts";
import { testFolder } from "../../_run.ts";

const CHANNELS = `
  channels:
    ops-chat: { slack: { credential: ops-chat } }
    phone: { ntfy: { url: "https://ntfy.sh/our-topic" } }
`;
const NOTICE: Notice = {
  id: "MSG-000000000001",
  at: "2026-07-01T21:30:00.000Z", // 23:30 in Vienna
  kind: "incident.opened",
  from: "itsm-loop",
  subject: "INC-1 was opened",
  text: "",
  refs: {},
  severity: "high",
  service: "shop",
  link: null,
};

describe("sealoop.comms.yaml", () => {
  let path: string;
  before(async () => {
    path = join(await testFolder(), "sealoop.comms.yaml");
  });

  function read(text: string) {
    writeFileSync(path, text);
    return readCommsFile(path);
  }
  const section = (rules: string) =>
    read(`platform:${CHANNELS}  rules:\n${rules}`).get("platform")!;

  it("tells nobody where it is missing or empty", () => {
    assert.equal(readCommsFile(`${path}.missing`).size, 0);
    assert.equal(read("").size, 0);
  });

  it("is in force once it could be read, and stays so while it is wrong", () => {
    const comms = followComms(path);
    writeFileSync(path, "platform: { channels: [");
    assert.equal(comms(), undefined);
    assert.equal(comms(), undefined);
    writeFileSync(path, `platform:${CHANNELS}`);
    assert.equal(comms()?.size, 1);
    writeFileSync(path, "platform: { channels: [[");
    assert.equal(comms()?.size, 1);
    assert.equal(followComms(`${path}.missing`)()?.size, 0);
  });

  const mistakes: Readonly<Record<string, readonly [rules: string, message: RegExp]>> = {
    "a channel that is not there": [
      "    - { name: a, tell: [ops-chart] }",
      /line 6: .*there is no channel ops-chart; did you mean ops-chat\?/,
    ],
    "an unknown field": [
      "    - { name: a, tell: [phone], when: now }",
      /line 6: .*when: unknown field/,
    ],
    "an unknown kind": [
      "    - { name: a, tell: [phone], kinds: [incident.found] }",
      /there is no such kind; there are incident.opened, /,
    ],
    "an unknown time zone": [
      '    - { name: a, tell: [phone], quiet: { from: "22:00", to: "07:00", time_zone: CET/Wien } }',
      /Expected the IANA name of a time zone, as Europe\/Vienna/,
    ],
    "a wrong time": [
      "    - { name: a, tell: [phone], quiet: { from: 22, to: 25:00, time_zone: Europe/Vienna } }",
      /line 6/,
    ],
    "nobody to tell": ["    - { name: a, tell: [] }", /line 6: .*tell/],
  };
  for (const [name, [rules, message]] of Object.entries(mistakes)) {
    it(`refuses ${name}, with its line`, () => {
      assert.throws(() => section(rules), (error: Error) => {
        assert.ok(error instanceof BadCommsFile);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  it("refuses a channel that is none, and a URL in place of a credential's name", () => {
    assert.throws(
      () => read("platform:\n  channels:\n    fax: { fax: { number: 1 } }\n"),
      /line 3: .*expected one of email, slack, teams, matrix, ntfy and webhook/,
    );
    const url = "https://hooks.slack.com/services/T0/B0/secret";
    assert.throws(
      () => read(`platform:\n  channels:\n    chat: { slack: { credential: "${url}" } }\n`),
      (error: Error) => !error.message.includes("secret"),
    );
  });

  it("accepts what docs/notices.md shows", () => {
    const blocks = readBlocks("Tell people", "docs/notices.md");
    const { channels, rules } = read(blocks.find(({ language }) => language === "yaml")!.text)
      .get("platform")!;
    assert.deepEqual([Object.keys(channels).length, rules.length], [6, 2]);
  });

  it("plans who is told, in which order, when, and who is next", () => {
    const { channels, rules } = section(`
    - name: on call
      kinds: [incident.*]
      tell: [phone, ops-chat]
      quiet: { from: "22:00", to: "07:00", time_zone: Europe/Vienna, except: [critical] }
      escalate: { after_minutes: 15, tell: [ops-chat] }
    - { name: others, services: ["bill*"], tell: [ops-chat] }`);
    const now = new Date(NOTICE.at);
    const plan = (more: Partial<Notice>) =>
      planDeliveries({ channels, rules }, { ...NOTICE, ...more }, now).map((
        one,
      ) => [
        one.rule,
        one.order,
        one.channel,
        one.notBefore?.toISOString(),
        one.escalatesAfterMinutes,
      ]);
    const morning = "2026-07-02T05:00:00.000Z";
    assert.deepEqual(plan({}), [
      ["on call", 1, "phone", morning, null],
      ["on call", 1, "ops-chat", morning, null],
      ["on call", 2, "ops-chat", morning, 15],
    ]);
    assert.equal(plan({ severity: "critical" })[0]![3], undefined);
    assert.deepEqual(plan({ kind: "incident.closed" }).map(([, order]) => order), [1, 1]);
    assert.deepEqual(plan({ kind: "mail.sent", service: "billing" }).map(([rule]) => rule), [
      "others",
    ]);
    assert.deepEqual(plan({ kind: "said", service: "billing" }), []);
  });
});

describe("endOfQuiet()", () => {
  const quiet = { from: "22:00", to: "07:00", timeZone: "Europe/Vienna" };
  const end = (at: string, hours = quiet) => endOfQuiet(hours, new Date(at))?.toISOString();

  it("ends on the wall clock, also where clocks are changed meanwhile", () => {
    assert.equal(end("2026-07-01T21:00:00Z"), "2026-07-02T05:00:00.000Z");
    assert.equal(end("2026-03-28T22:00:00Z"), "2026-03-29T05:00:00.000Z"); // forward in this night
    assert.equal(end("2026-10-24T21:00:00Z"), "2026-10-25T06:00:00.000Z"); // back in this night
    assert.equal(end("2026-07-02T04:59:00Z"), "2026-07-02T05:00:00.000Z");
  });

  it("is in none outside of the hours", () => {
    assert.equal(end("2026-07-01T19:59:00Z"), undefined);
    assert.equal(end("2026-07-02T05:00:00Z"), undefined);
    const noon = { from: "12:00", to: "13:00", timeZone: "UTC" };
    assert.equal(end("2026-07-01T12:30:00Z", noon), "2026-07-01T13:00:00.000Z");
    assert.equal(end("2026-07-01T13:00:00Z", noon), undefined);
  });
});

describe("readCredential()", () => {
  it("reads the setting, then the file, and never says what it is", async () => {
    const dataDir = await testFolder();
    const config = (settings: Record<string, string> = {}) =>
      loadConfig({ SEALOOP_DATA: dataDir, ...settings });
    const set = config({ SEALOOP_CREDENTIALS: '{"chat":"https://example.com/secret"}' });
    assert.equal(readCredential(set, "chat"), "https://example.com/secret");
    assert.throws(() => readCredential(config(), "chat"), BadCredential);
    assert.throws(
      () => config({ SEALOOP_CREDENTIALS: "secret" }),
      (error: Error) =>
        /SEALOOP_CREDENTIALS/.test(error.message) && !/"secret"/.test(error.message),
    );
  });
});

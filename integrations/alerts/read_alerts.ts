/** The parser of Alertmanager's alerts. It runs in a process of the pool alone. */
import { z } from "zod";
import { Refused } from "../strangers/mod.ts";

/** Some thousands of alerts. More are a storm that nothing should be done by. */
const MAX_ALERTS = 5_000;
/** Labels and silences of all alerts together. Whoever reads the parser's answer checks each, and does nothing else meanwhile. */
const MAX_LABELS = 100_000;

const Id = z.string().regex(/^[\w-]{1,64}$/);
const Time = z.iso.datetime({ offset: true });
const Fingerprint = z.string().regex(/^[0-9a-f]{1,64}$/);
const Labels = z.record(z.string(), z.string());
const Answer = z.array(z.object({
  fingerprint: Fingerprint,
  labels: Labels,
  endsAt: Time,
  updatedAt: Time,
  status: z.object({ silencedBy: z.array(Id), inhibitedBy: z.array(z.string()) }),
})).max(MAX_ALERTS);

const Alert = z.strictObject({
  fingerprint: Fingerprint.describe("Made by Alertmanager from the labels, hex"),
  labels: Labels.describe("As they were sent: names and values of others, unescaped"),
  endsAt: Time.describe(
    "When it ends by itself unless it is sent again. One that is resolved is gone before",
  ),
  updatedAt: Time.describe("When it was sent last, by Alertmanager's clock"),
  silencedBy: z.array(Id).readonly().describe("Ids of the silences that apply to it"),
  isInhibited: z.boolean().describe("True: another alert explains it"),
});
/** An alert that fires. */
export type Alert = Readonly<z.output<typeof Alert>>;
/** Answer of the parser. */
export const AlertList = z.array(Alert).max(MAX_ALERTS);

/** Parses the alerts of an Alertmanager. @throws {Refused} they are too many, or have another shape */
export function readAlerts(bytes: Buffer): z.output<typeof AlertList> {
  const answer = parseJson(bytes.toString());
  if (countLabels(answer) > MAX_LABELS) {
    throw new Refused({ code: "too_many_labels", about: `it has more than ${MAX_LABELS} labels` });
  }
  const parsed = Answer.safeParse(answer);
  if (!parsed.success) {
    throw new Refused({ code: "shape", about: "it has another shape" });
  }
  return parsed.data.map(({ status: { silencedBy, inhibitedBy }, ...alert }) => ({
    ...alert,
    silencedBy,
    isInhibited: inhibitedBy.length > 0,
  }));
}

/** Counts labels and silences, before anything looks at each of them. */
function countLabels(answer: unknown): number {
  if (!Array.isArray(answer)) return 0;
  return answer.flatMap((alert) => [alert?.labels, alert?.status?.silencedBy])
    .reduce((sum, names) => sum + Object.keys(names ?? {}).length, 0);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Envelopes of what is sent over Temporal to be executed: they name what their arguments are for, so that arguments which
 * were made for one call are refused by every other one. The codec of payloads authenticates them.
 */
import { RawValue } from "@temporalio/common";

/** The kinds of envelopes. `schedule`: the start of a run whose id the schedule chooses. */
const KINDS = ["start", "schedule", "signal", "update", "activity", "result"] as const;

/** The arguments of one call, or the result of an activity, with what they are for. */
export interface Envelope {
  readonly envelope: (typeof KINDS)[number];
  /** Type of the workflow or activity, or name of the signal or update. */
  readonly name: string;
  /** Id of the run's workflow; of an activity's, followed by `/` and the activity's id; of a schedule: its own id. */
  readonly of: string;
  /** Of activities and results: the first of the chain of runs, so that no later run of the same id takes the result. */
  readonly run?: string;
  /** Tenant in whose name the call works. */
  readonly tenant: string;
  /** The arguments; of a result: its value, or nothing. */
  readonly args: readonly unknown[];
}

/** The facts that a receiver knows about the envelope that it waits for. */
export type ExpectedEnvelope = Pick<Envelope, "envelope" | "name" | "of" | "run">;

/** Type of the failure of what was not sent by the platform, or for another call. */
export const UNAUTHENTICATED = "UnauthenticatedPayload";

/** Metadata of an envelope on its way to the codec. No value of JSON can have it. */
export const ENVELOPE_MARK = "envelope";

const encoder = new TextEncoder();
/** The end of the ids of runs that a schedule starts. */
const SCHEDULED_AT = /^-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/** Field of what stands in the place of a payload that was not authenticated: the reason. */
const REFUSED = "$refused";

/** Stands in the place of a payload that was not authenticated, as a worker must not fail by what strangers send. */
export interface Refused {
  readonly [REFUSED]: string;
}

/** Returns what stands in the place of a payload that was not authenticated. */
export const refusePayload = (reason: string): Refused => ({ [REFUSED]: reason });

/** Returns whether a decoded value stands in the place of a payload that was not authenticated. */
export function isRefused(value: unknown): value is Refused {
  return typeof value === "object" && value !== null && REFUSED in value;
}

/** Returns an envelope as an argument or result for the SDK, whose codec authenticates it. */
export function enclose(envelope: Envelope): RawValue {
  return RawValue.fromPayload({
    metadata: { encoding: encoder.encode("json/plain"), [ENVELOPE_MARK]: encoder.encode("yes") },
    data: encoder.encode(JSON.stringify({ ...envelope, args: withoutAbsent(envelope.args) })),
  });
}

/** Leaves out the last arguments that are not given, as JSON would turn them into null. */
function withoutAbsent(args: readonly unknown[]): readonly unknown[] {
  const last = args.findLastIndex((one) => one !== undefined);
  return args.slice(0, last + 1);
}

/** Returns whether a value has the form of an envelope. */
export function isEnvelope(value: unknown): value is Envelope {
  const { envelope, args } = (value ?? {}) as Partial<Envelope>;
  return KINDS.includes(envelope!) && Array.isArray(args);
}

/**
 * Returns the envelope among the decoded arguments of a call, or the reason why there is none for this call.
 *
 * @param decoded as the codec of workers has left them: what it did not authenticate is no envelope
 */
export function openEnvelope(
  decoded: readonly unknown[],
  { envelope, name, of, run }: ExpectedEnvelope,
): Envelope | string {
  const [found] = decoded;
  if (decoded.length !== 1 || !isEnvelope(found)) {
    return `Cannot take the ${envelope} ${name}: it was not sent by the platform`;
  }
  const isScheduled = envelope === "start" && found.envelope === "schedule" &&
    of.startsWith(found.of) && SCHEDULED_AT.test(of.slice(found.of.length));
  const isForThis = found.name === name && found.run === run &&
    (isScheduled || found.envelope === envelope && found.of === of);
  if (isForThis) return found;
  return `Cannot take the ${envelope} ${name} of ${of}: it was made for the ${found.envelope} ${found.name} of ${found.of}`;
}

/** Returns the id under which an activity's arguments and result are enclosed. */
export const activityOf = (workflowId: string, activityId: string): string =>
  `${workflowId}/${activityId}`;

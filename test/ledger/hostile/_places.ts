/** Receipts of acts at places, signed by the place or by somebody else. */
import { hash, sign } from "node:crypto";
import { canonicalize, formatPlaceStatement } from "../../../ledger/rules/mod.ts";
import { content, extend, makeKey, type TestKey } from "./_chain.ts";
import { attacker, contents, genesis, ledger, recovery } from "./_genuine.ts";

type Fields = Readonly<Record<string, unknown>>;

const [n1, n2] = [makeKey("place n1"), makeKey("place n2")] as const;

/** Result of a step, as receipts show it. */
const RESTARTED = { effect_id: "5a".repeat(12), kind: "restart", state: "done", code: "started" };
const CLEANED = { ...RESTARTED, kind: "clean", code: "cleaned", counts: { files: 3, mib: 1.5 } };
const UNDONE = { ...RESTARTED, effect_id: "6b".repeat(12), state: "not_done", code: "gone" };
const ACT = { action_id: "7c".repeat(12), round: 1, step: 1 };

/** Signs a result as a place. @param signer default: the place itself */
function signed(place: TestKey, act: typeof ACT, result: Fields, signer = place) {
  const result_sha256 = hash("sha256", canonicalize(result));
  const text = formatPlaceStatement({ ...act, place: place.hex, result_sha256 });
  const place_signature = sign(null, Buffer.from(text), signer.privateKey).toString("hex");
  return { ...act, place: place.hex, place_signature };
}

/** Enrols a place. */
const enrolment = (n: number, place: string) =>
  content(n, {
    category: "place_enrolled",
    action: "places.enrol",
    outcome: "enrolled",
    details: { place },
  });

const intent = (n: number, more: Fields = {}, act: Fields = intentSigned()) =>
  content(n, {
    category: "repair_intended",
    outcome: "intended",
    details: { effect_id: RESTARTED.effect_id, steps: 1, ...act },
    ...more,
  });

const intentSigned = () => {
  const { effect_id, kind } = RESTARTED;
  return signed(n1, ACT, { effect_id, kind, state: "intended" });
};

const healed = (n: number, ...steps: readonly unknown[]) =>
  content(n, { category: "self_heal", outcome: "sealed", details: { rounds: 1, steps } });

const escalated = (n: number, steps: readonly unknown[], undone: readonly unknown[]) =>
  content(n, {
    category: "escalation",
    outcome: "escalated",
    details: { rounds: 1, steps, undone: { state: "not_done", code: "gone", steps: undone } },
  });

/** A film, or whatever a whole receipt is about. @param act what its place has signed; default: the same */
const filmed = (n: number, act: Fields = {}, more: Fields = {}) => {
  const details = { id: "VID-1", kind: "film", seconds: 12.5 };
  const told = { action: "video.render", outcome: "done" };
  const signature = signed(n2, { ...ACT, round: 0 }, { ...details, ...told, ...act });
  return content(n, {
    category: "media_made",
    ...told,
    details: { ...details, ...signature, commitments: { text: "9e".repeat(32) }, ...more },
  });
};

const restarted = { ...RESTARTED, ...signed(n1, ACT, RESTARTED) };
const cleaned = { ...CLEANED, ...signed(n2, { ...ACT, step: 2 }, CLEANED) };
const undone = { ...UNDONE, ...signed(n1, ACT, UNDONE) };
/** A step of which no place has said anything, as its place was away. */
const unsaid = { ...RESTARTED, state: "unknown", code: "place_away" };

/** A ledger with acts of two places, in 9 receipts. Before the first place is enrolled, none signs. */
const honest = () => [
  genesis(ledger, recovery),
  healed(1, RESTARTED),
  enrolment(2, n1.hex),
  enrolment(3, n2.hex),
  intent(4),
  healed(5, restarted, cleaned),
  escalated(6, [restarted, unsaid], [undone]),
  filmed(7),
  ...contents(8, 9),
];

/** Seals a ledger of which some receipts are others. @param changes by position */
function sealedWith(changes: Readonly<Record<number, Fields>> = {}): string[] {
  return extend([], honest().map((fields, n) => changes[n] ?? fields), ledger);
}

export const placed = sealedWith();

/** The same, with a film that was not made, of which no place has said anything. */
export const withoutFilm = sealedWith({
  7: content(7, {
    category: "media_made",
    action: "media.make",
    outcome: "failed",
    details: { id: "VID-1", code: "Cancelled", state: "unknown" },
  }),
});

const NOT_SIGNED = "has not signed";
const NOT_ENROLLED = "no receipt before it enrols";
const UNSIGNED = "no place has signed";

/** Ledgers of which the key has sealed acts that a place has not signed so: names, reasons and records. */
export function falseActs(): [name: string, reason: string, records: string[]][] {
  const wrongStep = (step: Fields) => sealedWith({ 5: healed(5, step, cleaned) });
  const wrongIntent = (more: Fields) => sealedWith({ 4: intent(4, more) });
  const { place_signature: _, ...unsigned } = restarted;
  const { place: __, ...placeless } = restarted;
  return [
    [
      "an act signed by another key than its place's",
      NOT_SIGNED,
      wrongStep({ ...RESTARTED, ...signed(n1, ACT, RESTARTED, attacker) }),
    ],
    [
      "an act with the signature of another place",
      NOT_SIGNED,
      wrongStep({
        ...restarted,
        place_signature: signed(n2, ACT, RESTARTED).place_signature,
      }),
    ],
    [
      "an act that is said to be of another place",
      NOT_SIGNED,
      wrongStep({
        ...restarted,
        place: n2.hex,
      }),
    ],
    ["an act with another result", NOT_SIGNED, wrongStep({ ...restarted, code: "was_up" })],
    ["an act with more in its result", NOT_SIGNED, wrongStep({ ...restarted, counts: { n: 1 } })],
    [
      "an act of another action",
      NOT_SIGNED,
      wrongStep({
        ...restarted,
        action_id: "8d".repeat(12),
      }),
    ],
    ["an act of another round", NOT_SIGNED, wrongStep({ ...restarted, round: 2 })],
    ["an act of another step", NOT_SIGNED, wrongStep({ ...restarted, step: 2 })],
    ["an act of a place without its signature", NOT_SIGNED, wrongStep(unsigned)],
    ["an act signed by a place that is not named", NOT_SIGNED, wrongStep(placeless)],
    ["an intent of another kind", NOT_SIGNED, wrongIntent({ action: "clean" })],
    ["an intent with another outcome", NOT_SIGNED, wrongIntent({ outcome: "done" })],
    [
      "an undoing with another result",
      NOT_SIGNED,
      sealedWith({
        6: escalated(6, [restarted], [{ ...undone, state: "done" }]),
      }),
    ],
    [
      "a film that its place tells otherwise",
      NOT_SIGNED,
      sealedWith({ 7: filmed(7, { seconds: 3 }) }),
    ],
    [
      "a film with more than its place tells",
      NOT_SIGNED,
      sealedWith({ 7: filmed(7, {}, { n: 1 }) }),
    ],
    ["an act without place and signature", UNSIGNED, wrongStep(RESTARTED)],
    ["an undoing without them", UNSIGNED, sealedWith({ 6: escalated(6, [restarted], [UNDONE]) })],
    ["an intent without them", UNSIGNED, sealedWith({ 4: intent(4, {}, {}) })],
    [
      "a film without them",
      UNSIGNED,
      sealedWith({
        7: content(7, { category: "media_made", outcome: "done", details: { seconds: 12.5 } }),
      }),
    ],
    ["a place that is no key", "no public key", sealedWith({ 3: enrolment(3, "n2.example.net") })],
    ["acts of a place that no receipt enrols", NOT_ENROLLED, sealedWith({ 2: content(2) })],
    [
      "acts of a place that is enrolled later",
      NOT_ENROLLED,
      sealedWith({
        3: content(3),
        8: enrolment(8, n2.hex),
      }),
    ],
  ];
}

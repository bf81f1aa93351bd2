/** Files of opened evidence with the verdict that all verifiers come to. */
import type { SignedStatement } from "../../../contract/domain/mod.ts";
import {
  ACTION,
  ANN,
  APPROVAL,
  approval,
  BOB,
  CY,
  type Difference,
  open,
  ownCall,
} from "./_make.ts";
import { type Case, close, edit, good, wrong } from "./_case.ts";
import { makeGrantCases } from "./_grant_cases.ts";

const one = (difference: Difference = {}) => open(approval({ voters: [ANN], ...difference }));
const change = (field: keyof SignedStatement["assertion"]) => (signed: SignedStatement) => {
  const bytes = Buffer.from(signed.assertion[field], "base64url");
  bytes[bytes.length - 1]! ^= 1;
  return { ...signed, assertion: { ...signed.assertion, [field]: bytes.toString("base64url") } };
};
/** Position of the only decision of an approval by one person. */
const DECISION = 2;

const unsigned = (name: string, code: string, difference: Difference): Case =>
  wrong(name, `the passkey's answer does not count (${code})`, one(difference));

/** Makes all of them. Signatures differ each time. */
export function makeCases(): Case[] {
  return [...makeDecisions(), ...makeGrantCases()];
}

/** Approvals, and calls that their persons have signed. */
function makeDecisions(): Case[] {
  const whole = open(approval());
  const single = one();
  return [
    good("two people, one with ES256 and one with RS256", "2 of 2 people have approved", whole),
    good("one with EdDSA", "EdDSA, on a page of https://ops.example", one({ voters: [CY] })),
    good(
      "one gesture over a list",
      "over a list of 5, of which this is number 4",
      one({ list: true }),
    ),
    good("an approval by passkey alone", "by passkey alone", one({ onlyPasskey: true })),
    good("a call that its person signed", "your call   Erase a contact", open(ownCall())),
    good("nothing pinned", "as the file says", whole, { trust: "nothing" }),
    good("a key's decision", "no passkey has signed it", one({ byKey: true })),
    good(
      "a published statement",
      "signed exactly this text",
      close(one({ isPublic: true }), DECISION, ["statement"]),
    ),
    good(
      "a decision whose voter is not opened",
      "0 of them are opened",
      close(single, DECISION, ["voter"]),
    ),
    good(
      "a decision without the request",
      "who asked is not opened",
      { ...single, receipts: [single.receipts[0]!, single.receipts[DECISION]!] },
    ),
    good(
      "a decision without the enrolment",
      "is not opened",
      { ...single, receipts: single.receipts.slice(1) },
    ),
    good(
      "a decision whose text is not opened",
      "is not opened: shown",
      close(single, DECISION, ["shown"]),
      {
        exit: 2,
      },
    ),
    good(
      "a decision whose signature is not opened",
      "is not opened: statement",
      close(single, DECISION, ["statement"]),
      { exit: 2 },
    ),
    good("no receipt", "there is no receipt", { ...single, receipts: [] }, { exit: 2 }),
    good("another pinned key", "no pinned key vouches", single, { exit: 2, trust: "another" }),
    good("no checkpoint", "no signed checkpoint", { ...single, checkpoint: null }, { exit: 2 }),

    wrong(
      "another approval's",
      "about another approval",
      one({ statement: { approval: "APR-000000000000" } }),
    ),
    wrong(
      "that from before it was reopened",
      "before it was reopened",
      one({ statement: { cycle: 1 } }),
    ),
    wrong("another act's", "about another act", one({ statement: { act: "0".repeat(64) } })),
    wrong(
      "an act that was changed in the evidence",
      "about another act",
      one({ details: { action_commitment: "0".repeat(64) } }),
    ),
    wrong(
      "another text than was shown",
      "over another text",
      one({ shown: { description: "Restart nothing" } }),
    ),
    wrong(
      "a text with one more line",
      "over another text",
      one({ shown: { reasons: ["a", "b", "c"] } }),
    ),
    wrong(
      "another move's",
      "none that a passkey signs",
      one({ statement: { move: "denied" as "approved" } }),
    ),
    wrong(
      "a shown field of another kind",
      "not those of an approval",
      one({ shown: { reaches: "shop" } }),
    ),
    wrong("another call's", "about another call", open(ownCall({ call: "contacts.delete" }))),
    wrong(
      "a call with other arguments",
      "about another act",
      open(ownCall({ act: "0".repeat(64) })),
    ),
    wrong(
      "a call of which another text was shown",
      "over another text",
      open(ownCall({ shown: { summary: "Show a contact" } })),
    ),
    wrong(
      "a call without user verification",
      "does not count (user_verification)",
      open(ownCall({ deviations: { flags: 1 } })),
    ),
    unsigned("another origin's", "origin", { deviations: { origin: "https://evil.example" } }),
    unsigned("a frame's", "origin", { deviations: { crossOrigin: true } }),
    unsigned("another site's", "rp_id", { deviations: { rpId: "evil.example" } }),
    unsigned("one without user verification", "user_verification", { deviations: { flags: 1 } }),
    unsigned("one without a person", "user_verification", { deviations: { flags: 4 } }),
    unsigned("a new credential's", "type", { deviations: { type: "webauthn.create" } }),
    unsigned("another credential's", "signature", { forger: true }),
    unsigned("a changed signature", "signature", { signed: change("signature") }),
    unsigned("a changed signature of RSA", "signature", {
      voters: [BOB],
      signed: change("signature"),
    }),
    unsigned("a changed signature of Ed25519", "signature", {
      voters: [CY],
      signed: change("signature"),
    }),
    unsigned("changed client data", "malformed", { signed: change("client_data") }),
    unsigned("a changed counter", "signature", { signed: change("authenticator_data") }),
    unsigned("a page of another host than the passkey's", "rp_id", {
      signed: (signed) => ({ ...signed, origin: "https://ops.example.evil" }),
    }),
    unsigned("another challenge's", "challenge", {
      signed: (signed) => ({ ...signed, statement: { ...signed.statement, nonce: "11" } }),
    }),
    unsigned("another place in the list", "list", {
      list: true,
      signed: (signed) => ({ ...signed, list: { ...signed.list!, index: 2 } }),
    }),
    unsigned("one that is not in the list", "list", {
      list: true,
      signed: (signed) => ({ ...signed, statement: { ...signed.statement, nonce: "11" } }),
    }),
    wrong(
      "a passkey of another person",
      "not the one that was enrolled",
      one({ enrolledFor: "Bob" }),
    ),
    wrong(
      "the decision of who asked",
      "who asked for it has approved it",
      one({ askedBy: "ANN " }),
    ),
    wrong(
      "one person under two names",
      "has decided under two names",
      open(approval({ voters: [ANN, { ...BOB, name: "ann" }] })),
    ),
    wrong(
      "two people under one name",
      "is two people",
      open(approval({ names: ["voter:0", "voter:0"] })),
    ),
    good(
      "a vote by a passkey, which its rule takes",
      "1 of 1 people have approved",
      one({ takesPasskey: "in public", onlyPasskey: true }),
    ),
    wrong(
      "a vote by a key where its rule takes a passkey",
      "the vote #1 is by a key alone, and its rule takes a passkey",
      one({ takesPasskey: "in public", byKey: true }),
    ),
    wrong(
      "a vote by a key where its grounds say that it takes a passkey",
      "the vote #1 is by a key alone, and its rule takes a passkey",
      one({ takesPasskey: "in its grounds", byKey: true }),
    ),
    wrong(
      "a person's call that no passkey has signed",
      "left to a person and their passkey, which has not signed it",
      open(ownCall({ unsigned: true })),
    ),
    wrong(
      "a vote after it had expired",
      "was made after it was expired",
      one({ before: [["expired", "expired"]] }),
    ),
    wrong(
      "a vote after it was denied",
      "was made after it was denied",
      one({ before: [["reopened", "pending"], ["denied", "denied"]] }),
    ),
    good(
      "a vote after it was asked again",
      "1 of 1 people have approved",
      one({ before: [["expired", "expired"], ["reopened", "pending"]] }),
    ),
    wrong(
      "fewer people than were asked for",
      "counts for another number of people",
      one({ asksFor: 2 }),
    ),
    wrong(
      "one person twice",
      "counts one person twice",
      open(approval({ voters: [ANN, ANN], names: ["voter:0", "voter:0"] })),
    ),
    wrong("too few people", "by 1 of 2 people", one({ needed: 2 })),
    wrong(
      "an entry that is not what was sealed",
      "its action is not what was sealed",
      edit(single, DECISION, (receipt) => ({
        ...receipt,
        opened: {
          ...receipt.opened,
          action: {
            ...receipt.opened.action!,
            content: JSON.stringify({ ...ACTION, runbook: "x" }),
          },
        },
      })),
    ),
    wrong(
      "another salt",
      "its voter is not what was sealed",
      edit(single, DECISION, (receipt) => ({
        ...receipt,
        opened: { ...receipt.opened, voter: { ...receipt.opened.voter!, salt: "0".repeat(64) } },
      })),
    ),
    wrong(
      "an entry that the receipt has not",
      "its more is not what was sealed",
      edit(single, DECISION, (receipt) => ({
        ...receipt,
        opened: { ...receipt.opened, more: receipt.opened.voter! },
      })),
    ),
    wrong(
      "a changed receipt",
      "not what its key has signed",
      edit(single, DECISION, (receipt) => ({
        ...receipt,
        record: receipt.record.replace(APPROVAL.approval_id, "APR-5b1e09c77a43"),
      })),
    ),
    wrong(
      "a receipt at another place",
      "does not lead to the root",
      edit(single, DECISION, (receipt) => ({ ...receipt, hashes: single.receipts[0]!.hashes })),
    ),
    wrong(
      "another checkpoint",
      "is not one of its log",
      { ...single, checkpoint: single.checkpoint!.replace("ledger.example", "other.example") },
    ),
  ];
}

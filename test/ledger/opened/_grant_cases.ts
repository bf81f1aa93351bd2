import { type Case, close, good, wrong } from "./_case.ts";
import { ACTION, open } from "./_make.ts";
import { grant, type GrantDifference } from "./_make_grants.ts";

/** Makes the cases of standing grants, and of what went under them. */
export function makeGrantCases(): Case[] {
  const of = (difference: GrantDifference = {}) => open(grant(difference));
  const two = { needed: 2, others: { needed: 1 } } as const;
  const whole = of();
  const MADE = 1, USE = 2;
  return [
    good(
      "a grant and its uses",
      "the file has 2 uses, 2 of them opened, of acts that it names",
      whole,
    ),
    good("a grant's text", "| lets run    tool wipe⟨U+202E⟩disk, exactly as in", whole),
    good(
      "a grant that others have approved",
      "the others that it takes have approved it, by receipt #3",
      of(two),
    ),
    good(
      "a grant without the approval of the others",
      "the approval of the others that it takes is not in the file",
      of({ needed: 2 }),
    ),
    good("a grant that was revoked afterwards", "2 of them opened", of({ revoked: "after" })),
    good("uses alone", "how it was made is not in the file", {
      ...whole,
      receipts: whole.receipts.slice(USE),
    }),
    good(
      "a use whose act is not opened",
      "2 uses, 1 of them opened",
      close(whole, USE, ["action"]),
    ),
    good(
      "a grant whose text is not opened",
      "what the passkey signed is not opened: terms",
      close(whole, MADE, ["terms"]),
      { exit: 2 },
    ),
    wrong(
      "another grant's signature",
      "about another grant",
      of({ statement: { grant: "GRN-000000000000" } }),
    ),
    wrong(
      "other bounds in its receipt",
      "its receipt names other bounds than what was signed",
      of({ details: { max_uses: 3 } }),
    ),
    wrong(
      "a later end in its text",
      "names other bounds",
      of({ terms: { expires_at: "2027-07-08T12:00:00.000Z" } }),
    ),
    wrong(
      "more acts than were signed",
      "over another text",
      of({
        terms: { acts: [{ approval_id: "APR-1", what: "x", action_sha256: "0".repeat(64) }] },
        details: { acts: 1 },
      }),
    ),
    wrong(
      "a grant without user verification",
      "does not count (user_verification)",
      of({ deviations: { flags: 1 } }),
    ),
    wrong("a grant of another person", "its maker is another person", of({ maker: "Bob" })),
    wrong(
      "a grant by a passkey of another person",
      "not the one that was enrolled",
      of({ enrolledFor: "Bob" }),
    ),
    wrong(
      "an act that the grant does not name",
      "is of an act that it does not name",
      of({ action: { ...ACTION, more: 1 } }),
    ),
    wrong("one use too many", "the use #4 is one more than 2", of({ uses: [1, 2, 3] })),
    wrong(
      "two uses of one number",
      "the use #3 has the number of another one",
      of({ uses: [1, 1] }),
    ),
    wrong("a use that was not counted", "the use #2 has no number", of({ uses: [0] })),
    wrong(
      "a use after the end",
      "came after its end",
      of({ expiresAt: "2026-07-01T11:50:00.000Z" }),
    ),
    wrong("a use after it was revoked", "came after it was revoked", of({ revoked: "before" })),
    wrong("a use before it was made", "came before it was made", of({ isLate: true })),
    wrong(
      "a use before the others had approved it",
      "came before it was made and approved",
      of({ ...two, isLate: true }),
    ),
    wrong(
      "others who have approved another grant",
      "the others have approved another grant",
      of({ needed: 2, others: { needed: 1, grant: { max_uses: 1 } } }),
    ),
    wrong(
      "fewer others than it takes",
      "fewer others have approved it than it takes",
      of({ needed: 3, others: { needed: 1 } }),
    ),
  ];
}

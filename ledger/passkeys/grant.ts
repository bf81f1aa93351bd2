import { escapeInvisible } from "../../contract/text/mod.ts";
import type { GrantStatement, GrantTerms } from "../../contract/domain/mod.ts";
import type { Primitives } from "../rules/mod.ts";

/** Column where the text of a field begins. */
const INDENT = 12;

/** Returns the lines that people are shown of a standing grant. What a passkey signs is the hash of these lines. */
export function grantLines(terms: GrantTerms): string[] {
  const { acts, max_uses, needed } = terms;
  const fields: readonly (readonly [string, string])[] = [
    ["grant", terms.grant_id],
    ["lets run", acts.map(actText).join("\n")],
    ["at most", max_uses === 1 ? "once" : `${max_uses} times, all of them together`],
    ["until", terms.expires_at],
    ["made by", `${terms.made_by} for ${terms.tenant_id}`],
    ["takes", needed === 1 ? "one person" : `${needed} different people`],
  ];
  return fields.flatMap(([name, text]) =>
    escapeInvisible(text).split("\n").map((line, n) =>
      `${(n === 0 ? name : "").padEnd(INDENT)}${line}`.trimEnd()
    )
  );
}

function actText({ what, approval_id, action_sha256 }: GrantTerms["acts"][number]): string {
  return `${what}, exactly as in ${approval_id}\n  action_sha256 ${action_sha256}`;
}

/** Returns the statement by which a person makes a standing grant. */
export function grantStatementOf(
  { sha256 }: Pick<Primitives, "sha256">,
  terms: GrantTerms,
  nonce: string,
): GrantStatement {
  const shown = grantLines(terms).map((line) => `${line}\n`).join("");
  return {
    version: 1,
    grant: terms.grant_id,
    move: "granted",
    shown_sha256: sha256(new TextEncoder().encode(shown)),
    nonce,
  };
}

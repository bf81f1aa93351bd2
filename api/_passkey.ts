import type { Context } from "koa";
import type { PasskeyAnswer as Answer } from "../contract/domain/mod.ts";
import { Problem } from "../contract/mod.ts";
import { PasskeyAnswer } from "../operations/schemas/mod.ts";

/**
 * Returns a passkey's answer about the call, from the header `x-passkey`: base64url of its JSON. Without a session it counts
 * for nothing.
 *
 * @throws {Problem} `InvalidInput`
 */
export function readPasskey(ctx: Context): Answer | undefined {
  const text = ctx.get("x-passkey");
  if (text === "") return undefined;
  const answer = PasskeyAnswer.safeParse(parseJson(text));
  if (answer.success) return answer.data;
  const msg = "Expected base64url of {challenge_id, assertion} as JSON";
  const detail = [{ loc: ["header", "x-passkey"], msg, type: "value_error" }];
  throw new Problem("InvalidInput", msg, { body: { detail } });
}

function parseJson(base64url: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, "base64url").toString());
  } catch {
    return undefined;
  }
}

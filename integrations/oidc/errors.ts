import { AuthorizationResponseError, ResponseBodyError } from "openid-client";
import { OutboundFailed, OutboundRefused } from "../http/mod.ts";

/** The identity provider can't be reached, or is not what the settings say. */
export class OidcUnreachable extends Error {
  override readonly name = "OidcUnreachable";
}

/** An answer of the identity provider is not accepted, or it is a refusal. */
export class OidcRefused extends Error {
  override readonly name = "OidcRefused";
}

/** Codes of errors, the only texts of an answer that are repeated: the browser may have made up the rest. */
const CODE = /^[a-z_]{1,60}$/;

/** Returns the error that tells people what went wrong at the provider or on the way to it. */
export function describeFailure(issuer: string, cause: unknown): OidcRefused | OidcUnreachable {
  const causes = causesOf(cause);
  const outbound = causes.find((one) =>
    one instanceof OutboundFailed || one instanceof OutboundRefused
  );
  if (outbound) {
    return new OidcUnreachable(`${issuer} can't be reached: ${outbound.message}`, { cause });
  }
  const refusal = causes.find((one) =>
    one instanceof AuthorizationResponseError || one instanceof ResponseBodyError
  );
  if (refusal) {
    const code = CODE.test(refusal.error) ? refusal.error : "an unknown error";
    return new OidcRefused(`${issuer} has refused: ${code}`, { cause });
  }
  const reason = causes.at(-1)?.message ?? "it is not understood";
  return new OidcRefused(`The answer of ${issuer} is not accepted: ${reason}`, { cause });
}

/** Returns an error and its causes that are errors, the outermost first. */
function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

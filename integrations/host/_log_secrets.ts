import { redactSecrets } from "../../contract/mod.ts";

/** Start of a named secret, up to its value: `password=`, `"api_key": `. */
const NAME = String
  .raw`\b(\w{0,40}(?:password|passwd|secret|token|api_?key)\\?["']?\s{0,3}[=:]\s{0,3})`;
const QUOTED_VALUE = String.raw`(\\?["'])(?!\[secret\])(?:(?!\2).){1,2000}`;
const PLAIN_VALUE = String.raw`(?!\[secret\])[^\s"'\\,;&(){}[\]][^\s"'\\]{5,}`;

/** Patterns of secrets in lines of this and of other programs, each with its replacement. */
const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/gs,
    "[secret]",
  ],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:@/"]{0,200}):[^\s@/"]{1,500}@/gi, "$1:[secret]@"],
  [/\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}/gi, "$1 [secret]"],
  [/\b(?:sk-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?)/g, "[secret]"],
  [new RegExp(`${NAME}${QUOTED_VALUE}`, "gi"), "$1$2[secret]"],
  [new RegExp(`${NAME}${PLAIN_VALUE}`, "gi"), "$1[secret]"],
];

/** Replaces the secrets of a line by `[secret]`. */
export function redactLine(line: string): string {
  let text = redactSecrets(line);
  for (const [pattern, replacement] of SECRETS) text = text.replace(pattern, replacement);
  return text;
}

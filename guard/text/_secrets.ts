/** Keys, tokens and passwords that a text carries. */

/** Kinds of secrets by their names in verdicts, which never show the secret itself. */
const PATTERNS: readonly (readonly [string, RegExp])[] = [
  [
    "a private key",
    /-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d/,
  ],
  ["an AWS key", /\b(?:AKIA|ASIA|AIDA|AROA)[0-9A-Z]{16}\b/],
  [
    "an AWS secret",
    /aws_?secret_?(?:access_?)?key["']?\s{0,3}[=:]\s{0,3}["']?[A-Za-z0-9/+=]{30,}/i,
  ],
  ["a GitHub token", /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/],
  ["a GitLab token", /\bgl(?:pat|dt|rt|ptt|soat)-[A-Za-z0-9_-]{16,}/],
  ["a Slack token", /\bxox[abeprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com\/services\/T[A-Z0-9]{6,}/],
  [
    "an API key",
    /\b(?:sk|rk|pk)[-_](?:live|test|ant|proj|or)[-_][A-Za-z0-9_-]{16,}|\bsk-[A-Za-z0-9]{24,}/,
  ],
  ["a Google key", /\bAIza[0-9A-Za-z_-]{30,}|\bya29\.[0-9A-Za-z_-]{20,}|"private_key_id"/],
  [
    "a service's token",
    /\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|SG\.[\w-]{16,}\.[\w-]{16,}|hf_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{40,}|shp(?:at|ss)_[a-fA-F0-9]{24,}|hv[bs]\.[A-Za-z0-9_-]{20,}|slp_(?:free|partner|enterprise|admin)_[A-Za-z0-9_-]{8,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|SK[0-9a-f]{32})/,
  ],
  ["a signed token", /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{10,}/],
  [
    "an authorization header",
    /\bauthorization["']?\s{0,3}:\s{0,3}["']?(?:bearer|basic|token)\s{1,3}[A-Za-z0-9._~+/-]{12,}/i,
  ],
  [
    "a password in an address",
    /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{1,60}:(?!\*|x{3}|<|\$|%\(|password@|pass@|pwd@)[^\s@/]{3,80}@/i,
  ],
  ["a connection's key", /\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{20,}/],
];
const NAMED =
  /(?:^|[^\w])((?:[\w-]{0,30}[_-])?(?:password|passwd|passphrase|passwort|kennwort|pwd|pass|secret|token|api[_-]?key|apikey|access[_-]?key|client[_-]?secret|mot de passe|contrase(?:ñ|n)a|(?:ş|s)ifre|parola|senha|wachtwoord|пароль|密码|パスワード)(?:[_-]?(?:hash|value|key))?)["']?\s{0,3}(?:=|:|：|\bis\b|\bist\b|\best\b|\bes\b|は|是)\s{0,3}["']?([^\s"',;<>]{6,200})/giu;
const OPTION =
  /\b(?:sshpass\s{1,3}-p\s{0,3}|mysql\w{0,8}\s[^|;&\n]{0,80}-p(?=\S)|curl\s[^|;&\n]{0,200}(?:-u|--user)[ =]{1,2}[^\s:]{1,60}:|smbclient\s[^|;&\n]{0,120}-U\s{0,2}[^\s%]{1,40}%|redis-cli\s[^|;&\n]{0,80}-a\s{1,2}|ldap\w{3,8}\s[^|;&\n]{0,120}-w\s{1,2})(\S{4,})/i;
const PLACEHOLDER =
  /^[\W_]*$|^[*x•.·]+$|^<.*>?$|^[$%{]|redacted|masked|hidden|changeme|placeholder|example|your[_-]|^(?:none|null|true|false|empty|unset|missing|invalid|incorrect|expired|wrong|required|rejected|denied|failed|unknown|not|reset|rotated?|changed|rotation|policy|manager|service|expiry|refresh|validation|error|file|store|auth\w*|bucket|limit\w*)\b/i;

/** Returns the names of the kinds of secrets that a text carries. */
export function findSecrets(text: string): string[] {
  const found = new Set<string>();
  for (const [name, pattern] of PATTERNS) if (pattern.test(text)) found.add(name);
  for (const [, , value] of text.matchAll(NAMED)) {
    if (isSecret(value!)) found.add("a password or token");
  }
  const option = OPTION.exec(text)?.[1];
  if (option !== undefined && !PLACEHOLDER.test(option)) found.add("a password in an option");
  return [...found];
}

/** Tells a secret from a word or a placeholder: it has letters with digits or marks, or is long. */
function isSecret(value: string): boolean {
  if (PLACEHOLDER.test(value) || /^[a-z]+[.:;,!?)]?$/i.test(value) && value.length < 20) {
    return false;
  }
  if (/^(\d{1,3}\.){3}\d|^\d+(ms|s|m|h|d|%)?[.,;)]?$|^\d{4}-\d\d-\d\d|^https?:|^\//.test(value)) {
    return false;
  }
  return /\d/.test(value) && /[a-z]/i.test(value) || /[!@#$%^&*+=]/.test(value) ||
    value.length >= 20;
}

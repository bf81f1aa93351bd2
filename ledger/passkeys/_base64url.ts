const FORM = /^[A-Za-z0-9_-]*$/;

/** Returns bytes as base64url without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Returns the bytes of base64url without padding; undefined: it is none, or not in its one form. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!FORM.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return toBase64Url(bytes) === text ? bytes : undefined;
}

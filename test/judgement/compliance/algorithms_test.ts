import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readAlgorithms } from "../../../judgement/compliance/mod.ts";
import { ROOT } from "../../../config.ts";

/** Folders with sources that use no cryptography of the product. */
const SKIPPED = ["bench", "dist", "docs", "node_modules", "test"];

const PATTERNS: Readonly<Record<string, RegExp>> = {
  "md5": /createHash\("md5"\)/,
  "sha-1": /createHash\("sha1"\)|\bsha1\b/,
  "sha-256": /(?:createHash|hash)\("sha256"|\bsha256\b/,
  "sha-384": /createHash\("sha384"\)/,
  "sha-512": /createHash\("sha512"\)|\bsha512\b/,
  "ecdsa-p-256": /"ECDSA", namedCurve: "P-256"/,
  "rsa-sha-256": /"RSASSA-PKCS1-v1_5", hash: "SHA-256"/,
  "hmac-sha-256": /createHmac\("sha256"/,
  "aes-256-gcm": /createCipheriv\("aes-256-gcm"/,
  "ed25519": /ed25519/i,
  "keccak-256": /keccak_256/,
  "ripemd-160": /ripemd160/,
  "scram-sha-256": /scram-sha-256/,
  "ctr-drbg": /random(?:Bytes|FillSync|UUID)/,
};

describe("readAlgorithms()", () => {
  const algorithms = readAlgorithms();
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\./.test(entry.name))
    .map(({ name }) => name).filter((name) => !SKIPPED.includes(name));
  const sources = new Map(
    folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => join(folder, name))
    ).map((path) => [path, readFileSync(join(ROOT, path), "utf8")]),
  );

  for (const { ref, where } of algorithms) {
    it(`names files that use ${ref}`, () => {
      for (const path of where) assert.match(sources.get(path) ?? "", PATTERNS[ref]!, path);
    });
  }

  it("lists every algorithm that sources name", () => {
    const calls = [...sources.values()].flatMap((text) => [
      ...text.matchAll(/\bcreate(?:Hash|Hmac|Cipheriv)\(\s*"([\w-]+)"/g),
    ]);
    const used = calls.map(([call, name]) => call.includes("Hmac") ? `hmac-${name}` : name!);
    const known = new Set(algorithms.map(({ ref }) => ref.replaceAll("-", "")));
    const unlisted = used.filter((name) => !known.has(name.replaceAll("-", "")));
    assert.deepEqual([...new Set(unlisted)], []);
  });
});

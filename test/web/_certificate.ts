/** A certificate for 127.0.0.1 that nobody but the test that made it trusts. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** Both in PEM form. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const HOUR = 3_600_000;

/** Makes a self-signed certificate that is valid for an hour. @see RFC 5280 §4.1 */
export function testCertificate(): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(oid("2.5.4.3"), der(0x0c, Buffer.from("test")))));
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime(Date.now() - HOUR), utcTime(Date.now() + HOUR)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(oid("2.5.29.17"), der(0x04, ALTERNATIVE_NAMES)))),
  );
  const signature = Buffer.concat([Buffer.of(0), sign("sha256", tbs, privateKey)]);
  const certificate = sequence(tbs, ECDSA_WITH_SHA256, der(0x03, signature));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${
      certificate.toString("base64")
    }\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

const ALTERNATIVE_NAMES = sequence(der(0x87, Buffer.of(127, 0, 0, 1)));

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

/** @see ITU-T X.690 §8.1 */
function der(tag: number, body: Buffer): Buffer {
  const { length } = body;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), body]);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  const bytes = others.flatMap((arc) => {
    const groups = [arc & 127];
    for (let rest = arc >> 7; rest > 0; rest >>= 7) groups.unshift(rest & 127 | 128);
    return groups;
  });
  return der(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

function utcTime(time: number): Buffer {
  const digits = new Date(time).toISOString().replace(/\D/g, "");
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

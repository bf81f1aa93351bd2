import assert from "node:assert/strict";
import { parseMail } from "../../../integrations/mail/mod.ts";
import { bombOf, MAIL_BOMB, MAIL_OF_EMPTY_PARTS, mailOfDepth } from "./_bombs.ts";

const LINES = Buffer.from(
  "From: stranger@example.net\r\nSubject: Boom\r\n\r\n" + "\n".repeat(9_000_000),
);
const HEADERS = Buffer.from(
  "From: stranger@example.net\r\nSubject: Boom\r\n" + "A: b\r\n".repeat(300_000),
);

describe("a mail that is built to exhaust its reader", () => {
  const BOMBS: Readonly<Record<string, readonly [Buffer, code: RegExp]>> = {
    "9.5 MiB of empty parts": [bombOf(MAIL_OF_EMPTY_PARTS), /^too_many_parts$/],
    "parts within parts within parts": [mailOfDepth(60), /^malformed$/],
    "more boundaries than parts": [mailOfDepth(300), /^too_deep$/],
    "millions of lines": [LINES, /^too_many_lines$/],
    "headers without an end": [HEADERS, /^malformed$/],
    "HTML that takes minutes": [bombOf(MAIL_BOMB), /^too_slow$/],
  };
  for (const [about, [bytes, code]] of Object.entries(BOMBS)) {
    it(`is refused with its reason: ${about}`, async () => {
      const { refusal, text, from, subject } = await parseMail(bytes, "stranger@example.net");
      assert.match(refusal!.code, code);
      assert.equal(text, "");
      assert.deepEqual([from?.text, subject], ["stranger@example.net", "Boom"]);
    });
  }

  it("is not a large one with attachments, which is read", async () => {
    const line = `${"A".repeat(76)}\r\n`;
    const { refusal, text } = await parseMail(Buffer.from(
      "From: ada@example.org\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
        "--b\r\nContent-Type: text/plain\r\n\r\nSee below\r\n-- \r\nAda\r\n" +
        `--b\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${
          line.repeat(120_000)
        }--b--\r\n`,
    ));
    assert.equal(refusal, null);
    assert.match(text, /^See below/);
  });

  it("is not a long one with many lines of dashes, which is read", async () => {
    const { refusal } = await parseMail(Buffer.from(
      "From: ada@example.org\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n" +
        "--- a/file\r\n-- comment\r\n".repeat(50_000) + "--b--\r\n",
    ));
    assert.equal(refusal, null);
  });
});

import assert from "node:assert/strict";
import { parseMail } from "../../../integrations/mail/mod.ts";

const german = "Störung im Gebäude";
const latin1 = Buffer.from(german, "latin1");
const utf8 = Buffer.from(german);
const russian = "Сервер не отвечает";
const koi8 = Buffer.from("f3c5d2d7c5d220cec520cfd4d7c5dec1c5d4", "hex");
const cp1251 = Buffer.from("d1e5f0e2e5f020ede520eef2e2e5f7e0e5f2", "hex");
const japanese = "障害です";
const iso2022jp = Buffer.from("1b24423e633332244724391b2842", "hex");
const shiftJis = Buffer.from("8fe18a5182c582b7", "hex");
const eucJp = Buffer.from("bee3b3b2a4c7a4b9", "hex");
const chinese = "联通";
const gbk = Buffer.from("c1aacda8", "hex");
const utf16 = (text: string, mark = true) => Buffer.from(mark ? `\ufeff${text}` : text, "utf16le");

/** A text as its bytes are sent, its label, and its words. */
const TEXTS: readonly (readonly [about: string, bytes: Buffer, label: string, text: string])[] = [
  ["UTF-8 without a label", utf8, "", german],
  ["UTF-8 labelled ISO-8859-1", utf8, "; charset=iso-8859-1", german],
  ["UTF-8 labelled KOI8-R", utf8, "; charset=koi8-r", german],
  ["UTF-8 labelled x-user-defined", utf8, "; charset=x-user-defined", german],
  ["UTF-8 labelled unknown-8bit", utf8, "; charset=unknown-8bit", german],
  ["UTF-8 labelled UTF-16", utf8, "; charset=utf-16", german],
  [
    "UTF-8 with a byte that is broken",
    Buffer.concat([utf8, Buffer.from([0xe2, 0x82])]),
    "; charset=utf-8",
    `${german}\ufffd`,
  ],
  ["Latin-1 without a label", latin1, "", german],
  ["Latin-1 labelled UTF-8", latin1, "; charset=utf-8", german],
  ["Latin-1 labelled us-ascii", latin1, "; charset=us-ascii", german],
  ["Latin-1 labelled unknown-8bit", latin1, "; charset=unknown-8bit", german],
  ["Latin-1 labelled x-user-defined", latin1, "; charset=x-user-defined", german],
  ["Latin-1 labelled 'ISO_8859-1:1987'", latin1, "; charset='ISO_8859-1:1987'", german],
  ["Latin-1 with a label of Windows", latin1, '; CHARSET="CP-1252"', german],
  ["KOI8-R in quotes and capitals", koi8, '; charset="KOI8-R"', russian],
  ["Windows-1251 labelled win-1251", cp1251, "; charset=win-1251", russian],
  ["ISO-2022-JP", iso2022jp, "; charset=ISO-2022-JP", japanese],
  ["ISO-2022-JP without a label", iso2022jp, "", japanese],
  ["Shift_JIS", shiftJis, "; charset=Shift_JIS", japanese],
  ["EUC-JP", eucJp, "; charset=x-euc-jp", japanese],
  ["GBK that looks like UTF-8", gbk, "; charset=gb2312", chinese],
  ["GB18030", gbk, "; charset=GB18030", chinese],
  ["UTF-16 with a mark", utf16(german), "; charset=utf-16", german],
  ["UTF-16 without a mark, labelled UTF-16", utf16(german, false), "; charset=utf-16", german],
  ["UTF-16, big-endian", utf16(german, false).swap16(), "; charset=utf-16", german],
  ["UTF-16 without a label", utf16(german, false), "", german],
  ["UTF-8 with a mark", Buffer.from(`\ufeff${german}`), "; charset=iso-8859-1", german],
];

describe("the text of a mail", () => {
  const read = async (head: string, body: Buffer) =>
    await parseMail(
      Buffer.concat([Buffer.from(`From: a@b.example\r\n${head}\r\n\r\n`, "latin1"), body]),
    );

  for (const [about, bytes, label, text] of TEXTS) {
    it(`can be read in ${about}`, async () => {
      const head = `Content-Type: text/plain${label}\r\nContent-Transfer-Encoding: base64`;
      const body = Buffer.from(bytes.toString("base64").replace(/.{76}/g, "$&\r\n"));
      assert.equal((await read(head, body)).text, text);
    });
  }

  it("can be read where HTML names its charset itself", async () => {
    const html = Buffer.concat([Buffer.from('<meta charset="koi8-r"><p>'), koi8]);
    assert.equal((await read("Content-Type: text/html", html)).text, russian);
  });

  const SUBJECTS: Readonly<Record<string, string | Buffer>> = {
    "in UTF-8, as it is": utf8,
    "in Latin-1, as it is": latin1,
    "labelled wrongly": "=?iso-8859-1?Q?St=C3=B6rung_im_Geb=C3=A4ude?=",
    "with a label that nobody knows": "=?x-unknown?Q?St=F6rung_im_Geb=E4ude?=",
    "with a language": "=?utf-8*de?Q?St=C3=B6rung?= im =?utf-8*de?B?R2Viw6R1ZGU=?=",
    "with a character between two words":
      "=?utf-8?Q?St=C3?=\r\n =?utf-8?Q?=B6rung im Geb=C3=A4ude?=",
    "in words of two charsets": "=?utf-8?Q?St=C3=B6rung_?= =?latin-1?Q?im_Geb=E4ude?=",
  };
  for (const [about, subject] of Object.entries(SUBJECTS)) {
    it(`has a subject that can be read ${about}`, async () => {
      const head = Buffer.concat([
        Buffer.from("From: a@b.example\r\nSubject: "),
        Buffer.from(subject as string),
      ]);
      const mail = await parseMail(Buffer.concat([head, Buffer.from("\r\n\r\nHello\r\n")]));
      assert.equal(mail.subject, german);
    });
  }
});

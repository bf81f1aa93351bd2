import assert from "node:assert/strict";
import { readMail } from "../../../integrations/mail/mod.ts";
import { measureCpuMs } from "../../_time.ts";

const LENGTH = 200_000;

describe("readMail()", () => {
  const parse = (html: string) =>
    readMail(Buffer.from(`From: ada@example.org\r\nContent-Type: text/html\r\n\r\n${html}`), {
      envelopeFrom: null,
    });

  it("reads the words of HTML, a paragraph a line, and not what nobody reads", async () => {
    const html =
      "<head><title>T</title></head><p>It is <b>down</b></p><script>if (a < b) x()</script>" +
      "<p>1 &lt; 2 &amp; 3</p><STYLE>p { }</style ><header>again</header>";
    const { text } = await parse(html);
    assert.deepEqual(text.split(/\s*\n\s*/), ["It is down", "1 < 2 & 3", "again"]);
  });

  for (const piece of ["<", "<script", "<br ", "<p", "<style></style", "&lt;", "<head>"]) {
    it(`takes no longer for ${LENGTH} characters of ${piece} than for others`, async () => {
      const cpuMs = await measureCpuMs(async () => {
        const { text } = await parse(piece.repeat(LENGTH / piece.length));
        assert.ok(text.length <= LENGTH);
      });
      assert.ok(cpuMs < 5_000, `${cpuMs} ms`);
    });
  }
});

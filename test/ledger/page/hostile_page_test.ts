import { assertHarmless, HOSTILE, HOSTILE_TEXT } from "../../_hostile.ts";
import { usePages } from "./_pages.ts";

describe("what others have had sealed, on the ledger's pages", () => {
  const pages = usePages();
  const INCIDENT = "INC-0000000000ee";
  before(async () => {
    for (const [n, text] of HOSTILE.entries()) {
      const details = { [text]: HOSTILE_TEXT, code: text, check: text, list: HOSTILE };
      const fields = { actor: text, action: text, outcome: text, details };
      await pages.seal({ id: `hostile-${n}`, subject: text, ...fields });
      await pages.seal({ id: `told-${n}`, category: "api_seal", subject: INCIDENT, ...fields });
    }
  });

  async function opensHarmless(path: string): Promise<void> {
    await pages.open(path);
    await assertHarmless(pages.tab.page, pages.tab.problems, path);
  }

  it("is text on the overview, with its lists, filters and searches", async () => {
    await opensHarmless("/");
    for (const text of HOSTILE) {
      const path = `/?category=${encodeURIComponent(text)}`;
      await pages.tab.page.goto(pages.address + path);
      await assertHarmless(pages.tab.page, pages.tab.problems, path);
    }
  });

  for (const [n, text] of HOSTILE.entries()) {
    it(`is text on the page of its receipt: ${text}`, async () => {
      await opensHarmless(`/receipt/hostile-${n}`);
    });
  }

  it("is text in the story of an incident", async () => {
    await opensHarmless(`/incidents/${INCIDENT}`);
  });
});

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../../config.ts";

const PAGES = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "ledger/README.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md")).map((name) => join("docs", name)),
];

describe("links in the docs", () => {
  for (const page of PAGES) {
    it(`of ${page} lead to files and headings that exist`, () => {
      const broken = linksOf(page).filter((link) => {
        const [path = "", heading] = link.split("#");
        const target = path === "" ? page : join(dirname(page), path);
        if (!existsSync(join(ROOT, target))) return true;
        return heading !== undefined && !headingsOf(target).includes(heading);
      });
      assert.deepEqual(broken, []);
    });
  }
});

/** Returns the links of a page to other places of the project. */
function linksOf(page: string): string[] {
  const text = withoutCode(page);
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** Returns the headings of a page as links name them. */
function headingsOf(page: string): string[] {
  return [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!.toLowerCase().replace(/[^\p{L}\d\s_-]/gu, "").replace(/\s/g, "-")
  );
}

function withoutCode(page: string): string {
  return readFileSync(join(ROOT, page), "utf8").replace(/^ *```.*?^ *```$/gms, "");
}

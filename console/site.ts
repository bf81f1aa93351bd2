import type Router from "@koa/router";
import { type Asset, bindAssets, loadAssets } from "../runtime/web/mod.ts";

/** Everything is loaded from the gateway itself, nothing is inline, and no text becomes markup or script. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const NAMES = ["app", "approval", "incident", "governance", "setup", "console", "icon"] as const;

/** The files that pages load. */
type Assets = Readonly<Record<typeof NAMES[number], Asset>>;

/** The scripts of the pages, by their paths; an approval's stands alone, so that it is there at once on a phone. */
const PAGES: Readonly<Record<string, keyof Assets>> = {
  "/console": "app",
  "/console/sign-in": "app",
  "/console/sign-in/answer": "app", // where the identity provider sends browsers back to
  "/console/incidents": "app",
  "/console/incidents/:id": "incident",
  "/console/governance": "governance",
  "/console/grants": "app",
  "/console/setup": "setup",
  "/console/you": "app",
  "/console/approvals": "app",
  "/console/approvals/:id": "approval",
};

/** Binds the pages to a router. @throws {Error} their files are not built */
export function bindConsole<S>(router: Router<S>): void {
  const assets = loadAssets("console", "/console/assets/", NAMES);
  for (const [path, script] of Object.entries(PAGES)) {
    router.get(path, path, (ctx) => {
      ctx.set({
        "content-security-policy": POLICY,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy":
          "publickey-credentials-get=(self), publickey-credentials-create=(self)",
        "cache-control": "no-cache",
      });
      ctx.type = "text/html; charset=utf-8";
      ctx.body = printShell(assets, assets[script], answersOf(script, ctx.params.id));
    });
  }
  bindAssets(router, assets, POLICY);
  router.get("/", async (ctx, next) => { // programs get what the operation at this path answers
    if (ctx.accepts("json", "html") !== "html") return await next();
    ctx.redirect("/console");
    ctx.status = 303;
  });
}

/** Returns the answers that a page needs first: its browser asks for them while the script is on its way. */
function answersOf(script: keyof Assets, id?: string): readonly string[] {
  if (script !== "approval" || !id || !/^APR-[0-9a-f]+$/.test(id)) return [];
  return ["/v1/console/session", `/v1/approvals/${id}/info`];
}

/** Prints a page, which its script fills once it has asked with the session's cookie. */
function printShell(
  { console: style, icon }: Assets,
  script: Asset,
  answers: readonly string[],
): string {
  const early = answers.map((path) =>
    `<link rel="preload" as="fetch" href="${path}" crossorigin="anonymous">\n`
  ).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>sealoop</title>
<link rel="icon" href="${icon.path}" type="image/svg+xml">
<link rel="stylesheet" href="${style.path}" integrity="${style.integrity}">
<script src="${script.path}" integrity="${script.integrity}" defer></script>
${early}</head>
<body>
<noscript>The console needs JavaScript. Approvals can also be decided by npm run approvals.</noscript>
</body>
</html>
`;
}

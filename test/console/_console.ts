/** A tab of a real browser on the console of a platform with people. */
import { readFileSync } from "node:fs";
import type { CDPSession, KeyInput } from "puppeteer-core";
import { newPage, type TestPage } from "../_browser.ts";
import { eventually } from "../_time.ts";
import type { People } from "../api/_people.ts";
import { signInLink } from "../api/_sign_in.ts";

const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** Widths at which pages are looked at: a phone, a tablet, a desk. */
export const WIDTHS = [360, 768, 1400] as const;
/** Colours in which pages are looked at. */
export const SCHEMES = ["light", "dark"] as const;

/** A tab of a browser. */
export interface ConsoleTab extends Pick<TestPage, "page" | "problems" | "close"> {
  readonly devtools: CDPSession;
  /** Opens a page, and waits until it shows a text. @returns what it shows */
  open(path: string, text: RegExp): Promise<string>;
  /** Waits until the page shows a text. @returns what it shows */
  shows(text: RegExp): Promise<string>;
  /** Clicks what has this name for a screen reader. */
  press(name: string): Promise<void>;
  /** Types keys of the keyboard, one after the other. */
  keys(...keys: readonly KeyInput[]): Promise<void>;
  /** Signs a person in. @param gateway address that the browser uses; by default the platform's own */
  signIn(who?: string, gateway?: string): Promise<void>;
  /** Puts an authenticator into the browser, whose person is there and verified. */
  addAuthenticator(): Promise<string>;
  /** Returns what hinders people with assistive technology, or does not fit the width. */
  barriers(): Promise<string[]>;
}

/** Opens one. */
export async function openConsole(people: People): Promise<ConsoleTab> {
  const tab = await newPage();
  const { page, problems, close } = tab;
  const devtools = await page.createCDPSession();
  await devtools.send("WebAuthn.enable");
  const shows = async (text: RegExp) =>
    await eventually(async () => {
      const shown = String(await page.evaluate("document.body.innerText").catch(() => ""));
      return text.test(shown) ? shown : undefined;
    }).catch(async (cause) => {
      const shown = await page.evaluate("document.body.innerText");
      throw new Error(`It does not show ${text}, but:\n${shown}`, { cause });
    });
  const open = async (path: string, text: RegExp) => {
    await page.goto(people.platform.urls.gateway + path);
    return await shows(text);
  };
  const press = (name: string) => page.locator(`::-p-aria(${name})`).click();
  return {
    page,
    problems,
    close,
    devtools,
    open,
    shows,
    press,
    async keys(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    async signIn(who = "ann", gateway = people.platform.urls.gateway) {
      await page.goto("about:blank");
      await page.goto(`${gateway}/console/sign-in#${await signInLink(people, who)}`);
      await shows(/Go on only if you asked/);
      await press("Sign in by this link");
      await shows(/waits? for|Nothing waits/);
    },
    async addAuthenticator() {
      const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
        options: {
          protocol: "ctap2",
          transport: "internal",
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      return authenticatorId;
    },
    async barriers() {
      await page.evaluate(AXE);
      const violations = await page.evaluate(async () => {
        // deno-lint-ignore no-explicit-any -- a script of another project, in the page
        const { violations } = await (globalThis as any).axe.run();
        return violations.map((one: { id: string; nodes: { html: string }[] }) =>
          `${one.id}: ${one.nodes[0]?.html}`
        ) as string[];
      });
      const overflow = Number(
        await page.evaluate("document.documentElement.scrollWidth - innerWidth"),
      );
      return overflow > 0 ? [...violations, `${overflow} px too wide`] : violations;
    },
  };
}

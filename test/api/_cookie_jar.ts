/** A browser as far as signing in needs one: it keeps cookies by host, and follows no redirect by itself. */
export interface Browser {
  /** Sends a request of a page of the same origin, unless the headers say otherwise. */
  send(url: string, init?: RequestInit): Promise<Response>;
  /** Follows redirects, as navigations do, until an address begins so. @returns that address */
  navigate(url: string, until: string): Promise<URL>;
  /** Returns the value of a cookie. */
  cookie(url: string, name: string): string | undefined;
  /** Plants a cookie, as somebody with access to the device could. */
  plant(url: string, name: string, value: string): void;
}

const MAX_REDIRECTS = 20;

/** Opens one without cookies. */
export function openBrowser(): Browser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { hostname } = new URL(url); // cookies don't tell ports apart
    const jar = jars.get(hostname) ?? new Map<string, string>();
    jars.set(hostname, jar);
    return jar;
  };
  const browser: Browser = {
    async send(url, init = {}) {
      const jar = jarOf(url);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
      const headers = new Headers(init.headers);
      if (!headers.has("sec-fetch-site")) headers.set("sec-fetch-site", "same-origin");
      if (cookie) headers.set("cookie", cookie);
      const answer = await fetch(url, { redirect: "manual", ...init, headers });
      for (const line of answer.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        if (/max-age=0|expires=thu, 01 jan 1970/i.test(line) || value === "") jar.delete(name!);
        else jar.set(name!, value!);
      }
      return answer;
    },
    async navigate(url, until) {
      let next = url;
      for (let n = 0; n < MAX_REDIRECTS; n++) {
        if (next.startsWith(until)) return new URL(next);
        const answer = await browser.send(next, { headers: { "sec-fetch-site": "cross-site" } });
        const location = answer.headers.get("location");
        if (!location) throw new Error(`${next} answers ${answer.status}: ${await answer.text()}`);
        await answer.body?.cancel();
        next = new URL(location, next).href;
      }
      throw new Error(`${url} does not lead to ${until}`);
    },
    cookie: (url, name) => jarOf(url).get(name),
    plant: (url, name, value) => void jarOf(url).set(name, value),
  };
  return browser;
}

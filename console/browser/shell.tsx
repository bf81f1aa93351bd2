import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "./api.ts";
import { liveness } from "./live.ts";
import type { Person } from "./shapes.ts";
import { durationText } from "./time.tsx";

const PAGES = [["/console", "Now"], ["/console/incidents", "Incidents"]] as const;

/** What every page has around its content. */
export function Page({ title, person, children }: {
  readonly title: string;
  readonly person: Person | undefined;
  readonly children: ComponentChildren;
}) {
  useEffect(() => {
    document.title = `${title} · sealoop`;
  }, [title]);
  return (
    <>
      <a class="skip" href="#main">Skip to content</a>
      <header class="top">
        <a class="name" href="/console">sealoop</a>
        <nav aria-label="Pages">
          {PAGES.map(([href, name]) => (
            <a
              key={href}
              href={href}
              aria-current={location.pathname === href ? "page" : undefined}
            >
              {name}
            </a>
          ))}
          {person && <a href="/console/you">{person.principal}</a>}
        </nav>
        {person && <Badge />}
      </header>
      <main id="main" tabIndex={-1}>{children}</main>
    </>
  );
}

/** Whether the page is up to date: it never says so of what it doesn't know. */
function Badge() {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const { live, since } = liveness.value;
  return (
    <p class={live ? "badge live" : "badge away"} role="status">
      {live ? "live" : `offline for ${durationText(since, now)}`}
    </p>
  );
}

/** Signs the person out. */
export async function signOut(): Promise<void> {
  await call("DELETE", "/v1/console/session");
  location.assign("/console/sign-in");
}

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "./api.ts";
import { Badge } from "./badge.tsx";
import { Keys } from "./keys.tsx";
import type { Person } from "./shapes.ts";
import { Stopped } from "./stopped.tsx";

const PAGES = [
  ["/console", "Now"],
  ["/console/incidents", "Incidents"],
  ["/console/governance", "Governance"],
  ["/console/setup", "Setup"],
] as const;

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
      {person && <Stopped person={person} />}
      <main id="main" tabIndex={-1}>{children}</main>
      <Keys />
    </>
  );
}

/** Signs the person out, at the identity provider too, where it offers that. */
export async function signOut(): Promise<void> {
  const { url } = await call<{ url: string | null }>("GET", "/v1/console/session/provider");
  await call("DELETE", "/v1/console/session");
  location.assign(url ?? "/console/sign-in");
}

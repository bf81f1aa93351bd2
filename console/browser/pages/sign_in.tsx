import { signal } from "@preact/signals";
import { call } from "../api.ts";
import { Page } from "../shell.tsx";

const problem = signal("");
const LOOPBACK = new Set(["127.0.0.1", "[::1]"]);

/** Signs in by the link that was opened; its secret is behind `#`, which no server and no log ever sees. */
async function signIn(): Promise<void> {
  const link = location.hash.slice(1);
  if (LOOPBACK.has(location.hostname)) { // passkeys are for names, not addresses
    location.replace(Object.assign(new URL(location.href), { hostname: "localhost" }).href);
    return;
  }
  if (link === "") return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    await call("POST", "/v1/console/session", { link });
    const to = new URLSearchParams(location.search).get("to") ?? "";
    location.replace(/^\/console(\/[\w/-]*)?(\?[\w=&.%-]*)?$/.test(to) ? to : "/console");
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

/** Tells how to sign in. */
export function SignInPage() {
  return (
    <Page title="Sign in" person={undefined}>
      <h1>Sign in</h1>
      {problem.value && <p class="problem" role="alert">{problem.value}</p>}
      <p>
        On the platform's machine, <code>npm run console</code>{" "}
        prints a link that signs you in, once.
      </p>
    </Page>
  );
}

void signIn();

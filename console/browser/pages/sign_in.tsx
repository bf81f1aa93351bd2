import { signal } from "@preact/signals";
import { call } from "../api.ts";
import { Page } from "../shell.tsx";

/** How people can sign in. */
interface Ways {
  readonly provider: { readonly issuer: string; readonly problem: string | null } | null;
}

const LOOPBACK = new Set(["127.0.0.1", "[::1]"]);
/** Pages of the console, and nothing else, as the gateway takes them. */
const CONSOLE_PAGE = /^\/console(\/[\w/-]*)?(\?[\w=&%.+-]*)?$/;

const problem = signal("");
const ways = signal<Ways | undefined>(undefined);
/** Secret of the link that was opened; it is behind `#`, which no server and no log ever sees. */
const link = signal("");
const isBusy = signal(false);

function wantedPage(): string {
  const to = new URLSearchParams(location.search).get("to") ?? "";
  return CONSOLE_PAGE.test(to) ? to : "/console";
}

/** Does one thing at a time, and shows why it failed. */
async function attempt(work: () => Promise<void>): Promise<void> {
  isBusy.value = true;
  problem.value = "";
  try {
    await work();
  } catch (error) {
    problem.value = (error as Error).message;
  } finally {
    isBusy.value = false;
  }
}

/** Signs in by the link. A click does it, so that no page and no program that opens links signs a person in as somebody. */
const useLink = () =>
  attempt(async () => {
    const secret = link.value;
    link.value = "";
    await call("POST", "/v1/console/session", { link: secret });
    location.replace(wantedPage());
  });

/** Goes to the identity provider. */
const useProvider = () =>
  attempt(async () => {
    const { url } = await call<{ url: string }>("POST", "/v1/console/sign-in", {
      page: wantedPage(),
    });
    const back = new URL(new URL(url).searchParams.get("redirect_uri") ?? location.href);
    if (back.origin !== location.origin) { // the cookie that binds the sign-in to this browser would not be sent there
      throw new Error(`Open the console at ${back.origin}/console to sign in by the provider`);
    }
    location.assign(url);
  });

/** Takes the provider's answer, with which the browser was sent back. */
const useAnswer = (answer: string) =>
  attempt(async () => {
    const { page } = await call<{ page: string }>("POST", "/v1/console/sign-in/answer", { answer });
    location.replace(CONSOLE_PAGE.test(page) ? page : "/console");
  });

async function start(): Promise<void> {
  if (LOOPBACK.has(location.hostname)) { // passkeys are for names, not addresses
    location.replace(Object.assign(new URL(location.href), { hostname: "localhost" }).href);
    return;
  }
  const answer = location.search.slice(1);
  const isAnswer = location.pathname.endsWith("/answer") && answer !== "";
  link.value = location.hash.slice(1);
  history.replaceState(
    null,
    "",
    isAnswer ? "/console/sign-in" : location.pathname + location.search,
  );
  if (isAnswer) await useAnswer(answer);
  ways.value = await call<Ways>("GET", "/v1/console/sign-in").catch((error: Error) => {
    problem.value ||= error.message;
    return undefined;
  });
}

/** Asks people how they want to sign in. */
export function SignInPage() {
  const provider = ways.value?.provider;
  return (
    <Page title="Sign in" person={undefined}>
      <h1>Sign in</h1>
      {problem.value && <p class="problem" role="alert">{problem.value}</p>}
      {link.value
        ? (
          <>
            <p>
              Your link signs you in as the person whom it was made for. Go on only if you asked for
              it.
            </p>
            <button type="button" disabled={isBusy.value} onClick={useLink}>
              Sign in by this link
            </button>
          </>
        )
        : (
          <>
            {provider && <Provider issuer={provider.issuer} problem={provider.problem} />}
            <p>
              On the platform's machine, <code>npm run console</code>{" "}
              prints a link that signs you in, once.
            </p>
          </>
        )}
    </Page>
  );
}

function Provider(
  { issuer, problem }: { readonly issuer: string; readonly problem: string | null },
) {
  if (problem) return <p class="problem">Nobody can sign in by the identity provider: {problem}</p>;
  return (
    <p>
      <button type="button" disabled={isBusy.value} onClick={useProvider}>
        Sign in with {new URL(issuer).host}
      </button>
    </p>
  );
}

void start();

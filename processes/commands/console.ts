/** `npm run console`: prints a link that signs the user in to the console, once. */
import { userSignInLink } from "../_sign_in.ts";
import { loadRunningConfig } from "../_running.ts";
import { runCommand } from "./_command.ts";

const USAGE = `Usage: npm run console [-- --recover]

Prints a link that signs you in to the console, once, within ten minutes. At the first use you are issued a key that may
approve, with your user name as its principal.
--recover: for whoever has lost their passkeys: revokes them, and another one can be enrolled after the link. It is sealed.`;

await runCommand(USAGE, {
  recover: { type: "boolean", default: false },
}, async (openStore, { options }) => {
  const config = loadRunningConfig(process.env);
  const recovers = options.recover === true;
  console.log(await userSignInLink(openStore, config, { recovers }));
});

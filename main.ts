/** `npm start`: brings the whole platform up as one tree of processes, keeps it running, and takes it down again. */
import { runPlatform } from "./processes/supervisor/mod.ts";
import { runToEnd } from "./processes/mod.ts";

await runToEnd(() => runPlatform(process.env, process.stdout));

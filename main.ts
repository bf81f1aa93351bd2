/** `npm start`: brings the whole platform up as one tree of processes, keeps it running, and takes it down again. */
import { runPlatform, runToEnd } from "./processes/supervisor/mod.ts";

await runToEnd(() => runPlatform(process.env, process.stdout));

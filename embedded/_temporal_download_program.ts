/** Downloads a Temporal CLI with the SDK. Arguments: its version; the folder. */
import { TestWorkflowEnvironment } from "@temporalio/testing";

const [version, downloadDir] = process.argv.slice(2);
const environment = await TestWorkflowEnvironment.createLocal({
  server: {
    executable: { type: "cached-download", version: `v${version!}`, downloadDir: downloadDir! },
  },
});
await environment.teardown();

/** The page of the first day's steps, and of the platform's parts and figures. */
import { render } from "preact";
import { SetupPage } from "./setup/page.tsx";

render(<SetupPage />, document.body);

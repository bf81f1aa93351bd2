/** The pages of the console that have no script of their own, by their paths. */
import { render } from "preact";
import { ApprovalsPage } from "./pages/approvals.tsx";
import { GrantsPage } from "./pages/grants.tsx";
import { IncidentsPage } from "./pages/incidents.tsx";
import { NowPage } from "./pages/now.tsx";
import { SignInPage } from "./pages/sign_in.tsx";
import { YouPage } from "./pages/you.tsx";

const PAGES = {
  "/console": NowPage,
  "/console/sign-in": SignInPage,
  "/console/approvals": ApprovalsPage,
  "/console/grants": GrantsPage,
  "/console/sign-in/answer": SignInPage,
  "/console/incidents": IncidentsPage,
  "/console/you": YouPage,
};

const Found = PAGES[location.pathname as keyof typeof PAGES] ?? NowPage;
render(<Found />, document.body);

/** Starts the page. */
import { effect } from "@preact/signals";
import { render } from "preact";
import { watchApprovals } from "./state/approvals.ts";
import { session, signInByAddress } from "./state/connection.ts";
import { followRoute } from "./state/current.ts";
import { followTheme } from "./state/preferences.ts";
import { readAssistants, readThreads, watchThreads } from "./state/threads.ts";
import { watchCosts } from "./state/usage.ts";
import "./style/base.css";
import "./style/frame.css";
import "./style/conversation.css";
import "./style/markdown.css";
import "./style/work.css";
import { App } from "./view/app.tsx";

followTheme();
await signInByAddress();
// A link that is opened where the page is shown already changes only the end of the address.
addEventListener("hashchange", () => void signInByAddress());
followRoute();
watchThreads();
watchCosts();
void watchApprovals();
effect(() => {
  if (session.value !== "in") return;
  void readAssistants().catch(() => undefined);
  void readThreads().catch(() => undefined);
});
const root = document.getElementById("app");
if (root) render(<App />, root);

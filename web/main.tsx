import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ErrorBoundary } from "./shell/error-boundary.js";
import { Shell } from "./shell/shell.js";
import { queries } from "./state/queries.js";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/controls.css";
import "./ui/overlays.css";
import "./shell/shell.css";
import "./ui/states.css";
import "./ui/reading.css";
import "./ui/forced-colors.css";

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <ErrorBoundary>
        <Shell />
      </ErrorBoundary>
    </QueryClientProvider>
  </StrictMode>,
);

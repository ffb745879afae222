import {
  Bot,
  ChevronRight,
  CornerDownRight,
  FolderPlus,
  Footprints,
  Funnel,
  Keyboard,
  ListTree,
  type LucideIcon,
  PanelLeft,
  PanelRight,
  ScrollText,
  Search,
  Settings2,
  Square,
  SquarePen,
  SunMoon,
} from "lucide-react";
import { type Command, useCommandList } from "../../state/commands.js";
import { askToFind } from "../../state/find-asked.js";
import { usePrefs } from "../../state/prefs.js";
import { currentRoute, navigate } from "../../state/router.js";
import { type Tree, useTree } from "../../state/tree.js";
import { folderHere, startThread } from "../agents/actions.js";
import { note } from "../first-visit/progress.js";
import { SECTIONS } from "../settings/sections.js";
import { rank } from "./match.js";
import type { Group, Row } from "./row.js";

/** Of commands that are offered elsewhere. */
const ICONS: Readonly<Record<string, LucideIcon>> = {
  "new-thread": SquarePen,
  "new-thread-with": SquarePen,
  "agents-doc-here": ScrollText,
  "filter-tree": Funnel,
  "new-folder": FolderPlus,
  "group-by-agent": ListTree,
  inspector: PanelRight,
  sidebar: PanelLeft,
  keys: Keyboard,
  find: Search,
  stop: Square,
  agent: Bot,
};

interface Listed extends Command {
  readonly icon?: LucideIcon;
}

/** Commands that are there wherever one is. */
function ownCommands(): readonly Listed[] {
  const { ws } = useTree.getState();
  if (ws === undefined) return [];
  const { theme, singleKeys } = usePrefs.getState();
  const themes = (["light", "dark", "system"] as const).filter((each) => each !== theme);
  return [
    ...SECTIONS.map(({ id, title }) => ({
      id: `settings-${id}`,
      title: `Open settings, ${title.toLowerCase()}`,
      icon: Settings2,
      run: () => navigate({ view: "settings", ws, section: id }),
    })),
    ...themes.map((each) => ({
      id: `theme-${each}`,
      title: each === "system" ? "Use the theme of the system" : `Use the ${each} theme`,
      icon: SunMoon,
      run: () => usePrefs.setState({ theme: each }),
    })),
    {
      id: "first-steps",
      title: "Show the first steps",
      icon: Footprints,
      run: () => note(ws, { along: true }),
    },
    {
      id: "single-keys",
      title: singleKeys ? "Switch single keys off" : "Switch single keys on",
      icon: Settings2,
      run: () => usePrefs.setState({ singleKeys: !singleKeys }),
    },
  ];
}

/** What is offered here and now. Of two with the same id the newest counts, as it does for keys. */
export function commandGroup(list: readonly Command[], words: readonly string[], most: number): Group {
  const byId = new Map<string, Listed>();
  for (const command of [...list, ...ownCommands()]) byId.set(command.id, command);
  const shown = [...byId.values()]
    .filter(({ hidden }) => !hidden)
    .sort((a, b) => Number(a.off !== undefined) - Number(b.off !== undefined));
  const { best } = rank(shown, { words, most, lower: ({ title }) => title.toLowerCase() });
  return { id: "commands", title: "Commands", rows: best.map((command) => commandRow(command, words)) };
}

function commandRow(command: Listed, words: readonly string[]): Row {
  const { id, title, keys, off, icon } = command;
  return {
    id: `command-${id}`,
    title,
    words,
    keys,
    off,
    icon: icon ?? ICONS[id] ?? ChevronRight,
    run: () => runNewest(command),
  };
}

/** A command may have been replaced since it was listed: what it does now counts. */
function runNewest(command: Command): void {
  const now = useCommandList.getState().list.findLast(({ id }) => id === command.id) ?? command;
  if (now.off === undefined) now.run();
}

/** What can be done with the words themselves. */
export function wordRows(tree: Tree, query: string, ask: () => void): Row[] {
  const folder = folderHere();
  const place = folder === undefined ? "" : ` in ${tree.folders.get(folder)?.name ?? "this folder"}`;
  const words = [query.toLowerCase()];
  return [
    {
      id: "new-thread-named",
      title: `New thread${place} named “${query}”`,
      words,
      icon: SquarePen,
      run: () => void startThread({ folder_id: folder, title: query.slice(0, 200) }),
    },
    {
      id: "ask-about",
      title: `Ask another agent about “${query}”`,
      words,
      icon: CornerDownRight,
      keys: "@",
      stays: true,
      run: ask,
    },
    ...findRow(query),
  ];
}

/** Where its context is shown in its place, the thread comes back for it. */
function findRow(query: string): Row[] {
  const route = currentRoute();
  if (route.view !== "thread") return [];
  const { view, ws, thread } = route;
  const find = () => {
    if (!document.querySelector(".main.thread")) navigate({ view, ws, thread });
    askToFind(query);
  };
  return [
    {
      id: "find-in-thread",
      title: `Find “${query}” in this thread`,
      words: [query.toLowerCase()],
      icon: Search,
      keys: "mod+f",
      run: find,
    },
  ];
}

/** The parts of the settings, in the order they stand there. Each has an address. */
export const SECTIONS = [
  { id: "look", title: "Look and keys" },
  { id: "agents", title: "Agents" },
  { id: "trust", title: "Trust" },
  { id: "workspace", title: "Workspace" },
  { id: "tools", title: "Tool servers" },
  { id: "hooks", title: "Hooks" },
  { id: "prompts", title: "Prompt packs" },
  { id: "about", title: "About" },
] as const;

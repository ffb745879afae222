interface Language {
  readonly name: string;
  load(): Promise<{ readonly default: unknown }>;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  bash: { name: "Shell", load: () => import("shiki/langs/bash.mjs") },
  c: { name: "C", load: () => import("shiki/langs/c.mjs") },
  cpp: { name: "C++", load: () => import("shiki/langs/cpp.mjs") },
  csharp: { name: "C#", load: () => import("shiki/langs/csharp.mjs") },
  css: { name: "CSS", load: () => import("shiki/langs/css.mjs") },
  diff: { name: "Diff", load: () => import("shiki/langs/diff.mjs") },
  docker: { name: "Dockerfile", load: () => import("shiki/langs/docker.mjs") },
  go: { name: "Go", load: () => import("shiki/langs/go.mjs") },
  html: { name: "HTML", load: () => import("shiki/langs/html.mjs") },
  java: { name: "Java", load: () => import("shiki/langs/java.mjs") },
  javascript: { name: "JavaScript", load: () => import("shiki/langs/javascript.mjs") },
  json: { name: "JSON", load: () => import("shiki/langs/json.mjs") },
  jsx: { name: "JSX", load: () => import("shiki/langs/jsx.mjs") },
  kotlin: { name: "Kotlin", load: () => import("shiki/langs/kotlin.mjs") },
  lua: { name: "Lua", load: () => import("shiki/langs/lua.mjs") },
  markdown: { name: "Markdown", load: () => import("shiki/langs/markdown.mjs") },
  php: { name: "PHP", load: () => import("shiki/langs/php.mjs") },
  python: { name: "Python", load: () => import("shiki/langs/python.mjs") },
  ruby: { name: "Ruby", load: () => import("shiki/langs/ruby.mjs") },
  rust: { name: "Rust", load: () => import("shiki/langs/rust.mjs") },
  sql: { name: "SQL", load: () => import("shiki/langs/sql.mjs") },
  swift: { name: "Swift", load: () => import("shiki/langs/swift.mjs") },
  toml: { name: "TOML", load: () => import("shiki/langs/toml.mjs") },
  tsx: { name: "TSX", load: () => import("shiki/langs/tsx.mjs") },
  typescript: { name: "TypeScript", load: () => import("shiki/langs/typescript.mjs") },
  xml: { name: "XML", load: () => import("shiki/langs/xml.mjs") },
  yaml: { name: "YAML", load: () => import("shiki/langs/yaml.mjs") },
};

const ALSO: Readonly<Record<string, string>> = {
  "c++": "cpp",
  cc: "cpp",
  cjs: "javascript",
  cs: "csharp",
  cts: "typescript",
  dockerfile: "docker",
  h: "c",
  hpp: "cpp",
  htm: "html",
  js: "javascript",
  jsonc: "json",
  kt: "kotlin",
  md: "markdown",
  mjs: "javascript",
  mts: "typescript",
  patch: "diff",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash",
};

/** A language by one of its names or the ending of its files. */
export function languageOf(name: string): (Language & { readonly id: string }) | undefined {
  const given = name.toLowerCase();
  const id = Object.hasOwn(ALSO, given) ? (ALSO[given] as string) : given;
  return Object.hasOwn(LANGUAGES, id) ? { ...(LANGUAGES[id] as Language), id } : undefined;
}

/** The language of a file by its name. */
export function languageOfFile(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : name;
}

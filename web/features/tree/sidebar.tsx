import "./tree.css";

export function Sidebar() {
  return <nav className="side" aria-label="Threads" />;
}

export default function SettingsView() {
  return <main className="main" />;
}

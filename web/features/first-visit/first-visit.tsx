export default function FirstVisit() {
  return <main className="main" />;
}

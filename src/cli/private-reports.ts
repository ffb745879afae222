import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A report that Node writes when a process dies, where somebody asked for it (`--report-uncaught-exception`), holds the whole
 * environment and command line, and with them every key and the token. Those who ask get the same report without them. One of
 * a fatal error can't be changed before it is written, so there is none.
 */
export function keepReportsPrivate(): void {
  const { report } = process;
  if (!report) return;
  report.reportOnFatalError = false;
  if (report.reportOnUncaughtException) {
    report.reportOnUncaughtException = false;
    process.on("uncaughtExceptionMonitor", write);
  }
  if (report.reportOnSignal) {
    report.reportOnSignal = false;
    process.on(report.signal, () => write());
  }
}

function write(error?: Error): void {
  const { report } = process;
  const { environmentVariables: _, header, ...rest } = (report?.getReport(error) ?? {}) as Report;
  const { commandLine: __, ...about } = header ?? {};
  const name = report?.filename || `report.${Date.now()}.${process.pid}.json`;
  try {
    writeFileSync(join(report?.directory || ".", name), JSON.stringify({ header: about, ...rest }, null, 2));
  } catch {
    // Whoever dies can't tell anybody any more.
  }
}

interface Report {
  readonly environmentVariables?: object;
  readonly header?: { readonly commandLine?: readonly string[] };
}

/** Counts what happens. The Prometheus library is loaded only when someone asks for the figures. */
export class Metrics {
  readonly #calls = new Map<string, { method: string; outcome: string; count: number; ms: number }>();
  notifications = 0;
  dropped = 0;
  connections = 0;
  inFlight = 0;

  called(method: string, outcome: string, ms: number): void {
    const key = `${method} ${outcome}`;
    const entry = this.#calls.get(key);
    if (entry) {
      entry.count++;
      entry.ms += ms;
    } else {
      this.#calls.set(key, { method, outcome, count: 1, ms });
    }
  }

  /** The figures in Prometheus' text format. */
  async render(): Promise<{ type: string; text: string }> {
    const { Counter, Gauge, Registry } = (await import("prom-client")).default;
    const registry = new Registry();
    const registers = [registry];
    const labelNames = ["method", "outcome"] as const;
    const requests = new Counter({
      name: "heddle_requests_total",
      help: "Requests answered",
      labelNames,
      registers,
    });
    const seconds = new Counter({
      name: "heddle_request_seconds_total",
      help: "Time spent on them",
      labelNames,
      registers,
    });
    for (const { method, outcome, count, ms } of this.#calls.values()) {
      requests.inc({ method, outcome }, count);
      seconds.inc({ method, outcome }, ms / 1000);
    }
    const counter = (name: string, help: string, value: number) =>
      new Counter({ name, help, registers }).inc(value);
    const gauge = (name: string, help: string, value: number) =>
      new Gauge({ name, help, registers }).set(value);
    counter("heddle_notifications_total", "Notifications sent to connections", this.notifications);
    counter("heddle_slow_connections_total", "Connections dropped as too slow", this.dropped);
    gauge("heddle_requests_in_flight", "Requests under way now", this.inFlight);
    gauge("heddle_connections", "Connections open now", this.connections);
    gauge("heddle_resident_memory_bytes", "Memory the process holds", process.memoryUsage.rss());
    gauge("heddle_uptime_seconds", "Seconds since the start", process.uptime());
    return { type: registry.contentType, text: await registry.metrics() };
  }
}

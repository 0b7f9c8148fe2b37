/** Counts the server's work for Prometheus. */

/** Upper bounds of the histogram of request times, in seconds. */
const BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30] as const;

type Timed = { readonly labels: string; readonly counts: number[]; sum: number; count: number };

export class Metrics {
  readonly #requests = new Map<string, { readonly labels: string; n: number }>();
  readonly #times = new Map<string, Timed>();
  readonly #counters = new Map<string, number>();

  request(method: string, route: string, status: number, seconds: number): void {
    // This code runs at each request, so the labels of a route are formatted only once.
    const key = `${method} ${route}`;
    const answered = `${status} ${key}`;
    const counted = this.#requests.get(answered);
    if (counted === undefined) this.#requests.set(answered, { labels: labels({ method, route, status: String(status) }), n: 1 });
    else counted.n++;
    let timed = this.#times.get(key);
    if (timed === undefined)
      this.#times.set(key, (timed = { labels: labels({ method, route }), counts: BOUNDS.map(() => 0), sum: 0, count: 0 }));
    const at = BOUNDS.findIndex((bound) => seconds <= bound);
    if (at >= 0) timed.counts[at] = (timed.counts[at] ?? 0) + 1;
    timed.sum += seconds;
    timed.count++;
  }

  /**
   * Adds `by` to the counter with this name and these labels. In the text for Prometheus: `earpiece_queued_total{kind="queued"}`.
   */
  count(name: string, with_: Readonly<Record<string, string>> = {}, by = 1): void {
    count(this.#counters, `${name}${labels(with_)}`, by);
  }

  text(gauges: Readonly<Record<string, number>>): string {
    const lines: string[] = [];
    const family = (name: string, type: string, help: string, rows: readonly string[]): void => {
      if (rows.length > 0) lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...rows);
    };
    family(
      'earpiece_http_requests_total',
      'counter',
      'Requests answered.',
      [...this.#requests.values()].map(({ labels: of, n }) => `earpiece_http_requests_total${of} ${n}`),
    );
    family(
      'earpiece_http_request_seconds',
      'histogram',
      'Time until the response headers were ready.',
      [...this.#times.values()].flatMap(({ labels: of, counts, sum, count: n }) => {
        let below = 0;
        const inner = of.slice(1, -1);
        return [
          ...BOUNDS.map((bound, i) => {
            below += counts[i] ?? 0;
            return `earpiece_http_request_seconds_bucket{${inner},le="${bound}"} ${below}`;
          }),
          `earpiece_http_request_seconds_bucket{${inner},le="+Inf"} ${n}`,
          `earpiece_http_request_seconds_sum${of} ${sum}`,
          `earpiece_http_request_seconds_count${of} ${n}`,
        ];
      }),
    );
    const counters = Map.groupBy(this.#counters, ([key]) => key.split('{')[0] as string);
    for (const [name, entries] of counters)
      family(
        name,
        'counter',
        HELP[name] ?? 'Counted since the start.',
        entries.map(([key, n]) => `${key} ${n}`),
      );
    for (const [name, value] of Object.entries(gauges))
      family(name.split('{')[0] as string, 'gauge', HELP[name] ?? 'The current value.', [`${name} ${value}`]);
    return `${lines.join('\n')}\n`;
  }
}

const HELP: Readonly<Record<string, string>> = {
  earpiece_queued_total: 'Notifications queued over HTTP, by result.',
  earpiece_carried_total:
    'Carriers that delivered notifications, by record type. The count begins at the first request to /metrics or earlier.',
  earpiece_events_total: 'Events emitted over HTTP.',
  earpiece_refused_total: 'Requests refused for their host, origin, URL, token, code, signature or rate, by reason.',
  earpiece_stream_records_total: 'Records sent to streams.',
  earpiece_streams_cut_total:
    'Streams that the server closed because their reader was too slow, or because the database was replaced or unreadable.',
  earpiece_streams: 'Streams that are open.',
  earpiece_store_head: 'The newest position in the store.',
  earpiece_up_seconds: 'Time since the server started.',
};

function count(of: Map<string, number>, key: string, by: number): void {
  of.set(key, (of.get(key) ?? 0) + by);
}

function labels(of: Readonly<Record<string, string>>): string {
  const inner = Object.entries(of).map(
    ([name, value]) => `${name}="${value.replaceAll(/["\\\n]/gu, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`,
  );
  return inner.length === 0 ? '' : `{${inner.join(',')}}`;
}

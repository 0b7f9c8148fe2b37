/** Converts the webhooks of Prometheus' Alertmanager, in version 4 of its payload: one event for each alert. */
import { defined } from '../../core/defined.ts';
import type { EventInput } from '../../core/event.ts';
import { checksum } from '../../core/checksum.ts';
import { isTable, rfc3339 } from './cloud-event.ts';
import { at, severityOf, textAt } from './fields.ts';
import { Refused, WEBHOOK_LIMITS, type Payload } from './receiver.ts';

const LABELS_TOLD = 5;

/**
 * Makes the events `alert.firing` and `alert.resolved`. The newest state of an alert replaces the older state. Alertmanager
 * repeats firing alerts: an alert with the same start time is the same event.
 */
export function alertEvents(payload: Payload): readonly Omit<EventInput, 'source' | 'subject'>[] {
  const { alerts, version } = payload;
  if (version !== '4' && version !== undefined)
    throw new Refused(
      422,
      'bad_event',
      `the payload has version ${JSON.stringify(version).slice(0, 20)} of Alertmanager's format; only version 4 is supported`,
    );
  if (!Array.isArray(alerts))
    throw new Refused(
      422,
      'bad_event',
      'the payload has no list of alerts, so the payload is not from Alertmanager; for another sender, set kind = "json"',
    );
  if (alerts.length > WEBHOOK_LIMITS.events)
    throw new Refused(
      413,
      'too_big',
      `the payload has ${alerts.length} alerts, at most ${WEBHOOK_LIMITS.events} are allowed; lower max_alerts in Alertmanager`,
    );
  const omitted = Number(payload['truncatedAlerts'] ?? 0);
  return (alerts as readonly unknown[]).map((alert, i) => {
    if (!isTable(alert as Payload)) throw new Refused(422, 'bad_event', `alert ${i + 1} of the list must be an object`);
    return alertEvent(alert as Payload, i === 0 && omitted > 0 ? omitted : undefined);
  });
}

function alertEvent(alert: Payload, omitted: number | undefined): Omit<EventInput, 'source' | 'subject'> {
  const resolved = textAt(alert, 'status') === 'resolved';
  const labels = textsOf(at(alert, 'labels'));
  const annotations = textsOf(at(alert, 'annotations'));
  const name = labels['alertname'] ?? 'without a name';
  const fingerprint =
    textAt(alert, 'fingerprint') ?? checksum(JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))));
  const startsAt = textAt(alert, 'startsAt') ?? '';
  const endsAt = textAt(alert, 'endsAt') ?? '';
  const [from, to] = [rfc3339(startsAt), rfc3339(endsAt)];
  const summary = annotations['summary'] ?? annotations['description'] ?? annotations['message'];
  const told = Object.entries(labels)
    .filter(([label]) => label !== 'alertname' && label !== 'severity')
    .slice(0, LABELS_TOLD)
    .map(([label, value]) => `${label}=${value}`);
  const lasted = resolved && from !== undefined && to !== undefined && to > from ? ` after ${words(to - from)}` : '';
  const url = textAt(alert, 'generatorURL', 1_000);
  return {
    type: resolved ? 'alert.resolved' : 'alert.firing',
    id: [fingerprint, resolved ? 'resolved' : 'firing', startsAt, ...(resolved ? [endsAt] : [])].join(' '),
    ...(resolved ? defined({ time: to }) : defined({ time: from })),
    severity: resolved ? 'info' : (severityOf(labels['severity']) ?? 'error'),
    message: `Alert ${name} is ${resolved ? `over${lasted}` : 'firing'}${summary === undefined ? '' : `: ${summary}`}${told.length === 0 ? '' : ` (${told.join(', ')})`}`,
    key: `alert:${fingerprint}`,
    supersede: true,
    data: {
      alertname: name,
      fingerprint,
      ...defined({ summary }),
      labels,
      annotations,
      ...(startsAt === '' ? {} : { starts_at: startsAt }),
      ...(resolved && endsAt !== '' ? { ends_at: endsAt } : {}),
      ...defined({ url, omitted_alerts: omitted }),
    },
  };
}

/** Returns the texts of an object: at most 50, each with at most 500 characters. */
function textsOf(json: unknown): Readonly<Record<string, string>> {
  if (!isTable(json as Payload)) return {};
  const table = json as Payload;
  return Object.fromEntries(
    Object.keys(table)
      .slice(0, 50)
      .flatMap((name) => {
        const value = table[name];
        return typeof value === 'string' ? [[name.slice(0, 100), value.slice(0, 500).toWellFormed()]] : [];
      }),
  );
}

const words = (ms: number): string =>
  ms < 60_000
    ? `${Math.round(ms / 1_000)} s`
    : ms < 5_400_000
      ? `${Math.round(ms / 60_000)} min`
      : `${Math.round(ms / 3_600_000)} h`;

/** Requests the server's verdicts on waiting notifications, again after each change of a fact that decides them. */
import { useEffect, useMemo, useState } from 'react';
import type { Verdict } from '../../../src/wire/client/index.ts';
import { listen } from './live.ts';
import { back } from './loaded.ts';
import { client } from './server.ts';
import { soon } from './soon.ts';

/**
 * The number of newest notifications for which a verdict is requested. The number is small, because each verdict is a request.
 */
const MOST = 10;
const AFTER_MS = 300;
const DECIDES = /^(?:notifications_(?:un)?muted|system_notification_queued|notification_|gate_|conversation_)/u;

export function useVerdicts(log: string, conversation: string, ids: readonly string[]): ReadonlyMap<string, Verdict> {
  const asked = ids.slice(-MOST).join(' ');
  const [verdicts, setVerdicts] = useState<ReadonlyMap<string, Verdict>>(new Map());
  useEffect(() => {
    if (asked === '') return undefined;
    const ending = new AbortController();
    const { signal } = ending;
    const asking = soon(async () => {
      const answers = new Map<string, Verdict | null>();
      const all = asked.split(' ');
      for (const id of all) {
        const story = await client.why(id, log, { signal }).catch(() => undefined);
        if (signal.aborted) return;
        if (story === undefined) continue;
        const of = story.items.find(({ notification: n }) => n.conversation === null || n.conversation === conversation);
        answers.set(id, of?.verdict ?? null);
      }
      setVerdicts((before) => latest(before, answers, all));
    }, AFTER_MS);
    asking.ask();
    const again = back(() => asking.ask());
    const end = listen((records) => {
      if (records.some((record) => record.log === log && DECIDES.test(record.body.type))) asking.ask();
    });
    return () => {
      ending.abort();
      asking.end();
      again();
      end();
    };
  }, [log, conversation, asked]);
  return useMemo(() => (asked === '' ? new Map() : verdicts), [asked, verdicts]);
}

/** Returns the verdict of each id. After a failed request, an id keeps its earlier verdict, so that its card stays unchanged. */
function latest(
  before: ReadonlyMap<string, Verdict>,
  answers: ReadonlyMap<string, Verdict | null>,
  ids: readonly string[],
): ReadonlyMap<string, Verdict> {
  return new Map(
    ids.flatMap((id) => {
      const verdict = answers.get(id) ?? (answers.has(id) ? undefined : before.get(id));
      return verdict === undefined ? [] : [[id, verdict] as const];
    }),
  );
}

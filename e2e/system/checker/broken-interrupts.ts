/** Lists rows for `check.test.ts`: histories in which an interrupt breaks a rule. */
import type { History } from '../history.ts';
import type { Rule } from './check.ts';
import { ANNA, framed, history, killed, N1, Recorded, sent, TO } from './recorded.ts';

export type BrokenRow = readonly [Rule, string, () => History, RegExp];

export const INTERRUPTS: readonly BrokenRow[] = [
  [
    'gate',
    'a call of a session that began behind a critical one to all',
    () =>
      history(
        sent(N1, 'shop/*', 50, { level: 'critical' }),
        [
          new Recorded(0).call('c1').refused('c2', N1, { at: 70 }).pulled({ message: N1 }),
          new Recorded(0, { window: 'tom', agent: 'shop/tester', pid: 20 }).call('c3').refused('c4', N1, { at: 70 }).over(600),
          new Recorded(300, { window: 'tim', agent: 'shop/reader', pid: 21 }).call('c5').over(600),
        ],
        [killed(10, 200)],
      ),
    /c5 of tim/,
  ],
  [
    'gate',
    'a call that passes at once after a critical one, although its host is killed',
    () =>
      history(
        sent(N1, TO, 30, { level: 'critical' }),
        [
          new Recorded(0).call('c1', undefined, { at: 20, ms: 30 }).unanswered('c2', { reached: true, afterMs: 200 }),
          new Recorded(1_500, { pid: 11 }).refused('c3', N1).over(),
        ],
        [killed(10, 100)],
      ),
    /c2 of anna/,
  ],
  [
    'uncalled',
    'a critical notification to all in a session that began after its withdrawal',
    () =>
      history(
        [
          ...sent(N1, 'shop/*', 50, { level: 'critical' }),
          { t: 100, kind: 'withdrawing', nonce: N1 },
          { t: 110, kind: 'withdrawn', nonce: N1, result: 'withdrawn', log: 'shop/*' },
          { t: 110, kind: 'withdrawn', nonce: N1, result: 'gate_lowered', log: TO },
        ],
        [
          new Recorded(0).call('c1').refused('c2', N1, { at: 70 }).over(),
          new Recorded(300, { window: 'tom', agent: 'shop/tester', pid: 20 }).refused('c3', N1).over(),
        ],
      ),
    /was withdrawn before anybody was told, and a later call of tom carried it/,
  ],
  [
    'again',
    'a refusal for a critical one to all that the same conversation has pulled',
    () =>
      history(
        sent(N1, 'shop/*', 50, { level: 'critical' }),
        [
          new Recorded(0, ANNA)
            .call('c1')
            .refused('c2', N1, { at: 70 })
            .pulled({ message: N1 })
            .call('c3', undefined, { at: 1_200 }),
          new Recorded(1_500, { ...ANNA, pid: 11 }).refused('c4', N1).over(),
        ],
        [killed(10, 1_400)],
      ),
    /certainly read \(pull, refusal\)/,
  ],
  [
    'gate',
    'a call a second after a refusal that a killed gateway did not send, for a critical notification that nobody was shown',
    () =>
      history(sent(N1, TO, 50, { level: 'critical' }), [
        new Recorded(0)
          .call('c1')
          .call('c2', undefined, { at: 45, ms: 5 })
          .unanswered('c3', { reached: false })
          .restarted()
          .call('c4', undefined, { at: 1_100 })
          .refused('c5', N1)
          .over(),
      ]),
    /c4 of anna/,
  ],
  [
    'gate',
    'a call right after a refusal that a killed gateway did not send',
    () =>
      history(sent(N1, TO, 50, { level: 'critical' }), [
        new Recorded(0)
          .call('c1')
          .call('c2', framed('1 notification, automatic, no human typed this', `ci critical: wait, ${N1}`), { at: 45, ms: 30 })
          .unanswered('c3', { reached: false })
          .restarted()
          .call('c4', undefined, { at: 300 })
          .over(),
      ]),
    /c4 of anna/,
  ],
];

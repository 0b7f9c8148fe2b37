/** Rows for `check.test.ts`: what came again, for whom, in which order and how soon. */
import type { History } from '../history.ts';
import type { Rule } from './check.ts';
import { framed, history, N1, N2, N3, one, Recorded, sent } from './recorded.ts';

const TO = 'shop/coder';
const ANNA = { conversation: 'anna-s1' } as const;
const BEN = { window: 'ben', pid: 11, conversation: 'ben-s1' } as const;
const killed = (pid: number, t: number) => ({ t, kind: 'killed', what: 'host', pid }) as const;
const withdrawn = (t: number, result: string) =>
  [
    { t, kind: 'withdrawing', nonce: N1 },
    { t: t + 10, kind: 'withdrawn', nonce: N1, result },
  ] as const;
const pair = [...sent(N1, TO, 5, { supersedes: 'k' }), ...sent(N2, TO, 50, { supersedes: 'k' })];
const two = (...items: readonly string[]) => framed('2 notifications, automatic, no human typed this', ...items);
const said = (message: string) => framed('1 notification, automatic, no human typed this', `ci error: ${message}, ${N1}`);

/** Five answers with one notification each, all cancelled at once; the first ones come again. */
function cancelledOften(again: number): History {
  const nonces = [1, 2, 3, 4, 5].map((n) => `nonce-00000000000${n}`);
  const anna = new Recorded(100);
  for (const [at, nonce] of nonces.entries()) anna.call(`a${at}`, one(nonce)).cancelled();
  for (const [at, nonce] of nonces.slice(0, again).entries()) anna.call(`b${at}`, one(nonce, true));
  return history(
    nonces.flatMap((nonce, at) => sent(nonce, TO, at)),
    [anna.over()],
  );
}

export const BROKEN: readonly [Rule, string, () => History, RegExp][] = [
  [
    'again',
    'a flagged repeat on a connection that had it',
    () => history(sent(N1, TO, 5), [new Recorded(10).call('c1', one(N1)).call('c2', one(N1, true)).over()]),
    /came again in anna, 20 ms after it was shown there \(ride, ride\)/,
  ],
  [
    'again',
    'a repeat because of a cancel that came a second after the answer',
    () => history(sent(N1, TO, 5), [new Recorded(10).call('c1', one(N1)).cancelled(1_000).call('c2', one(N1, true)).over()]),
    /came again in anna/,
  ],
  [
    'again',
    'a repeat because of a cancel of a client that cancels every answer',
    () =>
      history(sent(N1, TO, 5), [
        new Recorded(10, { client: 'opencode' }).call('c1', one(N1)).cancelled(50).call('c2', one(N1, true)).over(),
      ]),
    /came again in anna/,
  ],
  [
    'again',
    'a pull of a critical one that a pull has shown',
    () =>
      history(sent(N1, TO, 5, { level: 'critical' }), [
        new Recorded(10).refused('c1', N1).pulled({ message: N1 }).pulled({ message: N1, repeated: true }).over(),
      ]),
    /\(pull, pull\)/,
  ],
  [
    'again',
    'a refusal for a critical one that a pull has shown',
    () =>
      history(sent(N1, TO, 5, { level: 'critical' }), [
        new Recorded(10).refused('c1', N1).pulled({ message: N1 }).refused('c2', N1).over(),
      ]),
    /\(pull, refusal\)/,
  ],
  [
    'reworded',
    'a repeat with another text',
    () =>
      history(sent(N1, TO, 5), [
        new Recorded(10).call('c1', said('a')).restarted().call('c2', said('b').replace(',', ', repeated,')).over(),
      ]),
    /came again in anna as "ci error: b, /,
  ],
  [
    'reworded',
    "an item without its producer's words",
    () => history(sent(N1, TO, 5, { text: `the build is red, ${N1}` }), [new Recorded(10).call('c1', said('a')).over()]),
    /said "the build is red/,
  ],
  [
    'misplaced',
    'a frame that says two and lists one',
    () =>
      history(sent(N1, TO, 5), [
        new Recorded(10).call('c1', framed('2 notifications, automatic, no human typed this', `ci error: a ${N1}`)).over(),
      ]),
    /says 2 notifications and lists 1/,
  ],
  [
    'reworded',
    'two texts for the calls that one interrupt refuses',
    () =>
      history(sent(N1, TO, 5, { level: 'critical' }), [
        new Recorded(10)
          .refused('c1', N1)
          .refused('c2', N1, { as: (line) => line.replace('Calls are', 'Your calls are') })
          .over(),
      ]),
    /anna was refused with/,
  ],
  [
    'reworded',
    'a frame with another mark',
    () =>
      history(
        [...sent(N1, TO, 5), ...sent(N2, TO, 50)],
        [new Recorded(10).call('c1', one(N1)).call('c2', one(N2).replaceAll('k7f3', 'k7f4'), { at: 70 }).over()],
      ),
    /the marks k7f3, k7f4/,
  ],
  [
    'disordered',
    'a warning before an error',
    () =>
      history(
        [...sent(N1, TO, 5), ...sent(N2, TO, 6)],
        [new Recorded(20).call('c1', two(`ci warning: a ${N1}`, `ci error: b ${N2}`)).over()],
      ),
    /ci warning: a .* is too early/,
  ],
  [
    'disordered',
    'a newer one before an older one',
    () =>
      history(
        [...sent(N1, TO, 5), ...sent(N2, TO, 20)],
        [new Recorded(30).call('c1', two(`ci error: b ${N2}`, `ci error: a ${N1}`)).over()],
      ),
    /ci error: b .* is too early/,
  ],
  [
    'fields',
    'structured content without the frame, for a client that shows nothing else',
    () => history(sent(N1, TO, 5), [new Recorded(10).structured('c1', one(N1), false).over()]),
    /has no _notices/,
  ],
  [
    'fields',
    'the frame in structured content for a client that shows blocks',
    () => history(sent(N1, TO, 5), [new Recorded(10, { client: 'qwen-code' }).structured('c1', one(N1), true).over()]),
    /no use for/,
  ],
  [
    'fields',
    'a schema that does not declare the field',
    () => history([], [new Recorded(10).listed({ size: {} }).call('c1').over()]),
    /does not declare _notices/,
  ],
  [
    'lost',
    'a broadcast that only a living sibling got',
    () =>
      history(
        sent(N1, 'shop/*', 50),
        [
          new Recorded(0, ANNA).call('c1').call('c2', one(N1), { at: 80 }).over(500),
          new Recorded(0, BEN).call('c3'),
          new Recorded(300, { ...BEN, pid: 12, conversation: 'ben-s2' }).call('c4').over(480),
        ],
        [killed(11, 200)],
      ),
    /while ben was active/,
  ],
  ['lost', 'five answers that a cancel crossed, of which none comes again', () => cancelledOften(0), /and none came again/],
  [
    'outdated',
    'an older state by a call that began when the newer one was acknowledged',
    () => history(pair, [new Recorded(60).call('c1', one(N2)).call('c2', one(N1)).over()]),
    /a newer state of k/,
  ],
  [
    'gate',
    'a resume that escapes a pause that refused the first call of its session',
    () =>
      history(
        [...sent(N1, TO, 5, { action: 'pause' }), { t: 900, kind: 'resuming', to: TO }],
        [new Recorded(10).refused('c1', N1), new Recorded(200, { pid: 11 }).call('c2').over()],
        [killed(10, 100)],
      ),
    /c2 of anna/,
  ],
  [
    'uncalled',
    'a withdrawn one that may have been seen, in another window',
    () =>
      history(
        [...sent(N1, TO, 5), ...withdrawn(30, 'maybe_seen')],
        [new Recorded(0, ANNA).call('c1').over(), new Recorded(0, BEN).call('c2', one(N1), { at: 60 }).over()],
      ),
    /was withdrawn \(maybe_seen\)/,
  ],
  [
    'uncalled',
    'one that had expired',
    () => history(sent(N1, TO, 5, { ttlMs: 100 }), [new Recorded(0).call('c1').call('c2', one(N1), { at: 200 }).over()]),
    /had expired/,
  ],
  [
    'uncalled',
    "a living sibling's",
    () =>
      history(sent(N1, `${TO}#ben-s1`, 50), [
        new Recorded(0, ANNA).call('c1').call('c2', one(N1), { at: 80 }).over(500),
        new Recorded(0, BEN).call('c3').over(500),
      ]),
    /a conversation that was not over/,
  ],
  [
    'late',
    'a pull without what is open',
    () => history(sent(N1, TO, 50), [new Recorded(0).call('c1').pulledAt(100).call('c2', one(N1)).over()]),
    /is not in a pull of anna 45 ms after/,
  ],
  [
    'late',
    'a broadcast that a window was not given, before its heir has it',
    () =>
      history(sent(N1, 'shop/*', 50), [
        new Recorded(0, ANNA).call('c1').call('c2', one(N1), { at: 80 }).over(500),
        new Recorded(0, BEN).call('c3').pulledAt(100).renamed('ben-s2').call('c4', one(N1)).over(),
      ]),
    /is not in a pull of ben/,
  ],
];

export const SOUND: readonly [string, History][] = [
  [
    'a critical one whose refusal a killed host may not have read',
    history(
      sent(N1, TO, 55, { level: 'critical' }),
      [new Recorded(0).call('c1').unanswered('c2'), new Recorded(200, { pid: 11 }).call('c3').pulledAt(240).over()],
      [killed(10, 65)],
    ),
  ],
  [
    'a pull of a conversation that came back when its heir had taken what it was told',
    history(sent(N1, `${TO}#ben-s1`, 50), [
      new Recorded(0, BEN).call('c1').renamed('ben-s2').renamed('ben-s1').pulledAt(300).over(),
      new Recorded(100, ANNA).call('c2', one(N1), { at: 400 }).over(),
    ]),
  ],
  ['five answers that a cancel crossed, of which some come again', cancelledOften(2)],
  [
    'the urgent first, then the oldest',
    history(
      [...sent(N1, TO, 5), ...sent(N2, TO, 20), ...sent(N3, TO, 40, { level: 'critical' })],
      [
        new Recorded(50)
          .call(
            'c1',
            framed(
              '3 notifications, automatic, no human typed this',
              `ci critical: c ${N3}`,
              `ci error: a ${N1}`,
              `ci error: b ${N2}`,
            ),
          )
          .over(),
      ],
    ),
  ],
  [
    'a repeat behind a cancel that crossed with the answer',
    history(sent(N1, TO, 5), [new Recorded(10).call('c1', one(N1)).cancelled(80).call('c2', one(N1, true)).over()]),
  ],
  [
    'a pause in each refusal and in each pull',
    history(
      [...sent(N1, TO, 5, { action: 'pause' }), { t: 400, kind: 'resuming', to: TO }, { t: 420, kind: 'resumed', to: TO }],
      [
        new Recorded(10)
          .refused('c1', N1)
          .pulled({ message: N1 })
          .refused('c2', N1)
          .pulled({ message: N1, repeated: true })
          .call('c3', undefined, { at: 500 })
          .over(),
      ],
    ),
  ],
  [
    'a call during a pause that a resume of the whole project lifts',
    history(
      [...sent(N1, TO, 50, { action: 'pause' }), { t: 60, kind: 'resuming', to: 'shop/*' }],
      [new Recorded(0).call('c1').call('c2', undefined, { at: 100 }).over()],
    ),
  ],
  [
    'a refusal behind a result that carried the critical one',
    history(sent(N1, TO, 50, { level: 'critical' }), [
      new Recorded(0)
        .call('c1', framed('1 notification, automatic, no human typed this', `storm critical, asks to pause: wait, ${N1}`), {
          at: 40,
          ms: 30,
        })
        .refused('c2', N1)
        .pulled({ message: N1, repeated: true })
        .over(),
    ]),
  ],
  [
    'a frame for a client of structured content',
    history(sent(N1, TO, 5), [new Recorded(10).structured('c1', one(N1), true).over()]),
  ],
  [
    'an older state whose call had begun before the newer one was acknowledged, and that comes again',
    history(pair, [
      new Recorded(20)
        .call('c1', one(N1), { at: 45, ms: 30 })
        .restarted()
        .call(
          'c2',
          framed('2 notifications, 1 repeated, automatic', `ci error: the build has failed, ${N1}`, `ci error: b ${N2}`),
        )
        .over(),
    ]),
  ],
  [
    'what one conversation was told, in the one that began when it was over',
    history(
      sent(N1, `${TO}#ben-s1`, 50),
      [new Recorded(0, BEN).call('c1'), new Recorded(300, ANNA).call('c2', one(N1)).over()],
      [killed(11, 200)],
    ),
  ],
  [
    'what had a time, told before it was over; and one that was never told',
    history(
      [...sent(N1, TO, 5, { ttlMs: 100 }), ...sent(N2, TO, 50, { ttlMs: 100 })],
      [new Recorded(0).call('c1').call('c2', one(N1), { at: 40 }).call('c3', undefined, { at: 300 }).over()],
    ),
  ],
  [
    'a pull while another call of the agent is on its way with it',
    history(sent(N1, TO, 50), [
      new Recorded(0, ANNA).call('c1').pulledAt(100).over(),
      new Recorded(0, BEN).call('c2', one(N1), { at: 90, ms: 60 }).over(),
    ]),
  ],
  [
    'a call behind a critical one whose time is over',
    history(sent(N1, TO, 50, { level: 'critical', ttlMs: 100 }), [
      new Recorded(0).call('c1').call('c2', undefined, { at: 200 }).over(),
    ]),
  ],
];

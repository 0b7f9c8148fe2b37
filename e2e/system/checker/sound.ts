/** Lists rows for `check.test.ts`: histories that look faulty but are correct. */
import type { History } from '../history.ts';
import {
  ANNA,
  BEN,
  cancelledOften,
  framed,
  history,
  killed,
  N1,
  N2,
  N3,
  one,
  pair,
  Recorded,
  sent,
  TO,
  two,
  withdrawn,
} from './recorded.ts';

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
    'a pull of a conversation that came back when its heir had taken its notification',
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
        new Recorded(30)
          .call(
            'c1',
            framed(
              '3 notifications, automatic, no human typed this',
              `ci critical: c ${N3}`,
              `ci error: a ${N1}`,
              `ci error: b ${N2}`,
            ),
            { at: 42 },
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
    'an older state whose call had begun before the newer one was acknowledged',
    history(pair, [new Recorded(20).call('c1', one(N1), { at: 45, ms: 30 }).call('c2', one(N2)).over()]),
  ],
  [
    'a repeat on a new connection, where the receipt of the answer may not have been written',
    history(
      sent(N1, TO, 5),
      [
        new Recorded(10).call('c1', one(N1)).call('c2', undefined, { at: 500 }),
        new Recorded(2_000).call('c3', one(N1, true)).over(),
      ],
      [killed(10, 600)],
    ),
  ],
  [
    'a refusal on a new connection for what an earlier one was refused with',
    history(
      sent(N1, TO, 5, { level: 'critical' }),
      [
        new Recorded(10).refused('c1', N1).refused('c2', N1, { at: 1_100 }).refused('c3', N1, { at: 1_200 }),
        new Recorded(1_400, { pid: 11 }).refused('c4', N1).pulled({ message: N1, repeated: true }).over(),
      ],
      [killed(10, 1_300)],
    ),
  ],
  [
    'a critical one to all, in the session that begins when an earlier one of its window has read it',
    history(
      sent(N1, 'shop/*', 50, { level: 'critical' }),
      [
        new Recorded(0).call('c1').refused('c2', N1, { at: 70 }).pulled({ message: N1 }).call('c3', undefined, { at: 1_200 }),
        new Recorded(1_500, { pid: 11 }).pulledAt(1_510, { message: N1 }).call('c4').over(),
        new Recorded(0, { ...ANNA, window: 'tom', agent: 'shop/tester', pid: 12 })
          .call('c5')
          .refused('c6', N1, { at: 70 })
          .pulled({ message: N1 })
          .renamed('anna-s2')
          .refused('c7', N1)
          .over(),
      ],
      [killed(10, 1_400)],
    ),
  ],
  [
    'a call a second after a refusal that a killed gateway did not send, for a critical notification that a result has carried',
    history(sent(N1, TO, 50, { level: 'critical' }), [
      new Recorded(0)
        .call('c1')
        .call('c2', framed('1 notification, automatic, no human typed this', `ci critical: wait, ${N1}`), { at: 45, ms: 30 })
        .unanswered('c3', { reached: false })
        .restarted()
        .call('c4', undefined, { at: 1_100 })
        .over(),
    ]),
  ],
  [
    'a call that passes 250 ms after a critical one, when its host was killed and read no report of an outage',
    history(
      sent(N1, TO, 30, { level: 'critical' }),
      [
        new Recorded(0).call('c1', undefined, { at: 20, ms: 30 }).unanswered('c2', { reached: true, afterMs: 260 }),
        new Recorded(1_500, { pid: 11 }).refused('c3', N1).over(),
      ],
      [killed(10, 280)],
    ),
  ],
  [
    'a call right after an unanswered one, a second after a refusal with the critical one',
    history(sent(N1, TO, 50, { level: 'critical' }), [
      new Recorded(0)
        .call('c1')
        .call('c2', framed('1 notification, automatic, no human typed this', `storm critical, asks to pause: wait, ${N1}`), {
          at: 45,
          ms: 30,
        })
        .refused('c3', N1)
        .call('c4', undefined, { at: 1_400 })
        .unanswered('c5', { reached: false })
        .restarted()
        .call('c6', undefined, { at: 1_700 })
        .over(),
    ]),
  ],
  [
    "a line to all that the next session of one window takes over from its sibling's",
    history(
      sent(N1, 'shop/*', 50),
      [
        new Recorded(0, ANNA).call('c1').call('c2', one(N1), { at: 80 }).call('c3', undefined, { at: 1_200 }),
        new Recorded(0, BEN).call('c4'),
        new Recorded(1_500, { ...ANNA, pid: 12, conversation: 'anna-s2' }).call('c5', one(N1)).over(),
      ],
      [killed(10, 1_300), killed(11, 1_300)],
    ),
  ],
  [
    'the rest of a line after one of its notifications was withdrawn',
    history(
      [...sent(N1, TO, 5), ...sent(N2, TO, 6), ...sent(N3, TO, 7), ...withdrawn(70, 'maybe_seen')],
      [
        new Recorded(10)
          .call('c1', two(`ci error: a ${N1}; b ${N2}`, `ci error: c ${N3}`))
          .restarted()
          .call('c2', framed('2 notifications, repeated, automatic', `ci error: b ${N2}`, `ci error: c ${N3}`), { at: 100 })
          .restarted()
          .call('c3', framed('2 notifications, repeated, automatic', `ci error: b ${N2}`, `ci error: c ${N3}`))
          .over(),
      ],
    ),
  ],
  [
    'a withdrawal of a notification that a later call did not carry',
    history([...sent(N1, TO, 5), ...withdrawn(30, 'withdrawn')], [new Recorded(50).call('c1').over()]),
  ],
  [
    'a withdrawal from a project that one of its agents had been told',
    history(
      [
        ...sent(N1, 'shop/*', 50),
        { t: 100, kind: 'withdrawing', nonce: N1 },
        { t: 110, kind: 'withdrawn', nonce: N1, result: 'withdrawn', log: 'shop/*' },
        { t: 110, kind: 'withdrawn', nonce: N1, result: 'withdrawn', log: 'shop/tester' },
        { t: 110, kind: 'withdrawn', nonce: N1, result: 'maybe_seen', log: TO },
      ],
      [
        new Recorded(0).call('c1').call('c2', one(N1), { at: 80 }).over(),
        new Recorded(0, { window: 'tom', agent: 'shop/tester', pid: 11 }).call('c3').over(500),
      ],
    ),
  ],
  [
    'a broadcast to a window that its gateway could not record',
    history(sent(N1, 'shop/*', 500), [
      new Recorded(0).outOfReach(5).call('c1', undefined, { at: 20 }).reachable(700).call('c2', undefined, { at: 900 }).over(),
    ]),
  ],
  [
    'a critical notification with which the first session after it may have been refused before its host was killed',
    history(
      sent(N1, TO, 150, { level: 'critical' }),
      [
        new Recorded(0).call('c1'),
        new Recorded(200, { pid: 11 }).unanswered('c2', { reached: false }),
        new Recorded(600, { pid: 12 }).call('c3', undefined, { at: 1_300 }).over(),
      ],
      [killed(10, 100), killed(11, 300)],
    ),
  ],
  [
    'a pull while an offer that its gateway has given up is on its way',
    history(sent(N1, TO, 50), [
      new Recorded(0)
        .call('c1')
        .call('c2', undefined, { at: 100, ms: 300 })
        .outOfReach(390)
        .reachable(405)
        .pulledAt(410)
        .call('c3', one(N1))
        .over(),
    ]),
  ],
  [
    'a pull of a window that began when its agent had been told to cancel',
    history(sent(N1, TO, 50, { action: 'cancel' }), [
      new Recorded(0, BEN).call('c1').refused('c2', N1, { at: 500 }).over(600),
      new Recorded(60, ANNA).pulledAt(300).over(),
    ]),
  ],
  [
    'a call of one window while the other one is refused with a critical one',
    history(sent(N1, TO, 50, { level: 'critical' }), [
      new Recorded(0, ANNA).call('c1').refused('c2', N1, { at: 60 }).pulled({ message: N1 }).over(500),
      new Recorded(0, BEN).call('c3').call('c4', undefined, { at: 65 }).over(500),
    ]),
  ],
  [
    'a notification to one conversation, in the conversation that began after its end',
    history(
      sent(N1, `${TO}#ben-s1`, 50),
      [new Recorded(0, BEN).call('c1'), new Recorded(300, ANNA).call('c2', one(N1)).over()],
      [killed(11, 200)],
    ),
  ],
  [
    'a notification that was shown before its expiry, and one that expired and was never shown',
    history(
      [...sent(N1, TO, 5, { ttlMs: 100 }), ...sent(N2, TO, 50, { ttlMs: 100 })],
      [new Recorded(0).call('c1').call('c2', one(N1), { at: 40 }).call('c3', undefined, { at: 300 }).over()],
    ),
  ],
  [
    'a message that a loop asked for in time, and whose tap is late',
    history(sent(N1, TO, 5, { ttlMs: 100 }), [
      new Recorded(40, { form: 'library', client: 'carry' }).message('7', one(N1), 'carry', 200).over(),
    ]),
  ],
  [
    'a pull while the answer of another call of the agent carries the notification',
    history(sent(N1, TO, 50), [
      new Recorded(0, ANNA).call('c1').pulledAt(100).over(),
      new Recorded(0, BEN).call('c2', one(N1), { at: 90, ms: 60 }).over(),
    ]),
  ],
  [
    'a call after a critical notification that has expired',
    history(sent(N1, TO, 50, { level: 'critical', ttlMs: 100 }), [
      new Recorded(0).call('c1').call('c2', undefined, { at: 200 }).over(),
    ]),
  ],
];
